package cpu

import "math/bits"

// worth is the size of memory, in bytes, that is worth keeping: less costs Go's
// allocator little.
const worth = 32 << 10

// shelf keeps memory that is given out again, by its capacity.
type shelf struct {
	bytes  int64
	mapped int64 // bytes of vast memory, kept and given out
	lists  map[int][]piece
	clock  uint64
}

// piece is memory and when it was put on the shelf.
type piece struct {
	words []uint64
	stamp uint64
}

// capacity returns the capacity, in words, of memory that is kept for n words: the next of 16
// steps from a power of two to the next.
func capacity(n int) int {
	step := 1 << max(0, bits.Len(uint(n-1))-5)
	return (n + step - 1) &^ (step - 1)
}

// put keeps the memory of words.
func (s *shelf) put(words []uint64) {
	if s.lists == nil {
		s.lists = map[int][]piece{}
	}
	n := cap(words)
	s.clock++
	s.bytes += int64(n) * 8
	s.lists[n] = append(s.lists[n], piece{words[:n], s.clock})
}

// take returns n words, those that were put last of the least capacity that wastes
// little, or nil.
func (s *shelf) take(n int) []uint64 {
	for c, tries := capacity(n), 0; tries < 3; c, tries = capacity(c+1), tries+1 {
		if list := s.lists[c]; len(list) > 0 {
			last := len(list) - 1
			words := list[last].words[:n]
			s.drop(c, last)
			return words
		}
	}
	return nil
}

// trim lets go of what was put first until no more than most bytes are kept.
func (s *shelf) trim(most int64) {
	for s.bytes > max(most, 0) {
		oldest := 0
		for c, list := range s.lists {
			if oldest == 0 || list[0].stamp < s.lists[oldest][0].stamp {
				oldest = c
			}
		}
		if oldest*8 >= vast {
			freePages(s.lists[oldest][0].words)
			s.mapped -= int64(oldest) * 8
		}
		s.drop(oldest, 0)
	}
}

// drop takes piece i of those with capacity c off the shelf.
func (s *shelf) drop(c, i int) {
	list := s.lists[c]
	list[i].words = nil
	s.bytes -= int64(c) * 8
	switch {
	case len(list) == 1:
		delete(s.lists, c)
	case i == 0:
		s.lists[c] = list[1:]
	default:
		s.lists[c] = list[:i]
	}
}

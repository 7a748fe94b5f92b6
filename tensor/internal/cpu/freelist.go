package cpu

import "math/bits"

// keepMin is the smallest size in bytes of memory that is kept for reuse. Smaller buffers have no cleanup of
// their own: see bufferGroup. For larger ones Go's allocator would clear memory and collect more often,
// which took a third of the time of a product of 64 x 64 matrices.
const keepMin = 4 << 10

// freeList holds released memory by capacity.
type freeList struct {
	bytes int64
	lists map[int][]freeBlock
	clock uint64
}

// freeBlock is memory and the time at which it was released.
type freeBlock struct {
	words []uint64
	stamp uint64
}

// capacity returns the capacity in words of memory for n words: the next of 16 steps between powers
// of two.
func capacity(n int) int {
	step := 1 << max(0, bits.Len(uint(n-1))-5)
	return (n + step - 1) &^ (step - 1)
}

// put adds the memory of words.
func (f *freeList) put(words []uint64) {
	if f.lists == nil {
		f.lists = map[int][]freeBlock{}
	}
	n := cap(words)
	f.clock++
	f.bytes += int64(n) * 8
	f.lists[n] = append(f.lists[n], freeBlock{words[:n], f.clock})
}

// take returns n words, the last released ones of the smallest capacity that wastes little, or nil.
func (f *freeList) take(n int) []uint64 {
	for c, tries := capacity(n), 0; tries < 3; c, tries = capacity(c+1), tries+1 {
		if list := f.lists[c]; len(list) > 0 {
			last := len(list) - 1
			words := list[last].words[:n]
			f.remove(c, last)
			return words
		}
	}
	return nil
}

// trim drops the oldest memory until at most limit bytes are left.
func (f *freeList) trim(limit int64) {
	for f.bytes > max(limit, 0) {
		oldest := 0
		for c, list := range f.lists {
			if oldest == 0 || list[0].stamp < f.lists[oldest][0].stamp {
				oldest = c
			}
		}
		if oldest*8 >= vast {
			freePages(f.lists[oldest][0].words)
		}
		f.remove(oldest, 0)
	}
}

// remove removes block i of those with capacity c.
func (f *freeList) remove(c, i int) {
	list := f.lists[c]
	list[i].words = nil
	f.bytes -= int64(c) * 8
	switch {
	case len(list) == 1:
		delete(f.lists, c)
	case i == 0:
		f.lists[c] = list[1:]
	default:
		f.lists[c] = list[:i]
	}
}

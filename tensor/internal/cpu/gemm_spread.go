package cpu

import (
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// spread says how to pack an operand whose lines or elements are not evenly spaced, or
// neither way side by side: what a convolution sees of its operand. Stretches that lie
// side by side are loaded at once, whichever way they run longer.
type spread struct {
	rows  bool            // lines are copied 16 at a time, else turned
	offs  []int           // where elements of a line lie, in bytes
	turns [][]asm.Stretch // of each block of k, 16 elements of a line after the other
	depth int
}

func spreadOf(o *operand, depth int) *spread {
	s := &spread{depth: depth, rows: min(16, o.lines.run()) >= min(16, o.inner.run())}
	k := o.inner.len()
	if s.rows {
		s.offs = offsets(make([]int, k), o.inner, 0, o.size)
		return s
	}
	per := 16
	if o.packing.Pairs {
		per = 32
	}
	for k0 := 0; k0 < k; k0 += depth {
		var list []asm.Stretch
		for i := k0; i < min(k, k0+depth); i += per {
			n := min(per, k-i)
			list = stretches(list, o.inner, i, n, o.size)
			list[len(list)-1].Mask |= asm.Last
		}
		s.turns = append(s.turns, list)
	}
	return s
}

// offsets sets list to where elements of l from lo on lie, in bytes.
func offsets(list []int, l layout, lo, size int) []int {
	l.runs(lo, len(list), func(pos, at, stride, count int) {
		for i := range count {
			list[pos+i] = (at + i*stride) * size
		}
	})
	return list
}

// stretches appends n elements of l from lo on, at most 32.
func stretches(list []asm.Stretch, l layout, lo, n, size int) []asm.Stretch {
	l.runs(lo, n, func(pos, at, stride, count int) {
		if stride == 1 {
			list = append(list, asm.Stretch{Off: (at - pos) * size, Mask: (1<<count - 1) << pos})
			return
		}
		for i := range count {
			list = append(list, asm.Stretch{Off: (at + i*stride - pos - i) * size, Mask: 1 << (pos + i)})
		}
	})
	return list
}

// leads is where a panel's lines are, while it is packed.
type leads struct {
	stretches [16]asm.Stretch
	offs      [16]int
}

var leadRooms keep[leads]

// gather is pack.
func (o *operand) gather(dst unsafe.Pointer, width, first, lines, k0, kc int) {
	room, s := leadRooms.take(0), o.spread
	defer leadRooms.give(0, room)
	for l := 0; l < width; l += 16 {
		n, to := min(16, lines-l), unsafe.Add(dst, l*4) // with n < 1 what is there goes unused, but had better be numbers
		if s.rows {
			if n > 0 {
				list := stretches(room.stretches[:0], o.lines, first+l, n, o.size)
				list[len(list)-1].Mask |= asm.Last
			}
			o.packing.Gather(o.base, &room.stretches[0], &s.offs[k0], to, width*4, kc)
			continue
		}
		if n > 0 {
			offsets(room.offs[:n], o.lines, first+l, o.size)
			for i := n; i < 16; i++ {
				room.offs[i] = room.offs[n-1]
			}
		}
		o.packing.Turn(o.base, &s.turns[k0/s.depth][0], &room.offs[0], to, width*4, kc)
	}
}

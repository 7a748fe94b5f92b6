package cpu

import (
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// im2col describes how to pack an operand whose lines or elements are unevenly spaced, or contiguous
// in neither direction, such as the windows of a convolution. Contiguous stretches are loaded at
// once, in the direction in which they are longer.
type im2col struct {
	rows  bool            // copy 16 lines at a time; otherwise transpose
	step  int             // distance between lines of a stretch, 1 or 2
	offs  []int           // offsets of the elements of a line in bytes
	turns [][]asm.Stretch // stretches of each block of k, for every 16 elements of a line
	depth int
}

func im2colOf(o *operand, depth int) *im2col {
	s := &im2col{depth: depth, step: 1}
	if o.lines.every(2) > o.lines.every(1) {
		s.step = 2
	}
	s.rows = min(16, o.lines.every(s.step)) >= min(16, o.inner.every(1))
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
			list = stretches(list, o.inner, 1, i, n, o.size)
			list[len(list)-1].Mask |= asm.Last
		}
		s.turns = append(s.turns, list)
	}
	return s
}

// offsets sets list to the offsets of the elements of l from lo on, in bytes.
func offsets(list []int, l layout, lo, size int) []int {
	l.runs(lo, len(list), func(pos, at, stride, count int) {
		for i := range count {
			list[pos+i] = (at + i*stride) * size
		}
	})
	return list
}

// stretches appends the stretches of n elements of l from lo on, at most 32. Elements of a stretch are
// step apart.
func stretches(list []asm.Stretch, l layout, step, lo, n, size int) []asm.Stretch {
	ones := int64(1<<32 - 1)
	if step == 2 {
		ones /= 3 // every second bit
	}
	l.runs(lo, n, func(pos, at, stride, count int) {
		if stride == step {
			list = append(list, asm.Stretch{Off: (at - pos*step) * size, Mask: (ones & (1<<(count*step) - 1)) << (pos * step)})
			return
		}
		for i := range count {
			list = append(list, asm.Stretch{Off: (at + i*stride - (pos+i)*step) * size, Mask: 1 << ((pos + i) * step)})
		}
	})
	return list
}

// panelLayout holds the offsets of a panel's lines while it is packed.
type panelLayout struct {
	stretches [16]asm.Stretch
	offs      [16]int
}

var panelLayouts objectPool[panelLayout]

// gather is pack for an operand with an im2col.
func (o *operand) gather(dst unsafe.Pointer, width, first, lines, k0, kc int) {
	room, s := panelLayouts.take(0), o.spread
	defer panelLayouts.give(0, room)
	for l := 0; l < width; l += 16 {
		n, to := min(16, lines-l), unsafe.Add(dst, l*4) // for n < 1 the panel is not used, but is filled with numbers
		if s.rows {
			if n > 0 {
				list := stretches(room.stretches[:0], o.lines, s.step, first+l, n, o.size)
				list[len(list)-1].Mask |= asm.Last
			}
			gather := o.packing.Gather
			if s.step == 2 {
				gather = o.packing.GatherEvens
			}
			gather(o.base, &room.stretches[0], &s.offs[k0], to, width*4, kc)
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

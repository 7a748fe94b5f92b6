package ptx

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// buildAtom decodes atom and red.
func buildAtom(in *instr) run {
	t := in.typ(-1)
	in.ignore()
	space := in.space()
	d, rest := -1, in.args
	if in.base == "atom" {
		if len(rest) == 0 {
			in.count(3)
		}
		if rest[0].kind != '_' {
			d = in.target(rest[0], t)
		}
		rest = rest[1:]
	}
	if len(rest) < 2 {
		in.refuse("lacks operands")
	}
	base, offset := in.memory(rest[0], space)
	b := in.source(rest[1], t)
	c := b
	f := in.atomic(t)
	if len(rest) == 3 {
		c = in.source(rest[2], t)
	}
	size := t.bytes()
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			p := w.at(space, w.r[base][lane]+offset, uint64(size), lane, updates)
			if p == nil {
				return
			}
			old := exchange(p, size, func(x uint64) uint64 { return f(x, w.r[b][lane], w.r[c][lane]) })
			if d >= 0 {
				w.r[d][lane] = old
			}
		}
	}
}

// exchange sets memory to f of its value atomically, and returns the old value.
func exchange(p unsafe.Pointer, size int, f func(uint64) uint64) uint64 {
	if size == 8 {
		for {
			old := atomic.LoadUint64((*uint64)(p))
			if atomic.CompareAndSwapUint64((*uint64)(p), old, f(old)) {
				return old
			}
		}
	}
	shift := 0
	if size == 2 { // part of an aligned word
		shift = int(uintptr(p)&2) * 8
		p = unsafe.Add(p, -shift/8)
	}
	for {
		word := atomic.LoadUint32((*uint32)(p))
		old := cut(uint64(word>>shift), 8*size)
		changed := word&^uint32(cut(^uint64(0), 8*size)<<shift) | uint32(cut(f(old), 8*size)<<shift)
		if atomic.CompareAndSwapUint32((*uint32)(p), word, changed) {
			return old
		}
	}
}

// atomic returns the function that computes the new value from the old one and the operands.
func (in *instr) atomic(t typ) fn3 {
	op := in.one("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
	two := func(f fn2) fn3 { return func(old, b, _ uint64) uint64 { return f(old, b) } }
	switch op {
	case "exch":
		return func(_, b, _ uint64) uint64 { return b }
	case "cas":
		if t.bits == 16 {
			in.need(63, 70)
		}
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	case "and":
		return two(func(a, b uint64) uint64 { return a & b })
	case "or":
		return two(func(a, b uint64) uint64 { return a | b })
	case "xor":
		return two(func(a, b uint64) uint64 { return a ^ b })
	case "inc":
		return two(func(a, b uint64) uint64 {
			if a >= b {
				return 0
			}
			return a + 1
		})
	case "dec":
		return two(func(a, b uint64) uint64 {
			if a == 0 || a > b {
				return b
			}
			return a - 1
		})
	case "add":
		if t.float() {
			if t.kind == 'g' {
				in.need(78, 90)
			}
			if t == types["f32"] {
				return two(func(a, b uint64) uint64 { return bits32(f32(a) + f32(b)) })
			}
			return two(lift2(in, t, func(x, y float64) float64 { return x + y }))
		}
		return two(in.ints(t, nil, nil, add[uint32], add[int32], add[uint64], add[int64]))
	case "min":
		if t.integer() {
			return two(in.ints(t, nil, nil, imin[uint32], imin[int32], imin[uint64], imin[int64]))
		}
	case "max":
		if t.integer() {
			return two(in.ints(t, nil, nil, imax[uint32], imax[int32], imax[uint64], imax[int64]))
		}
	}
	in.refuse("operation %q on %s is not supported", op, t.name())
	return nil
}

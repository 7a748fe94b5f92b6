package ptx

import "math/bits"

// Most instructions are functions of the bits of one, two or three registers.
type (
	fn1 func(a uint64) uint64
	fn2 func(a, b uint64) uint64
	fn3 func(a, b, c uint64) uint64
)

func apply1(d, a int, f fn1) run {
	return func(w *warp, m uint32) {
		y, x := &w.r[d], &w.r[a]
		if m == all {
			for i := range y {
				y[i] = f(x[i])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			y[i] = f(x[i])
		}
	}
}

func apply2(d, a, b int, f fn2) run {
	return func(w *warp, m uint32) {
		z, x, y := &w.r[d], &w.r[a], &w.r[b]
		if m == all {
			for i := range z {
				z[i] = f(x[i], y[i])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			z[i] = f(x[i], y[i])
		}
	}
}

func apply3(d, a, b, c int, f fn3) run {
	return func(w *warp, m uint32) {
		z, x, y, u := &w.r[d], &w.r[a], &w.r[b], &w.r[c]
		if m == all {
			for i := range z {
				z[i] = f(x[i], y[i], u[i])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			z[i] = f(x[i], y[i], u[i])
		}
	}
}

// apply1, apply2 and apply3 decode instructions all of whose operands are of type t.
func (in *instr) apply1(t typ, f fn1) run {
	in.count(2)
	return apply1(in.target(in.args[0], t), in.source(in.args[1], t), f)
}

func (in *instr) apply2(t typ, f fn2) run {
	in.count(3)
	return apply2(in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t), f)
}

func (in *instr) apply3(t typ, f fn3) run {
	in.count(4)
	return apply3(in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t), in.source(in.args[3], t), f)
}

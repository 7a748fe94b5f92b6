package ptx

import (
	"math/bits"
	"unsafe"
)

// number is an integer type of registers.
type number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

// u returns x as the content of a register.
func u[T number](x T) uint64 {
	switch unsafe.Sizeof(x) {
	case 1:
		return uint64(uint8(x))
	case 2:
		return uint64(uint16(x))
	case 4:
		return uint64(uint32(x))
	}
	return uint64(x)
}

func add[T number](a, b uint64) uint64 { return u(T(a) + T(b)) }
func sub[T number](a, b uint64) uint64 { return u(T(a) - T(b)) }
func mul[T number](a, b uint64) uint64 { return u(T(a) * T(b)) }
func imin[T number](a, b uint64) uint64 {
	return u(min(T(a), T(b)))
}
func imax[T number](a, b uint64) uint64 {
	return u(max(T(a), T(b)))
}

// div returns all ones for a division by zero, as the hardware does.
func div[T number](a, b uint64) uint64 {
	if T(b) == 0 {
		return u(T(0) - 1)
	}
	return u(T(a) / T(b))
}

func rem[T number](a, b uint64) uint64 {
	if T(b) == 0 {
		return u(T(a))
	}
	return u(T(a) % T(b))
}

func abs[T number](a uint64) uint64 {
	if T(a) < 0 {
		return u(-T(a))
	}
	return u(T(a))
}
func neg[T number](a uint64) uint64 { return u(-T(a)) }

// mulhi returns a function that computes the upper half of a product.
func mulhi(t typ) fn2 {
	n := t.bits
	if n == 64 {
		if t.signed() {
			return func(a, b uint64) uint64 {
				hi, _ := bits.Mul64(a, b)
				if int64(a) < 0 {
					hi -= b
				}
				if int64(b) < 0 {
					hi -= a
				}
				return hi
			}
		}
		return func(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }
	}
	if t.signed() {
		return func(a, b uint64) uint64 { return cut(extend(a, n)*extend(b, n)>>n, n) }
	}
	return func(a, b uint64) uint64 { return a * b >> n }
}

// mulwide returns a function that computes a product of twice the width.
func mulwide(t typ) fn2 {
	n := t.bits
	if t.signed() {
		return func(a, b uint64) uint64 { return cut(extend(a, n)*extend(b, n), 2*n) }
	}
	return func(a, b uint64) uint64 { return cut(a, n) * cut(b, n) }
}

// ints returns the function for the width and sign of an integer type.
func (in *instr) ints(t typ, u16, s16, u32, s32, u64, s64 fn2) fn2 {
	switch t {
	case types["u16"], types["b16"]:
		return u16
	case types["s16"]:
		return s16
	case types["u32"], types["b32"]:
		return u32
	case types["s32"]:
		return s32
	case types["u64"], types["b64"]:
		return u64
	case types["s64"]:
		return s64
	}
	in.refuse("type %s is not supported", t.name())
	return nil
}

func (in *instr) ints1(t typ, s16, s32, s64 fn1) fn1 {
	switch t.width() {
	case 16:
		return s16
	case 32:
		return s32
	case 64:
		return s64
	}
	in.refuse("type %s is not supported", t.name())
	return nil
}

// add32 is by far the most common instruction.
func add32(d, a, b int) run {
	return func(w *warp, m uint32) {
		z, x, y := &w.r[d], &w.r[a], &w.r[b]
		if m == all {
			for i := range z {
				z[i] = uint64(uint32(x[i]) + uint32(y[i]))
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			z[i] = uint64(uint32(x[i]) + uint32(y[i]))
		}
	}
}

func buildAdd(in *instr) run {
	t := in.typ(-1)
	if t.float() {
		return in.floats2(t, in.base)
	}
	carry := in.has("cc")
	if carry || in.base == "addc" || in.base == "subc" {
		return in.carry(t, carry)
	}
	if in.has("sat") {
		if t != types["s32"] {
			in.refuse(".sat exists only for .s32")
		}
		minus := in.base == "sub"
		return in.apply2(t, func(a, b uint64) uint64 {
			x, y := int64(int32(a)), int64(int32(b))
			if minus {
				y = -y
			}
			return u(int32(max(-1<<31, min(1<<31-1, x+y))))
		})
	}
	if in.base == "add" && t.bits == 32 {
		in.count(3)
		return add32(in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t))
	}
	if in.base == "add" {
		return in.apply2(t, in.ints(t, add[uint16], add[int16], add[uint32], add[int32], add[uint64], add[int64]))
	}
	return in.apply2(t, in.ints(t, sub[uint16], sub[int16], sub[uint32], sub[int32], sub[uint64], sub[int64]))
}

// carry decodes add and sub with the carry flag.
func (in *instr) carry(t typ, set bool) run {
	in.count(3)
	d, a, b := in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t)
	use, minus, n := in.base == "addc" || in.base == "subc", in.base == "sub" || in.base == "subc", t.bits
	return func(w *warp, m uint32) {
		for l := m; l != 0; l &= l - 1 {
			i := bits.TrailingZeros32(l) & 31
			var c uint64
			if use {
				c = uint64(w.carry >> i & 1)
			}
			x, y := cut(w.r[a][i], n), cut(w.r[b][i], n)
			var s, out uint64
			if minus {
				s, out = bits.Sub64(x, y, c)
			} else {
				s, out = bits.Add64(x, y, c)
			}
			if n < 64 {
				out = s >> n & 1
			}
			w.r[d][i] = cut(s, n)
			if set {
				w.carry = w.carry&^(1<<i) | uint32(out)<<i
			}
		}
	}
}

func buildMul(in *instr) run {
	t := in.typ(-1)
	if t.float() {
		return in.floats2(t, "mul")
	}
	switch in.one("lo", "hi", "wide") {
	case "lo":
		return in.apply2(t, in.ints(t, mul[uint16], mul[int16], mul[uint32], mul[int32], mul[uint64], mul[int64]))
	case "hi":
		return in.apply2(t, mulhi(t))
	case "wide":
		in.count(3)
		double := typ{t.kind, 2 * t.bits, 1}
		return apply2(in.target(in.args[0], double), in.source(in.args[1], t), in.source(in.args[2], t), mulwide(t))
	}
	in.refuse("needs .lo, .hi or .wide")
	return nil
}

func buildMad(in *instr) run {
	t := in.typ(-1)
	if t.float() {
		return buildFma(in)
	}
	switch in.one("lo", "hi", "wide") {
	case "lo":
		n := t.bits
		return in.apply3(t, func(a, b, c uint64) uint64 { return cut(a*b+c, n) })
	case "hi":
		hi, n := mulhi(t), t.bits
		return in.apply3(t, func(a, b, c uint64) uint64 { return cut(hi(a, b)+c, n) })
	case "wide":
		in.count(4)
		double, wide := typ{t.kind, 2 * t.bits, 1}, mulwide(t)
		return apply3(in.target(in.args[0], double), in.source(in.args[1], t), in.source(in.args[2], t), in.source(in.args[3], double),
			func(a, b, c uint64) uint64 { return cut(wide(a, b)+c, 2*t.bits) })
	}
	in.refuse("needs .lo, .hi or .wide")
	return nil
}

// buildMul24 decodes mul24 and mad24.
func buildMul24(in *instr) run {
	t := in.typ(-1)
	if t.width() != 32 || in.one("lo") == "" {
		in.refuse("only .lo of 32 bits is supported")
	}
	signed := t.signed()
	f := func(a, b, c uint64) uint64 {
		if signed {
			return cut(extend(a, 24)*extend(b, 24)+c, 32)
		}
		return cut(cut(a, 24)*cut(b, 24)+c, 32)
	}
	if in.base == "mul24" {
		return in.apply2(t, func(a, b uint64) uint64 { return f(a, b, 0) })
	}
	return in.apply3(t, f)
}

func buildSad(in *instr) run {
	t := in.typ(-1)
	lo := in.ints(t, imin[uint16], imin[int16], imin[uint32], imin[int32], imin[uint64], imin[int64])
	hi := in.ints(t, imax[uint16], imax[int16], imax[uint32], imax[int32], imax[uint64], imax[int64])
	return in.apply3(t, func(a, b, c uint64) uint64 { return cut(c+hi(a, b)-lo(a, b), t.bits) })
}

func buildDiv(in *instr) run {
	t := in.typ(-1)
	if t.float() {
		return in.floats2(t, "div")
	}
	if in.base == "rem" {
		return in.apply2(t, in.ints(t, rem[uint16], rem[int16], rem[uint32], rem[int32], rem[uint64], rem[int64]))
	}
	return in.apply2(t, in.ints(t, div[uint16], div[int16], div[uint32], div[int32], div[uint64], div[int64]))
}

func buildMinMax(in *instr) run {
	t := in.typ(-1)
	if t.float() {
		return in.floats2(t, in.base)
	}
	if in.base == "min" {
		return in.apply2(t, in.ints(t, imin[uint16], imin[int16], imin[uint32], imin[int32], imin[uint64], imin[int64]))
	}
	return in.apply2(t, in.ints(t, imax[uint16], imax[int16], imax[uint32], imax[int32], imax[uint64], imax[int64]))
}

func buildAbsNeg(in *instr) run {
	t := in.typ(-1)
	if t.float() {
		return in.floats1(t, in.base)
	}
	if in.base == "abs" {
		return in.apply1(t, in.ints1(t, abs[int16], abs[int32], abs[int64]))
	}
	return in.apply1(t, in.ints1(t, neg[int16], neg[int32], neg[int64]))
}

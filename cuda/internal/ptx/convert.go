package ptx

import (
	"math"
	"math/bits"
)

// buildConvert decodes cvt.
func buildConvert(in *instr) run {
	dst, src := in.typ(0), in.typ(1)
	if dst.pack == 2 {
		return in.pack(dst)
	}
	in.count(2)
	mode, ftz, sat := in.one("rna", "rni", "rzi", "rmi", "rpi", "rn", "rz", "rm", "rp"), in.has("ftz"), in.has("sat")
	relu := in.has("relu")
	d, width := in.wideTarget(in.args[0], dst)
	a := in.wide(in.args[1], src)
	if src.kind == 'g' || dst.kind == 'g' {
		in.bfloatExists(dst, src)
	}
	var f fn1
	switch {
	case !src.float() && !dst.float() && dst.kind != 't':
		f = intToInt(dst, src, sat)
	case !src.float():
		if mode == "" {
			in.refuse("needs a rounding modifier")
		}
		f = in.intToFloat(dst, src, mode[1])
	case !dst.float() && dst.kind != 't':
		if len(mode) != 3 || mode == "rna" {
			in.refuse("needs .rni, .rzi, .rmi or .rpi")
		}
		f = floatToInt(dst, src, mode[1])
	default:
		f = in.floatToFloat(dst, src, mode, sat, relu)
	}
	if ftz {
		if src == types["f32"] {
			z, g := flushed(src), f
			f = func(a uint64) uint64 { return g(z(a)) }
		}
		if dst == types["f32"] {
			z, g := flushed(dst), f
			f = func(a uint64) uint64 { return z(g(a)) }
		}
	}
	if dst.signed() && width > dst.bits {
		g := f
		f = func(a uint64) uint64 { return cut(extend(g(a), dst.bits), width) }
	}
	return apply1(d, a, f)
}

func (in *instr) bfloatExists(dst, src typ) {
	switch {
	case dst.kind == 'g' && src == types["f32"]:
		in.need(70, 80)
	case src.kind == 'g' && dst == types["f32"]:
		in.need(71, 80)
	default:
		in.need(78, 90)
	}
}

// decoder returns a function from the bits of a t to its value as a float64, which is exact.
func decoder(t typ) func(uint64) float64 {
	switch t {
	case types["f16"]:
		return func(a uint64) float64 { return fromF16(a & 0xFFFF) }
	case types["bf16"]:
		return func(a uint64) float64 { return fromBF16(a & 0xFFFF) }
	case types["f32"]:
		return func(a uint64) float64 { return float64(f32(a)) }
	}
	return f64
}

// encoder returns a function that rounds a float64 to t and returns its bits.
func encoder(t typ, mode byte) func(float64) uint64 {
	switch {
	case t == types["f16"] && mode == 'n':
		return toF16
	case t == types["f16"]:
		return func(x float64) uint64 { return toF16(half.round(x, mode)) }
	case t == types["bf16"]:
		return func(x float64) uint64 { return toBF16(bfloat.round(x, mode)) }
	case t == types["tf32"]:
		return func(x float64) uint64 { return bits32(float32(tf32.round(x, mode))) }
	case t == types["f32"] && mode == 'n':
		return func(x float64) uint64 { return bits32(float32(x)) }
	case t == types["f32"]:
		return func(x float64) uint64 { return bits32(float32(single.round(x, mode))) }
	}
	return bits64
}

func (in *instr) floatToFloat(dst, src typ, mode string, sat, relu bool) fn1 {
	from := decoder(src)
	if dst == src { // rounds to an integer, or does nothing
		to := encoder(dst, 'n')
		return func(a uint64) uint64 {
			x := from(a)
			if len(mode) == 3 {
				x = integral(x, mode[1])
			}
			if sat {
				x = limit(x)
			}
			return to(x)
		}
	}
	m := byte('n')
	switch {
	case mode == "rna" && dst.kind == 't':
		in.need(70, 80)
		m = 'a'
	case dst.kind == 't':
		in.refuse("needs .rna")
	case mode == "" && (dst.width() < src.width() || dst.width() == src.width()):
		in.refuse("needs a rounding modifier")
	case len(mode) == 3:
		in.refuse("has an integer rounding; want .rn, .rz, .rm or .rp")
	case mode != "":
		m = mode[1]
	}
	to := encoder(dst, m)
	return func(a uint64) uint64 {
		x := from(a)
		if sat {
			x = limit(x)
		}
		if relu && x <= 0 {
			x = 0
		}
		return to(x)
	}
}

// limit computes .sat: it clamps to 0 … 1.
func limit(x float64) float64 {
	if x > 0 {
		return math.Min(x, 1)
	}
	return 0
}

func intToInt(dst, src typ, sat bool) fn1 {
	value := func(a uint64) uint64 { return cut(a, src.bits) }
	if src.signed() {
		value = func(a uint64) uint64 { return extend(a, src.bits) }
	}
	if !sat {
		return func(a uint64) uint64 { return cut(value(a), dst.bits) }
	}
	return func(a uint64) uint64 {
		v := value(a)
		negative := src.signed() && int64(v) < 0
		switch {
		case dst.signed():
			top := uint64(1)<<(dst.bits-1) - 1
			if negative {
				v = uint64(max(int64(v), -int64(top)-1))
			} else {
				v = min(v, top)
			}
		case negative:
			v = 0
		default:
			v = min(v, cut(^uint64(0), dst.bits))
		}
		return cut(v, dst.bits)
	}
}

func (in *instr) intToFloat(dst, src typ, mode byte) fn1 {
	to := encoder(dst, mode)
	if dst == types["f64"] && mode != 'n' && src.bits == 64 {
		in.refuse("only .rn is supported")
	}
	return func(a uint64) uint64 {
		negative := false
		a = cut(a, src.bits)
		if src.signed() {
			if a = extend(a, src.bits); int64(a) < 0 {
				a, negative = -a, true
			}
		}
		if dst == types["f64"] && mode == 'n' {
			x := float64(a)
			if negative {
				x = -x
			}
			return bits64(x)
		}
		// Drop 11 bits, and set the last remaining one if any of them was set: the result is exact in
		// float64, and rounds as the original.
		if n := bits.Len64(a); n > 53 {
			low := a & (1<<(n-53) - 1)
			if a -= low; low != 0 {
				a |= 1 << (n - 53)
			}
		}
		x := float64(a)
		if negative {
			x = -x
		}
		return to(x)
	}
}

// floatToInt clamps. NaN becomes 0, or only the sign bit if either type has 64 bits.
func floatToInt(dst, src typ, mode byte) fn1 {
	from := decoder(src)
	nan := uint64(0)
	if src.bits == 64 || dst.bits == 64 {
		nan = 1 << (dst.bits - 1)
	}
	top := math.Ldexp(1, dst.bits)
	if dst.signed() {
		top /= 2
	}
	return func(a uint64) uint64 {
		x := from(a)
		if x != x {
			return nan
		}
		x = integral(x, mode)
		switch {
		case dst.signed() && x >= top:
			return 1<<(dst.bits-1) - 1
		case dst.signed() && x < -top:
			return 1 << (dst.bits - 1)
		case dst.signed():
			return cut(uint64(int64(x)), dst.bits)
		case x >= top:
			return cut(^uint64(0), dst.bits)
		case x <= 0:
			return 0
		}
		return uint64(x)
	}
}

// pack decodes cvt.rn.f16x2.f32 d, a, b, which puts a into the upper half.
func (in *instr) pack(dst typ) run {
	if in.typ(1) != types["f32"] {
		in.refuse("from %s is not supported", in.typ(1).name())
	}
	in.need(70, 80)
	in.count(3)
	mode, relu := in.one("rn", "rz"), in.has("relu")
	if mode == "" {
		in.refuse("needs .rn or .rz")
	}
	to := encoder(typ{dst.kind, 16, 1}, mode[1])
	one := func(a uint64) uint64 {
		x := float64(f32(a))
		if relu && x <= 0 {
			x = 0
		}
		return to(x)
	}
	t := types["f32"]
	return apply2(in.target(in.args[0], types["b32"]), in.source(in.args[1], t), in.source(in.args[2], t), func(a, b uint64) uint64 {
		return one(a)<<16 | one(b)
	})
}

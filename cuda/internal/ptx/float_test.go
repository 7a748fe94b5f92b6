package ptx

import (
	"math"
	"math/big"
)

// exact returns the exact result for finite operands.
func exact(op string, a, b, c float64) *big.Float {
	x := new(big.Float).SetPrec(4000).SetFloat64(a)
	y := new(big.Float).SetPrec(4000).SetFloat64(b)
	switch op {
	case "add":
		return x.Add(x, y)
	case "sub":
		return x.Sub(x, y)
	case "mul":
		return x.Mul(x, y)
	}
	x.Mul(x, y)
	return x.Add(x, y.SetFloat64(c))
}

// plain returns the result in float64, for non-finite operands and for signs of zero.
func plain(op string, a, b, c float64) float64 {
	switch op {
	case "add":
		return a + b
	case "sub":
		return a - b
	case "mul":
		return a * b
	}
	return math.FMA(a, b, c)
}

func finite(list ...float64) bool {
	for _, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// nearest rounds an exact number to a format by comparing distances.
func nearest(x *big.Float, f format, mode byte) float64 {
	if x.Sign() == 0 {
		return 0
	}
	e := x.MantExp(nil) - 1
	quantum := max(e, f.smallest) - f.precision + 1
	scaled := new(big.Float).SetMantExp(x, -quantum)
	down, _ := scaled.Int(nil) // towards zero
	rest := new(big.Float).SetPrec(4000).Sub(scaled, new(big.Float).SetPrec(4000).SetInt(down))
	half := rest.Abs(rest).Cmp(big.NewFloat(0.5))
	up := false
	switch mode {
	case 'n':
		up = half > 0 || half == 0 && down.Bit(0) == 1
	case 'a':
		up = half >= 0
	case 'm':
		up = rest.Sign() != 0 && x.Sign() < 0
	case 'p':
		up = rest.Sign() != 0 && x.Sign() > 0
	}
	if up {
		down.Add(down, big.NewInt(int64(x.Sign())))
	}
	y, _ := new(big.Float).SetMantExp(new(big.Float).SetPrec(4000).SetInt(down), quantum).Float64()
	largest := (2 - math.Ldexp(1, 1-f.precision)) * math.Ldexp(1, f.larger)
	if math.Abs(y) > largest {
		if mode == 'z' || mode == 'm' && y > 0 || mode == 'p' && y < 0 {
			return math.Copysign(largest, y)
		}
		return math.Inf(x.Sign())
	}
	if y == 0 && x.Sign() < 0 {
		return math.Copysign(0, -1)
	}
	return y
}

// arithmetic returns the expected result of an operation on the bits of a format.
func arithmetic(op string, f format, mode byte, from func(uint64) float64, to func(float64) uint64) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		x, y, z := from(a), from(b), from(c)
		if op != "fma" {
			z = 0
		}
		p := plain(op, x, y, z)
		if !finite(x, y, z) {
			return to(p)
		}
		e := exact(op, x, y, z)
		if e.Sign() == 0 {
			if mode == 'm' && p == 0 && op != "mul" && !bothPositiveZero(op, x, y, z) {
				p = math.Copysign(0, -1)
			}
			return to(p)
		}
		return to(nearest(e, f, mode))
	}
}

// bothPositiveZero reports whether both terms of a sum are +0, so that the sum is +0 too.
func bothPositiveZero(op string, x, y, z float64) bool {
	a, b := x, y
	switch op {
	case "sub":
		b = -y
	case "fma":
		a, b = x*y, z
	}
	return a == 0 && b == 0 && !math.Signbit(a) && !math.Signbit(b)
}

func from32(x uint64) float64 { return float64(math.Float32frombits(uint32(x))) }

func to32(x float64) uint64 {
	if x != x {
		return 0x7FFFFFFF
	}
	return uint64(math.Float32bits(float32(x)))
}

func to64(x float64) uint64 {
	if x != x {
		return 0xFFF8000000000000
	}
	return math.Float64bits(x)
}

var double = format{53, -1022, 1023}

// ftz replaces subnormal operands and results by 0.
func ftz(f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	z := func(x uint64) uint64 {
		if x&0x7F800000 == 0 {
			x &= 0x80000000
		}
		return x
	}
	return func(a, b, c uint64) uint64 { return z(f(z(a), z(b), z(c))) }
}

func saturate(f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		x := from32(f(a, b, c))
		if !(x > 0) {
			x = 0
		}
		return to32(min(x, 1))
	}
}

func on32(f func(x float64) float64) func(a, b, c uint64) uint64 {
	return func(a, _, _ uint64) uint64 { return to32(f(from32(a))) }
}

// least is min.f32. With negated operands, its negated result is max.
func least(x, y float64) float64 {
	switch {
	case x != x:
		return y
	case y != y:
		return x
	case x == y && math.Signbit(x):
		return x
	case x < y:
		return x
	}
	return y
}

var floatTests = []opcodeTest{
	{"add.f32 %o, %a, %b", "444", arithmetic("add", single, 'n', from32, to32)},
	{"add.rz.f32 %o, %a, %b", "444", arithmetic("add", single, 'z', from32, to32)},
	{"add.rp.f32 %o, %a, %b", "444", arithmetic("add", single, 'p', from32, to32)},
	{"sub.rn.f32 %o, %a, %b", "444", arithmetic("sub", single, 'n', from32, to32)},
	{"mul.f32 %o, %a, %b", "444", arithmetic("mul", single, 'n', from32, to32)},
	{"mul.rm.f32 %o, %a, %b", "444", arithmetic("mul", single, 'm', from32, to32)},
	{"mul.ftz.f32 %o, %a, %b", "444", ftz(arithmetic("mul", single, 'n', from32, to32))},
	{"add.sat.f32 %o, %a, %b", "444", saturate(arithmetic("add", single, 'n', from32, to32))},
	{"fma.rn.f32 %o, %a, %b, %c", "4444", arithmetic("fma", single, 'n', from32, to32)},
	{"fma.rz.f32 %o, %a, %b, %c", "4444", arithmetic("fma", single, 'z', from32, to32)},
	{"fma.rn.ftz.f32 %o, %a, %b, %c", "4444", ftz(arithmetic("fma", single, 'n', from32, to32))},
	{"mad.rn.f32 %o, %a, %b, %c", "4444", arithmetic("fma", single, 'n', from32, to32)},
	{"add.f64 %o, %a, %b", "888", arithmetic("add", double, 'n', math.Float64frombits, to64)},
	{"sub.f64 %o, %a, %b", "888", arithmetic("sub", double, 'n', math.Float64frombits, to64)},
	{"mul.f64 %o, %a, %b", "888", arithmetic("mul", double, 'n', math.Float64frombits, to64)},
	{"fma.rn.f64 %o, %a, %b, %c", "8888", arithmetic("fma", double, 'n', math.Float64frombits, to64)},
	{"div.rn.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return to32(from32(a) / from32(b)) }},
	{"div.rn.f64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 { return to64(math.Float64frombits(a) / math.Float64frombits(b)) }},
	{"sqrt.rn.f32 %o, %a", "44", on32(math.Sqrt)},
	{"sqrt.rn.f64 %o, %a", "88", func(a, _, _ uint64) uint64 { return to64(math.Sqrt(math.Float64frombits(a))) }},
	{"rcp.rn.f32 %o, %a", "44", on32(func(x float64) float64 { return 1 / x })},
	{"rcp.rn.f64 %o, %a", "88", func(a, _, _ uint64) uint64 { return to64(1 / math.Float64frombits(a)) }},
	{"min.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return to32(least(from32(a), from32(b))) }},
	{"max.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return to32(-least(-from32(a), -from32(b))) }},
	{"max.NaN.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 {
		if x, y := from32(a), from32(b); x != x || y != y {
			return 0x7FFFFFFF
		}
		return to32(-least(-from32(a), -from32(b)))
	}},
	{"max.f64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 {
		return to64(-least(-math.Float64frombits(a), -math.Float64frombits(b)))
	}},
	{"abs.f32 %o, %a", "44", on32(math.Abs)},
	{"neg.f32 %o, %a", "44", on32(func(x float64) float64 { return -x })},
	{"neg.f64 %o, %a", "88", func(a, _, _ uint64) uint64 { return to64(-math.Float64frombits(a)) }},
	{"abs.ftz.f32 %o, %a", "44", ftz(on32(math.Abs))},
}

// halves applies f to both halves of packed operands.
func halves(f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		return f(a&0xFFFF, b&0xFFFF, c&0xFFFF) | f(a>>16, b>>16, c>>16)<<16
	}
}

// encode returns a function from a value of a 16-bit format to its bits.
func encode(exponent int) func(float64) uint64 {
	fraction := 15 - exponent
	bias := 1<<(exponent-1) - 1
	return func(x float64) uint64 {
		sign := boolBit(math.Signbit(x)) << 15
		switch {
		case x != x:
			return 0x7FFF
		case math.IsInf(x, 0):
			return sign | (1<<exponent-1)<<fraction
		case x == 0:
			return sign
		}
		f, e := math.Frexp(math.Abs(x))
		if e-1 < 1-bias {
			return sign | uint64(math.Ldexp(math.Abs(x), bias-1+fraction))
		}
		return sign | uint64(e-1+bias)<<fraction | uint64(math.Ldexp(f*2-1, fraction))
	}
}

// decodeBits returns the inverse of encode, by the definition of the format.
func decodeBits(exponent int) func(uint64) float64 {
	fraction := 15 - exponent
	bias := 1<<(exponent-1) - 1
	return func(h uint64) float64 {
		e, f := int(h>>fraction)&(1<<exponent-1), float64(h&(1<<fraction-1))
		var x float64
		switch {
		case e == 1<<exponent-1 && f != 0:
			return math.NaN()
		case e == 1<<exponent-1:
			x = math.Inf(1)
		case e == 0:
			x = math.Ldexp(f, 1-bias-fraction)
		default:
			x = math.Ldexp(1+math.Ldexp(f, -fraction), e-bias)
		}
		if h>>15&1 != 0 {
			x = -x
		}
		return x
	}
}

var (
	ofF16, ofBF16       = decodeBits(5), decodeBits(8)
	inF16, inBF16       = encode(5), encode(8)
	roundF16, roundBF16 = rounded(half, inF16), rounded(bfloat, inBF16)
)

// rounded returns a function that rounds any number to nearest even and returns its bits.
func rounded(f format, to func(float64) uint64) func(float64) uint64 {
	return func(x float64) uint64 {
		if finite(x) && x != 0 {
			x = nearest(new(big.Float).SetFloat64(x), f, 'n')
		}
		return to(x)
	}
}

func halfOp(op string) func(a, b, c uint64) uint64 {
	return arithmetic(op, half, 'n', ofF16, inF16)
}

func bfloatOp(op string) func(a, b, c uint64) uint64 {
	return arithmetic(op, bfloat, 'n', ofBF16, inBF16)
}

var halfTests = []opcodeTest{
	{"add.f16 %o, %a, %b", "222", halfOp("add")},
	{"sub.f16 %o, %a, %b", "222", halfOp("sub")},
	{"mul.f16 %o, %a, %b", "222", halfOp("mul")},
	{"fma.rn.f16 %o, %a, %b, %c", "2222", halfOp("fma")},
	{"add.f16x2 %o, %a, %b", "444", halves(halfOp("add"))},
	{"mul.rn.f16x2 %o, %a, %b", "444", halves(halfOp("mul"))},
	{"fma.rn.f16x2 %o, %a, %b, %c", "4444", halves(halfOp("fma"))},
	{"add.bf16 %o, %a, %b", "222", bfloatOp("add")},
	{"mul.bf16x2 %o, %a, %b", "444", halves(bfloatOp("mul"))},
	{"fma.rn.bf16 %o, %a, %b, %c", "2222", bfloatOp("fma")},
	{"fma.rn.bf16x2 %o, %a, %b, %c", "4444", halves(bfloatOp("fma"))},
	{"fma.rn.relu.f16 %o, %a, %b, %c", "2222", func(a, b, c uint64) uint64 {
		if x := halfOp("fma")(a, b, c); x>>15 == 0 || ofF16(x) != ofF16(x) {
			return x
		}
		return 0
	}},
	{"max.f16 %o, %a, %b", "222", func(a, b, _ uint64) uint64 { return inF16(-least(-ofF16(a), -ofF16(b))) }},
	{"min.bf16x2 %o, %a, %b", "444", halves(func(a, b, _ uint64) uint64 { return inBF16(least(ofBF16(a), ofBF16(b))) })},
	{"neg.f16x2 %o, %a", "44", halves(func(a, _, _ uint64) uint64 { return inF16(-ofF16(a)) })},
	{"abs.bf16 %o, %a", "22", func(a, _, _ uint64) uint64 { return inBF16(math.Abs(ofBF16(a))) }},
	{"ex2.approx.f16 %o, %a", "22", func(a, _, _ uint64) uint64 { return roundF16(math.Exp2(ofF16(a))) }},
	{"tanh.approx.bf16x2 %o, %a", "44", halves(func(a, _, _ uint64) uint64 { return roundBF16(math.Tanh(ofBF16(a))) })},
}

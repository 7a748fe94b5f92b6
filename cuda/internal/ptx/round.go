package ptx

import "math"

// format is a binary floating-point format whose numbers are exact in float64.
type format struct {
	precision        int // significant bits, including the leading one
	smallest, larger int // exponents of the smallest normal number and the largest number
}

var (
	half     = format{11, -14, 15}
	bfloat   = format{8, -126, 127}
	single   = format{24, -126, 127}
	tf32     = format{11, -126, 127}
	coarse23 = format{23, -126, 127}
	coarse11 = format{11, -126, 127}
)

// round rounds x to a format. mode is the last letter of the modifier in the manual: n to nearest
// even, a to nearest with ties away from 0, z towards 0, m down, p up.
func (f format) round(x float64, mode byte) float64 {
	if x == 0 || x != x || math.IsInf(x, 0) {
		return x
	}
	_, e := math.Frexp(x)
	quantum := max(e-1, f.smallest) - f.precision + 1
	y := math.Ldexp(integral(math.Ldexp(x, -quantum), mode), quantum)
	largest := math.Ldexp(2-math.Ldexp(1, 1-f.precision), f.larger)
	if math.Abs(y) > largest {
		if mode == 'z' || mode == 'm' && x > 0 || mode == 'p' && x < 0 {
			return math.Copysign(largest, x)
		}
		return math.Copysign(math.Inf(1), x)
	}
	return y
}

// integral rounds to an integer.
func integral(x float64, mode byte) float64 {
	switch mode {
	case 'z':
		return math.Trunc(x)
	case 'm':
		return math.Floor(x)
	case 'p':
		return math.Ceil(x)
	case 'a':
		return math.Round(x)
	}
	return math.RoundToEven(x)
}

// odd returns a+b rounded to odd: truncated, with the last bit set if the result is inexact.
// Rounding it again to fewer bits equals rounding the exact sum (Boldo and Melquiond, 2008). The
// error is computed by Knuth's TwoSum.
func odd(a, b float64) float64 {
	s := a + b
	t := s - a
	e := (a - (s - t)) + (b - t)
	if e == 0 || e != e || math.IsInf(s, 0) {
		return s
	}
	n := math.Float64bits(s)
	if n&1 == 0 {
		if (e > 0) == (s > 0) {
			n++
		} else {
			n--
		}
	}
	return math.Float64frombits(n)
}

// fma32 returns a*b + c of float32, rounded once.
func fma32(a, b, c uint64) uint64 {
	p, z := float64(f32(a))*float64(f32(b)), float64(f32(c))
	s := p + z
	// Rounding twice is wrong only if the first result is halfway between two float32.
	if math.Float64bits(s)&0x1FFFFFFF == 0x10000000 || math.Abs(s) < 0x1p-126 {
		s = odd(p, z)
	}
	return bits32(float32(s))
}

// fromF16 returns the value of a float16.
func fromF16(h uint64) float64 {
	e, f := h>>10&31, h&0x3FF
	var x uint64
	switch {
	case e == 31 && f != 0:
		return math.NaN()
	case e == 31:
		x = 0x7FF << 52
	case e == 0:
		x = math.Float64bits(float64(f) * 0x1p-24)
	default:
		x = (e+1008)<<52 | f<<42
	}
	return math.Float64frombits(x | h>>15<<63)
}

// toF16 returns the bits of a float64 rounded to nearest even.
func toF16(x float64) uint64 {
	b := math.Float64bits(x)
	sign := b >> 63 << 15
	switch a := math.Abs(x); {
	case a != a:
		return nan16
	case a >= 65520:
		return sign | 0x7C00
	case a < 0x1p-14:
		return sign | uint64(math.RoundToEven(a*0x1p24))
	}
	r := b<<1>>1 - 1008<<52
	r += 1<<41 - 1 + r>>42&1
	return sign | r>>42
}

func fromBF16(h uint64) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

// toBF16 returns the bits of a float64 rounded to nearest even.
func toBF16(x float64) uint64 {
	if x != x {
		return nan16
	}
	return uint64(math.Float32bits(float32(bfloat.round(x, 'n'))) >> 16)
}

package half

import "math"

// The two formats of 8 bits of P. Micikevicius et al., "FP8 formats for deep
// learning", arXiv 2209.05433 (2022). E4M3 (4 bits of exponent, 3 of fraction) has
// no infinity, one NaN for each sign, and a maximum of 448; E5M2 is float16's upper half. As
// in torch's float8_e4m3fn and float8_e5m2 (release 2.15), conversions round to nearest
// even. Numbers that are too large, including infinity, become 448 in E4M3 and infinity
// in E5M2.

// ToFloat8E4M3 sets dst[i] to the E4M3 nearest to src[i]. dst must not be shorter
// than src.
func ToFloat8E4M3(dst []uint8, src []float32) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = toFloat8(x, 3, 7, 480, 0x7e, 0x7f)
	}
}

// ToFloat8E5M2 sets dst[i] to the E5M2 nearest to src[i]. dst must not be shorter
// than src.
func ToFloat8E5M2(dst []uint8, src []float32) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = toFloat8(x, 2, 15, 65536, 0x7c, 0x7f)
	}
}

// FromFloat8E4M3 sets dst[i] to the value of src[i]. dst must not be shorter than
// src.
func FromFloat8E4M3(dst []float32, src []uint8) { look(dst, src, &fromE4M3) }

// FromFloat8E5M2 sets dst[i] to the value of src[i]. dst must not be shorter than
// src.
func FromFloat8E5M2(dst []float32, src []uint8) { look(dst, src, &fromE5M2) }

func look(dst []float32, src []uint8, table *[256]float32) {
	dst = dst[:len(src)]
	for i, b := range src {
		dst[i] = table[b]
	}
}

// toFloat8 rounds x to a format with the given number of fraction bits and exponent
// bias. Numbers that round to end or beyond become the pattern past.
func toFloat8(x float32, fraction, bias int, end float64, past, nan uint8) uint8 {
	b := math.Float32bits(x)
	sign := uint8(b >> 24 & 0x80)
	a := math.Abs(float64(x))
	if a != a {
		return sign | nan
	}
	// The unit in the last place, no smaller than that of subnormals.
	_, e := math.Frexp(a)
	unit := max(e-1, 1-bias) - fraction
	n := math.RoundToEven(math.Ldexp(a, -unit))
	if math.Ldexp(n, unit) >= end {
		return sign | past
	}
	if n == 0 {
		return sign
	}
	// n has fraction+1 bits, or fewer if the exponent field is 0; a carry runs
	// into the exponent.
	return sign | uint8((unit+fraction+bias-1)<<fraction+int(n))
}

var fromE4M3, fromE5M2 = table8(3, 7), table8(2, 15)

// table8 returns the values of all patterns.
func table8(fraction, bias int) (t [256]float32) {
	for i := range t {
		e, f := i&0x7f>>fraction, i&(1<<fraction-1)
		x := math.Ldexp(float64(f), 1-bias-fraction)
		if e > 0 {
			x = math.Ldexp(float64(1<<fraction+f), e-bias-fraction)
		}
		switch {
		case fraction == 3 && i&0x7f == 0x7f, fraction == 2 && i&0x7f > 0x7c:
			x = math.NaN()
		case fraction == 2 && i&0x7f == 0x7c:
			x = math.Inf(1)
		}
		if i&0x80 != 0 {
			x = -x
		}
		t[i] = float32(x)
	}
	return t
}

package quant

import (
	"fmt"
	"math"
)

// Overflow is the result of numbers that round beyond a format's largest, infinities among them. Formats without infinity and NaN
// always saturate.
type Overflow uint8

const (
	// Saturate gives the largest finite number of the same sign.
	Saturate Overflow = iota
	// Special gives infinity, or NaN in a format without infinity. It is ml_dtypes' rule.
	Special
)

// String returns the name of the rule.
func (o Overflow) String() string { return [...]string{"saturate", "special"}[o] }

// Encode returns the code of x, rounded once. torch's conversion to float8_e4m3fn saturates, and those to its other formats do not.
// Stochastic rounding draws as for the first element of a tensor. It panics if x is NaN and f has no code for that.
func (f Format) Encode(x float64, r Rounding, o Overflow) uint8 {
	s := f.spec()
	if x != x && s.nan == none {
		panic(fmt.Sprintf("quant: %v has no code for NaN; check the number before, or use a format with NaN, such as %v", f, E4M3FN))
	}
	return uint8(s.encode(x, r, o, 0))
}

// Round returns the number of f that x becomes: Decode of Encode.
func (f Format) Round(x float64, r Rounding, o Overflow) float64 { return f.Decode(f.Encode(x, r, o)) }

// encode returns the code of x, the element at position i. NaN becomes 0 in a format without NaN.
func (s *spec) encode(x float64, r Rounding, o Overflow, i int) uint16 {
	if s.kind == unsigned {
		return s.encodePower(x, r, o, i)
	}
	negative := math.Signbit(x)
	switch {
	case x == x:
	case s.nan == none:
		return 0
	default:
		return s.signed(s.nan, negative)
	}
	a := math.Abs(x)
	top, code := s.top, math.MaxInt
	if negative && s.kind == twos {
		top++
	}
	switch {
	case a == 0:
		code = 0
	case !math.IsInf(x, 0):
		// The unit in the last place, no smaller than that of subnormals.
		_, e := math.Frexp(a)
		unit := max(e, 2-s.bias) - 1 - s.mantissa
		n := math.Ldexp(a, -unit)
		whole := math.Floor(n)
		// whole has mantissa+1 bits, or fewer if the exponent field is 0; a carry runs into the exponent.
		code = (unit+s.mantissa+s.bias-1)<<s.mantissa + int(whole)
		if s.exponent == 0 {
			code = int(math.Min(math.Ldexp(whole, unit-(1-s.bias-s.mantissa)), 1<<20))
		}
		if r.up(code&1 == 1, n-whole, i, x) {
			code++
		}
	}
	switch {
	case code <= top:
	case r == TowardZero && !math.IsInf(x, 0), o == Saturate, s.inf == none && s.nan == none:
		code = top
	case s.inf != none:
		code = s.inf
	default:
		code = s.nan
	}
	return s.signed(code, negative)
}

// signed returns a code with a sign.
func (s *spec) signed(code int, negative bool) uint16 {
	sign := 1 << (s.bits() - 1)
	switch {
	case !negative || code == s.nan && s.kind == fnuz || code == 0 && s.kind != signed:
		return uint16(code)
	case s.kind == twos || s.kind == symmetric:
		return uint16(2*sign - code)
	}
	return uint16(code | sign)
}

// encodePower is encode for powers of two. As in torch, 0 becomes the smallest, 1.5 times a power of two rounds up, and what lies between
// the two smallest powers rounds up too. Negative numbers become NaN, since there is no sign.
func (s *spec) encodePower(x float64, r Rounding, o Overflow, i int) uint16 {
	if x != x || x < 0 {
		return uint16(s.nan)
	}
	if x <= s.value(0) {
		return 0
	}
	code := s.nan
	if !math.IsInf(x, 1) {
		f, e := math.Frexp(x)
		code = e - 1 + s.bias
		fraction := 2*f - 1
		if code == 0 && r == Nearest {
			code++
		} else if r.up(true, fraction, i, x) {
			code++
		}
	}
	if code > s.top {
		code = s.nan
		if o == Saturate || r == TowardZero && !math.IsInf(x, 1) {
			code = s.top
		}
	}
	return uint16(code)
}

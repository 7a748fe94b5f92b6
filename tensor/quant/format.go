package quant

import (
	"fmt"
	"math"
)

// Format is a number format of at most 8 bits.
type Format uint8

// The formats, with ml_dtypes' names. FN means finite with NaN, UZ unsigned zero.
const (
	E2M1        Format = iota + 1 // float4_e2m1fn: up to 6
	E2M3                          // float6_e2m3fn: up to 7.5
	E3M2                          // float6_e3m2fn: up to 28
	E3M4                          // float8_e3m4: up to 15.5, with infinity
	E4M3                          // float8_e4m3: up to 240, with infinity
	E4M3B11FNUZ                   // float8_e4m3b11fnuz: up to 30
	E4M3FN                        // float8_e4m3fn: up to 448
	E4M3FNUZ                      // float8_e4m3fnuz: up to 240
	E5M2                          // float8_e5m2: up to 57344, with infinity
	E5M2FNUZ                      // float8_e5m2fnuz: up to 57344
	E8M0                          // float8_e8m0fnu: powers of two from 2^-127 to 2^127, a scale
	Int4                          // int4: -8 to 7
	Int8                          // int8: -128 to 127
	MXInt8                        // int8 of MX: multiples of 2^-6 from -127/64 to 127/64
)

// kind is what a format does with the sign.
type kind uint8

const (
	signed    kind = iota // the highest bit is the sign, of zero too
	fnuz                  // the same, but the code of -0 is NaN
	twos                  // two's complement
	symmetric             // two's complement without the lowest number
	unsigned              // no sign, no zero: code c is 2^(c-bias)
)

const none = -1

// spec describes a format. Codes stand without the sign.
type spec struct {
	name                     string
	exponent, mantissa, bias int // an integer has no exponent: it is the mantissa of a subnormal number
	top                      int // the largest finite number
	inf, nan                 int
	kind                     kind
}

// specs are the formats in alphabetical order of their constants. The widths, biases and special codes are those of the OCP Microscaling
// Formats (MX) Specification 1.0, of P. Micikevicius and others, arXiv 2209.05433, of B. Noune and others, arXiv 2206.02915, and of ml_dtypes;
// where these leave the code of NaN open, it is torch's, otherwise ml_dtypes'.
var specs = [...]spec{
	E2M1:        {"float4_e2m1fn", 2, 1, 1, 0x07, none, none, signed},
	E2M3:        {"float6_e2m3fn", 2, 3, 1, 0x1f, none, none, signed},
	E3M2:        {"float6_e3m2fn", 3, 2, 3, 0x1f, none, none, signed},
	E3M4:        {"float8_e3m4", 3, 4, 3, 0x6f, 0x70, 0x78, signed},
	E4M3:        {"float8_e4m3", 4, 3, 7, 0x77, 0x78, 0x7c, signed},
	E4M3B11FNUZ: {"float8_e4m3b11fnuz", 4, 3, 11, 0x7f, none, 0x80, fnuz},
	E4M3FN:      {"float8_e4m3fn", 4, 3, 7, 0x7e, none, 0x7f, signed},
	E4M3FNUZ:    {"float8_e4m3fnuz", 4, 3, 8, 0x7f, none, 0x80, fnuz},
	E5M2:        {"float8_e5m2", 5, 2, 15, 0x7b, 0x7c, 0x7f, signed},
	E5M2FNUZ:    {"float8_e5m2fnuz", 5, 2, 16, 0x7f, none, 0x80, fnuz},
	E8M0:        {"float8_e8m0fnu", 8, 0, 127, 0xfe, none, 0xff, unsigned},
	Int4:        {"int4", 0, 3, -2, 0x07, none, none, twos},
	Int8:        {"int8", 0, 7, -6, 0x7f, none, none, twos},
	MXInt8:      {"mxint8", 0, 7, 0, 0x7f, none, none, symmetric},
}

// Formats returns all formats.
func Formats() []Format {
	list := make([]Format, 0, len(specs)-1)
	for f := E2M1; int(f) < len(specs); f++ {
		list = append(list, f)
	}
	return list
}

// spec returns the description of f.
func (f Format) spec() *spec {
	if f == 0 || int(f) >= len(specs) {
		panic(fmt.Sprintf("quant: format %d is unknown; want one of quant.Formats(), such as quant.E4M3FN", uint8(f)))
	}
	return &specs[f]
}

// String returns ml_dtypes' name: "float8_e4m3fn".
func (f Format) String() string {
	if f == 0 || int(f) >= len(specs) {
		return "invalid"
	}
	return specs[f].name
}

// Bits returns the number of bits of a code: 4, 6 or 8.
func (f Format) Bits() int {
	s := f.spec()
	if s.kind == unsigned {
		return s.exponent
	}
	return 1 + s.exponent + s.mantissa
}

// Max returns the largest finite number. It is torch.finfo(…).max.
func (f Format) Max() float64 { s := f.spec(); return s.value(s.top) }

// Tiny returns the smallest positive normal number, or the smallest positive number of an integer format. It is
// torch.finfo(…).smallest_normal.
func (f Format) Tiny() float64 {
	s := f.spec()
	if s.exponent == 0 || s.kind == unsigned {
		return f.Subnormal()
	}
	return s.value(1 << s.mantissa)
}

// Subnormal returns the smallest positive number.
func (f Format) Subnormal() float64 {
	s := f.spec()
	if s.kind == unsigned {
		return s.value(0)
	}
	return s.value(1)
}

// HasNaN reports whether f has a code for NaN.
func (f Format) HasNaN() bool { return f.spec().nan != none }

// HasInf reports whether f has codes for the infinities.
func (f Format) HasInf() bool { return f.spec().inf != none }

// Decode returns the number of a code, whose bits above f's are ignored.
func (f Format) Decode(code uint8) float64 { return float64(decoding[f.spec().index()][code]) }

// Values returns the numbers of all codes, in the order of the codes.
func (f Format) Values() []float64 {
	list := make([]float64, 1<<f.Bits())
	for c := range list {
		list[c] = f.Decode(uint8(c))
	}
	return list
}

// index returns the position of s in specs.
func (s *spec) index() Format {
	for f := range specs {
		if s == &specs[f] {
			return Format(f)
		}
	}
	return 0
}

// value returns the number of a code without its sign.
func (s *spec) value(code int) float64 {
	e, f := code>>s.mantissa, code&(1<<s.mantissa-1)
	if e == 0 && s.kind != unsigned {
		return math.Ldexp(float64(f), 1-s.bias-s.mantissa)
	}
	return math.Ldexp(float64(1<<s.mantissa+f), e-s.bias-s.mantissa)
}

// bits returns the number of bits of a code.
func (s *spec) bits() int {
	if s.kind == unsigned {
		return s.exponent
	}
	return 1 + s.exponent + s.mantissa
}

// decode returns the number of a code.
func (s *spec) decode(code int) float64 {
	code &= 1<<s.bits() - 1
	sign := 1 << (s.bits() - 1)
	switch {
	case s.kind == unsigned && code == s.nan, s.kind == fnuz && code == s.nan:
		return math.NaN()
	case s.kind == unsigned:
		return s.value(code)
	case s.kind == twos || s.kind == symmetric:
		if code >= sign {
			code -= 2 * sign
		}
		return math.Ldexp(float64(code), 1-s.bias-s.mantissa)
	}
	x := math.NaN()
	switch c := code &^ sign; {
	case c <= s.top:
		x = s.value(c)
	case c == s.inf:
		x = math.Inf(1)
	}
	if code&sign != 0 {
		x = -x
	}
	return x
}

// decoding holds the numbers of all codes, which are float32 numbers.
var decoding = func() (t [len(specs)][256]float32) {
	for f := range specs[1:] {
		for c := range t[f+1] {
			t[f+1][c] = float32(specs[f+1].decode(c))
		}
	}
	return t
}()

package quant

import (
	"fmt"
	"math"
)

// ScaleMode is how MX chooses the power of two that scales a block. Its values have torchao's names.
type ScaleMode uint8

const (
	// Floor is the rule of the OCP specification: the largest power of two of the block, divided by the largest of the format. Numbers
	// above the format's largest saturate.
	Floor ScaleMode = iota
	// Ceil is Floor of the next power of two. Nothing saturates.
	Ceil
	// Even is Floor of the largest magnitude rounded to the precision of the format, ties upward.
	Even
	// RCeil is the smallest power of two with which nothing saturates: cvt.rp.ue8m0 of NVIDIA's PTX.
	RCeil
)

// String returns torchao's name.
func (m ScaleMode) String() string { return [...]string{"floor", "ceil", "even", "rceil"}[m] }

// MX stores blocks of 32 numbers of the last dimension, each block with a scale of format E8M0: the OCP Microscaling Formats (MX)
// Specification 1.0. [MXFP8], [MXFP6], [MXFP4] and [MXINT8] name its formats. It is torchao.prototype.mx_formats.mx_tensor.to_mx.
type MX struct {
	Element  Format    // E4M3FN, E5M2, E2M3, E3M2, E2M1 or MXInt8
	Mode     ScaleMode // Floor by default
	Rounding Rounding  // of elements, Nearest by default
}

// The formats of the OCP specification. MXFP8 and MXFP6 have a second element format: MX{Element: E5M2} and MX{Element: E3M2}.
var (
	MXFP8  = MX{Element: E4M3FN}
	MXFP6  = MX{Element: E2M3}
	MXFP4  = MX{Element: E2M1}
	MXINT8 = MX{Element: MXInt8}
)

// mxBlock is the number of elements of a block.
const mxBlock = 32

// String returns the format and the rule for scales: "mxfp8_e4m3 (floor)".
func (m MX) String() string {
	name := "mx"
	switch m.Element {
	case E4M3FN:
		name = "mxfp8_e4m3"
	case E5M2:
		name = "mxfp8_e5m2"
	case E2M3:
		name = "mxfp6_e2m3"
	case E3M2:
		name = "mxfp6_e3m2"
	case E2M1:
		name = "mxfp4_e2m1"
	case MXInt8:
		name = "mxint8"
	}
	return fmt.Sprintf("%s (%v%s)", name, m.Mode, roundingSuffix(m.Rounding))
}

// roundingSuffix returns a rounding other than nearest, after a comma.
func roundingSuffix(r Rounding) string {
	if r == Nearest {
		return ""
	}
	return ", " + r.String()
}

func (m MX) plan() (plan, error) {
	switch m.Element {
	case E4M3FN, E5M2, E2M3, E3M2, E2M1, MXInt8:
	default:
		return plan{}, fmt.Errorf("MX with elements of %v; want E4M3FN, E5M2, E2M3, E3M2, E2M1 or MXInt8", m.Element)
	}
	if m.Mode > RCeil {
		return plan{}, fmt.Errorf("MX with scale mode %d; want Floor, Ceil, Even or RCeil", m.Mode)
	}
	s := m.Element.spec()
	most := s.value(s.top)
	_, e := math.Frexp(most)
	bits := s.mantissa
	if s.exponent == 0 {
		bits-- // one of them is the leading one
	}
	return plan{
		element: m.Element, rounding: m.Rounding, rows: 1, cols: mxBlock, whole: true, scales: e8m0Scale,
		rule: mxRule{mode: m.Mode, emax: e - 1, most: float32(most), bits: bits},
	}, nil
}

// mxRule chooses the scale of a block.
type mxRule struct {
	mode ScaleMode
	emax int // exponent of the largest number
	most float32
	bits int // of the mantissa, without the leading one
}

func (r mxRule) choose(out *blocks, of spans, _ float32) {
	codes, factors, limits := out.codes[:len(of.amax)], out.factors[:len(of.amax)], out.limits[:len(of.amax)]
	for i, b := range of.amax {
		code := 0
		switch r.mode {
		case RCeil:
			b = math.Float32bits(math.Float32frombits(b) / r.most)
			code = int(b >> 23)
			if fraction := b & (1<<23 - 1); code > 0 && fraction > 0 || fraction > 1<<22 {
				code++
			}
		case Even:
			code = int((b+1<<(22-r.bits))>>23) - r.emax
		case Ceil:
			code = int((b+1<<23-1)>>23) - r.emax
		default:
			code = int(b>>23) - r.emax
		}
		code = min(max(code, 0), 254)
		codes[i], factors[i], limits[i] = uint8(code), math.Float32frombits(uint32(254-code)<<23), r.most
		if code == 254 {
			factors[i] = 0x1p-127
		}
		if code > 254-r.emax {
			limits[i] = r.limit(code)
		}
	}
}

// limit returns the largest number of the format that stays finite in float32 when it is scaled, for a scale with which r.most does not.
func (r mxRule) limit(code int) float32 {
	// 2^(128-s) is the first number that does not; the one before it is smaller by a unit in the last place.
	top := math.Ldexp(1, 255-code)
	return float32(top - math.Ldexp(top, -r.bits-1))
}

// powerOf returns 2^e for -127 <= e <= 127.
func powerOf(e int) float32 {
	if e == -127 {
		return 0x1p-127
	}
	return math.Float32frombits(uint32(e+127) << 23)
}

package quant

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/internal/asm"
)

// Every tier has the codes and scales of portable code, on all bit patterns of the upper half of float32 and their neighbours, in every scheme and for widths
// that end within a register.
func TestTiers(t *testing.T) {
	var numbers []float32
	for high := range uint32(1 << 16) {
		for _, low := range []uint32{0, 1, 0x8000, 0xffff} {
			if x := math.Float32frombits(high<<16 | low); x-x == 0 || high%64 == 1 {
				numbers = append(numbers, x)
			}
		}
	}
	// Neighbours in a block have one magnitude, so that all codes occur: a sixteenth of a format's range lies within 32 numbers.
	for k := range 4096 {
		numbers = append(numbers, float32(math.Ldexp(1+float64(k)/4096, -k%32)))
	}
	for _, width := range []int{128, 160, 200} {
		rows := len(numbers) / width &^ 15
		x := tensor.FromFloat32s(numbers[:rows*width], rows, width)
		for _, s := range []Scheme{
			MXFP8, MX{Element: E5M2, Mode: RCeil}, MXFP6, MX{Element: E3M2, Mode: Even}, MXFP4, MX{Element: E2M1, Mode: Ceil}, MXINT8, NVFP4{}, NVFP4{TwoDimensional: true},
			Float8{Granularity: PerRow}, Float8{Granularity: Per1x128}, Float8{Element: E5M2, Granularity: Per128x128}, Float8{Element: E4M3FNUZ, Granularity: PerRow},
			Int{Bits: 4, Group: 32}, Int{Bits: 4, Asymmetric: true}, Int{Bits: 8, Asymmetric: true}, Int{Bits: 8, Group: 16},
			Cast{Element: E4M3FN}, Cast{Element: E5M2}, Cast{Element: E3M4},
		} {
			p, _ := s.plan()
			if p.whole && width%p.cols != 0 {
				continue
			}
			if p.scales == noScale && !p.element.HasNaN() {
				continue // NaN is refused
			}
			want := quantize(x, s, nil)
			for _, tier := range asm.Tiers() {
				got := quantize(x, s, tier)
				if !tensor.Equal(got.codes, want.codes) {
					t.Errorf("%s: %v of width %d has other codes than portable code", tier.Name, s, width)
				}
				if string(bytes(got.dequantize(tensor.Float32, tier))) != string(bytes(want.dequantize(tensor.Float32, nil))) {
					t.Errorf("%s: %v of width %d has other numbers than portable code", tier.Name, s, width)
				}
				if want.scales != nil && string(bytes(got.scales)) != string(bytes(want.scales)) {
					t.Errorf("%s: %v of width %d has other scales than portable code", tier.Name, s, width)
				}
			}
		}
	}
}

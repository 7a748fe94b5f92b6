package quant_test

import (
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// codesEqual compares codes and scales with those under key.
func codesEqual(t *testing.T, q *quant.Tensor, bits int, key string) {
	t.Helper()
	want := bytesOf(t, key+"/codes")
	wrong := 0
	for i, c := range unpacked(q, bits) {
		if c != want[i] {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d codes differ", key, wrong, len(want))
	}
}

func numbersEqual(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	wrong := 0
	for i := range got {
		if !same(got[i], want[i]) {
			if wrong++; wrong < 4 {
				t.Errorf("%s: number %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d differ", what, wrong, len(got))
	}
}

// NVFP4 has the codes of Transformer Engine's reference.
func TestNVFP4Reference(t *testing.T) {
	x := fixture(t, "nvfp4/in")
	for key, s := range map[string]quant.NVFP4{"nvfp4/1d": {}, "nvfp4/2d": {TwoDimensional: true}} {
		q := quant.Quantize(x, s)
		codesEqual(t, q, 4, key)
		global := numbers(fixture(t, key+"/global"))[0]
		var want []float32
		for _, c := range bytesOf(t, key+"/scale") {
			want = append(want, global*float32(quant.E4M3FN.Decode(c)))
		}
		numbersEqual(t, key+" scales", numbers(q.Scales()), want)
		numbersEqual(t, key, numbers(q.Dequantize(tensor.Float32)), numbers(fixture(t, key+"/value")))
	}
}

// Float8 has the codes and scales of torchao.
func TestFloat8Packages(t *testing.T) {
	x := fixture(t, "float8/in")
	for key, s := range map[string]quant.Float8{
		"1x128": {Granularity: quant.Per1x128}, "128x128": {Granularity: quant.Per128x128},
		"float8_e4m3fn/tensor": {}, "float8_e4m3fn/row": {Granularity: quant.PerRow},
		"float8_e5m2/tensor": {Element: quant.E5M2}, "float8_e5m2/row": {Element: quant.E5M2, Granularity: quant.PerRow},
		"float8_e4m3fn/tensor/pow2": {PowerOfTwo: true}, "float8_e5m2/row/pow2": {Element: quant.E5M2, Granularity: quant.PerRow, PowerOfTwo: true},
		"float8_e4m3fn/row/pow2": {Granularity: quant.PerRow, PowerOfTwo: true}, "float8_e5m2/tensor/pow2": {Element: quant.E5M2, PowerOfTwo: true},
	} {
		q := quant.Quantize(x, s)
		codesEqual(t, q, 8, "float8/"+key)
		numbersEqual(t, key+" scales", numbers(q.Scales()), numbers(fixture(t, "float8/"+key+"/scale")))
	}
}

// Int has the numbers of torchao's quantisation-aware training.
func TestIntPackages(t *testing.T) {
	for key, s := range map[string]quant.Int{"int/weight": {Bits: 4, Group: 32}, "int/activation": {Bits: 8, Asymmetric: true}} {
		q := quant.Quantize(fixture(t, key+"/in"), s)
		numbersEqual(t, key, numbers(q.Dequantize(tensor.Float32)), numbers(fixture(t, key+"/value")))
		// The gradient is 1 or 0; torchao's is off by the rounding of g * scale * (1 / scale).
		x := fixture(t, key+"/in").Clone().RequireGrad()
		quant.FakeQuantize(x, s).Sum().Backward()
		numbersEqual(t, key+" gradient", numbers(x.Grad()), numbers(fixture(t, key+"/grad").Round()))
	}
}

package quant_test

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/quant"
)

// Products are torch's to the bit where sums are exact, and otherwise within the bound of a float32 sum, (k + 2) 2^-24 of the sum of magnitudes.
func TestScaledMMMatchesTorch(t *testing.T) {
	f, err := data.LoadSafetensors("testdata/products.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, element := range map[string]quant.Format{"e4m3": quant.E4M3FN, "e5m2": quant.E5M2} {
		for scaling, g := range map[string]quant.Granularity{"row": quant.PerRow, "tensor": quant.PerTensor} {
			for _, kind := range []string{"exact", "random"} {
				key := name + "/" + kind + "/" + scaling + "/"
				load := func(operand string) *quant.Tensor {
					q, err := quant.FromStateDict(f, key+operand, quant.Float8{Element: element, Granularity: g})
					if err != nil {
						t.Fatal(err)
					}
					return q
				}
				a, b := load("a"), load("b")
				got, want := quant.ScaledMM(a, b, tensor.Float32).Float64s(), f[key+"float32"].Float64s()
				bound := a.Dequantize(tensor.Float64).Abs().MM(b.Dequantize(tensor.Float64).Abs().T()).Float64s()
				k := float64(a.Shape()[1])
				for i := range want {
					if off := math.Abs(got[i] - want[i]); kind == "exact" && off != 0 || off > 2*(k+2)*0x1p-24*bound[i] {
						t.Fatalf("%s: element %d is %v, want %v", key, i, got[i], want[i])
					}
				}
				if half := quant.ScaledMM(a, b, tensor.BFloat16); kind == "exact" && !tensor.Equal(half, f[key+"bfloat16"]) {
					t.Errorf("%s: the product in bfloat16 differs", key)
				}
			}
		}
	}
	q := quant.Quantize(sample(4, 64), quant.MXFP8)
	if err := tensor.Try(func() { quant.ScaledMM(q, quant.Quantize(sample(4, 32), quant.MXFP8), tensor.Float32) }); err == nil {
		t.Error("(4, 64) was multiplied by (4, 32)")
	}
}

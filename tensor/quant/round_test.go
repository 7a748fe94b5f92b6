package quant_test

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// Round goes to one of the two neighbours, in proportion to the distances; numbers of the dtype stay. Neighbours toward zero are found by TowardZero.
func TestRound(t *testing.T) {
	x := sample(1 << 16).MulScalar(0.01)
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16, tensor.Float8E4M3, tensor.Float8E5M2} {
		nearest := quant.Round(x, d, quant.Nearest).Float()
		if !tensor.Equal(nearest, x.To(d).Float()) {
			t.Errorf("%v: nearest differs from To", d)
		}
		down, up := numbers(quant.Round(x, d, quant.TowardZero).Float()), numbers(quant.Round(x, d, quant.Stochastic(1)).Float())
		bias, gap := 0.0, 0.0
		for i, v := range numbers(x) {
			if math.Abs(float64(down[i])) > math.Abs(float64(v)) || math.Abs(float64(up[i])) < math.Abs(float64(down[i])) {
				t.Fatalf("%v: %v toward zero is %v, stochastically %v", d, v, down[i], up[i])
			}
			bias += (float64(up[i]) - float64(v)) * float64(1-2*(i&1)) // signs cancel what the sample's own sign would add
			gap += math.Pow(float64(up[i])-float64(v), 2)
		}
		if z := bias / math.Sqrt(gap); math.Abs(z) > 4 {
			t.Errorf("%v: the sum of errors is %.1f standard deviations from 0", d, z)
		}
		once := quant.Round(x, d, quant.Stochastic(1))
		if again := quant.Round(once.Float(), d, quant.Stochastic(2)); !tensor.Equal(once.Float(), again.Float()) {
			t.Errorf("%v: its own numbers changed", d)
		}
	}
	// bfloat16 goes away from zero if 16 random bits are below the 16 that are lost: from 1 + 2^-8 half of the time.
	y := quant.Round(tensor.Full(1+0x1p-8, 1<<16), tensor.BFloat16, quant.Stochastic(3)).Float()
	if mean := y.Double().Mean().Item(); math.Abs(mean-1-0x1p-8) > 4*0x1p-8/256 {
		t.Errorf("the mean of 1 + 2^-8 is %v", mean)
	}
}

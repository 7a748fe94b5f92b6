package tensor

import (
	"slices"
	"testing"
)

// TestSoftmaxLongRows checks that rows longer than the workers' buffers give the bits of the float32
// result, rounded once.
func TestSoftmaxLongRows(t *testing.T) {
	for _, d := range []DType{Float16, BFloat16} {
		for name, f := range map[string]func(x *Tensor) *Tensor{
			"softmax":     func(x *Tensor) *Tensor { return x.Softmax(-1) },
			"log_softmax": func(x *Tensor) *Tensor { return x.LogSoftmax(-1) },
		} {
			x := Randn(2, 70001).To(d)
			wide := x.Float()
			dy := Randn(2, 70001).To(d)
			y, dx := withGradient(f, x, dy)
			want, wantGrad := withGradient(f, wide, dy.Float())
			if !slices.Equal(y.Bits(), want.To(d).Bits()) {
				t.Errorf("%s in %v: the bits differ from the rounded float32 result", name, d)
			}
			if diff := dx.Float().Sub(wantGrad).Abs().Amax().Item(); diff > 0.02*wantGrad.Abs().Amax().Item() {
				t.Errorf("%s in %v: the gradient is wrong by %v", name, d, diff)
			}
		}
	}
}

func withGradient(f func(x *Tensor) *Tensor, x, dy *Tensor) (y, dx *Tensor) {
	x = x.Clone().RequireGrad()
	y = f(x)
	y.BackwardWith(BackwardOptions{Gradient: dy})
	return y.Detach(), x.Grad()
}

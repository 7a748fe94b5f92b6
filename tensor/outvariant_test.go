package tensor

import (
	"strings"
	"testing"
)

func TestOut(t *testing.T) {
	x := New([]float64{1.0001, 0, 0, 1.0001}, 2, 2)
	for _, d := range []DType{Float32, Float16, Float64} {
		z := ZerosAs(d, 2, 2)
		var y *Tensor
		withCaster(toHalf{}, func() { y = Out(z, func() *Tensor { return x.MatMul(x) }) })
		if want := x.MatMul(x).To(d); y != z || y.DType() != d || !Equal(y, want) {
			t.Errorf("%v: got %v, want %v", d, y, want)
		}
	}
	w := x.Clone().RequireGrad()
	z := Zeros(2, 2)
	NoGrad(func() { Out(z, func() *Tensor { return w.Mul(x) }) })
	Out(z, func() *Tensor {
		var y *Tensor
		NoGrad(func() { y = w.Mul(x) })
		return y
	})
	if z.RequiresGrad() || z.At(0, 0) == 0 {
		t.Errorf("under NoGrad: got %v", z)
	}
	for want, f := range map[string]func(){
		"mul: shapes (2, 2) and (2, 2): an operand requires a gradient, but tensor.Out does not record": func() { Out(z, func() *Tensor { return w.Mul(x) }) },
		"the tensor requires a gradient, which a change in place would make wrong":                      func() { Out(w, func() *Tensor { return x.Mul(x) }) },
		"out: shapes (3,) and (2, 2): the result and the output tensor must have the same shape":        func() { Out(Zeros(3), func() *Tensor { return x.Mul(x) }) },
		"the result is float32, which the tensor changed in place cannot hold":                          func() { Out(Zeros(2, 2).Long(), func() *Tensor { return x.Mul(x) }) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}

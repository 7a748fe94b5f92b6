package tensor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
)

func TestSetFloat32MatmulPrecision(t *testing.T) {
	defer tensor.SetFloat32MatmulPrecision("highest")
	if got := tensor.Float32MatmulPrecision(); got != "highest" {
		t.Errorf("the default is %q, want highest", got)
	}
	err := tensor.Try(func() { tensor.SetFloat32MatmulPrecision("medium") })
	if err == nil || !strings.Contains(err.Error(), `set_float32_matmul_precision: the precision is "medium"; want "highest" or "high"`) {
		t.Errorf("medium: %v", err)
	}
	x, w := tensor.Randn(20, 50).RequireGrad(), tensor.Randn(50, 30).RequireGrad()
	image, kernel := tensor.Randn(2, 3, 9, 9), tensor.Randn(4, 3, 3, 3)
	run := func() (list []*tensor.Tensor) {
		y := x.MatMul(w)
		y.Sum().Backward()
		list = append(list, y.Detach(), x.Grad(), w.Grad(), tensor.Conv2d(image, kernel, nil, tensor.ConvOptions{}), tensor.Randn(3).To(tensor.Float64))
		x.SetGrad(nil)
		w.SetGrad(nil)
		return list
	}
	exact := run()
	tensor.SetFloat32MatmulPrecision("high")
	if got := tensor.Float32MatmulPrecision(); got != "high" {
		t.Errorf("got %q, want high", got)
	}
	for i, y := range run()[:4] {
		if slices.Equal(y.Float64s(), exact[i].Float64s()) {
			t.Errorf("result %d has the bits of the highest precision", i)
		}
		if e := y.Sub(exact[i]).Abs().Amax().Item(); e > 0x1p-12 {
			t.Errorf("result %d differs by %g", i, e)
		}
	}
	half := tensor.Randn(8, 8).BFloat16()
	product := half.MatMul(half)
	tensor.SetFloat32MatmulPrecision("highest")
	if !slices.Equal(product.Float64s(), half.MatMul(half).Float64s()) {
		t.Error("products of bfloat16 depend on the precision of float32")
	}
}

func ExampleSetFloat32MatmulPrecision() {
	x := tensor.New([]float64{1, 1.0 / 3}, 1, 2)
	fmt.Printf("%.9f\n", x.MatMul(x.T()).Item())
	tensor.SetFloat32MatmulPrecision("high")
	fmt.Printf("%.9f\n", x.MatMul(x.T()).Item())
	tensor.SetFloat32MatmulPrecision("highest")
	// Output:
	// 1.111111164
	// 1.111109853
}

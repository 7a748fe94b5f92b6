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
	err := tensor.Try(func() { tensor.SetFloat32MatmulPrecision("low") })
	if err == nil || !strings.Contains(err.Error(), `set_float32_matmul_precision: the precision is "low"; want "highest", "high" or "medium"`) {
		t.Errorf("low: %v", err)
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

// TestMediumPrecision compares products, convolutions and their derivatives of medium precision, of operands with several layouts, with
// those of operands that are rounded to bfloat16 first: in float64, which is exact, and by kernels of bfloat16 whose result is float32.
func TestMediumPrecision(t *testing.T) {
	defer tensor.SetFloat32MatmulPrecision("highest")
	wide := func(shape ...int) *tensor.Tensor { return tensor.Randn(shape...).MulScalar(100) }
	strided := wide(9, 40).Slice(1, 3, 37).T() // (34, 9), not contiguous
	image := wide(2, 3, 9, 9)
	kernel := wide(4, 3, 3, 3)
	tests := []struct {
		name string
		in   []*tensor.Tensor
		f    func(in []*tensor.Tensor) *tensor.Tensor
	}{
		{"matmul", []*tensor.Tensor{wide(20, 50), wide(50, 30)}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MatMul(in[1]) }},
		{"strided", []*tensor.Tensor{strided, wide(9, 7)}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MatMul(in[1]) }},
		{"reversed", []*tensor.Tensor{wide(8, 6).Flip(0), wide(6, 5)}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MatMul(in[1]) }},
		{"a batch that broadcasts", []*tensor.Tensor{wide(3, 1, 4, 5), wide(2, 5, 6)}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MatMul(in[1]) }},
		{"linear", []*tensor.Tensor{wide(5, 8), wide(3, 8), wide(3)}, func(in []*tensor.Tensor) *tensor.Tensor { return tensor.Linear(in[0], in[1], in[2]) }},
		{"no elements", []*tensor.Tensor{wide(4, 0), wide(0, 3)}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MatMul(in[1]) }},
		{"conv2d", []*tensor.Tensor{image, kernel, wide(4)}, func(in []*tensor.Tensor) *tensor.Tensor {
			return tensor.Conv2d(in[0], in[1], in[2], tensor.ConvOptions{Padding: []int{1}, Stride: []int{2}})
		}},
		{"conv2d of a stride of 1", []*tensor.Tensor{image, kernel}, func(in []*tensor.Tensor) *tensor.Tensor {
			return tensor.Conv2d(in[0], in[1], nil, tensor.ConvOptions{})
		}},
	}
	for _, tt := range tests {
		leaves := func(d tensor.DType) (in []*tensor.Tensor) {
			for i, x := range tt.in {
				if x = x.Detach(); d != tensor.Float32 && i < 2 { // the factors, not a bias
					x = x.BFloat16()
				}
				in = append(in, x.To(d).RequireGrad())
			}
			return in
		}
		run := func(d tensor.DType) (list []*tensor.Tensor) {
			in := leaves(d)
			y := tt.f(in)
			dy := tensor.Ones(y.Shape()...).To(d) // bfloat16 too
			y.BackwardWith(tensor.BackwardOptions{Gradient: dy})
			list = append(list, y.Detach())
			for _, x := range in {
				list = append(list, x.Grad())
			}
			return list
		}
		want := run(tensor.Float64)
		magnitude := 0.0 // of the sums of magnitudes
		if y := want[0]; y.Numel() > 0 {
			magnitude = 1e4 * float64(max(tt.in[0].Numel(), tt.in[1].Numel()))
		}
		tensor.SetFloat32MatmulPrecision("medium")
		if got := tensor.Float32MatmulPrecision(); got != "medium" {
			t.Errorf("got %q, want medium", got)
		}
		for i, y := range run(tensor.Float32) {
			if y.DType() != tensor.Float32 {
				t.Errorf("%s: result %d is %v, want float32", tt.name, i, y.DType())
			}
			if y.Numel() == 0 {
				continue
			}
			if e := y.To(tensor.Float64).Sub(want[i]).Abs().Amax().Item(); e > 1e-6*magnitude {
				t.Errorf("%s: result %d differs by %g from that of rounded operands", tt.name, i, e)
			}
		}
		tensor.SetFloat32MatmulPrecision("highest")
		if y := run(tensor.Float32)[0]; y.Numel() > 1 && y.To(tensor.Float64).Sub(want[0]).Abs().Amax().Item() < 1e-4*want[0].Abs().Amax().Item() {
			t.Errorf("%s: the highest precision is the medium one", tt.name)
		}
	}
}

func ExampleSetFloat32MatmulPrecision() {
	x := tensor.New([]float64{1, 1.0 / 3}, 1, 2)
	fmt.Printf("%.9f\n", x.MatMul(x.T()).Item())
	tensor.SetFloat32MatmulPrecision("high")
	fmt.Printf("%.9f\n", x.MatMul(x.T()).Item())
	tensor.SetFloat32MatmulPrecision("medium")
	fmt.Printf("%.9f\n", x.MatMul(x.T()).Item())
	tensor.SetFloat32MatmulPrecision("highest")
	// Output:
	// 1.111111164
	// 1.111109853
	// 1.111545563
}

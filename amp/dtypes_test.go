package amp_test

import (
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// dtypeCheck is an expression with its dtype in a region, or "error" if it must panic.
type dtypeCheck struct {
	name string
	f    func() *tensor.Tensor
	want string
}

// TestDTypes checks dtypes under amp.Float16 that torch's answers in testdata/dtypes.json, which TestTorchDTypes compares, do not hold:
// float64 next to other dtypes, integers, operations in place, a loss that fake tensors lack, and regions in regions. They follow PyTorch's behaviour on CUDA
// (test_autocast.py and autocast_mode.cpp).
func TestDTypes(t *testing.T) {
	tensor.ManualSeed(1)
	x, w := tensor.Randn(8, 8), tensor.Randn(8, 8).RequireGrad()
	h, d := x.Half(), x.Double()
	n := tensor.FromInts([]int{1, 2, 3}).To(tensor.Int32)
	for _, c := range []dtypeCheck{
		{"matmul(64,16)", func() *tensor.Tensor { return d.MatMul(h) }, "error"},
		{"matmul(64,32)", func() *tensor.Tensor { return d.MatMul(x) }, "error"},
		{"relu of linear", func() *tensor.Tensor { return tensor.Linear(x, w, nil).ReLU() }, "float16"},
		{"in place", func() *tensor.Tensor { return h.Clone().AddAssign(x) }, "float16"},
		{"sum of int32", func() *tensor.Tensor { return n.Sum() }, "int64"},
		{"pow of int32", func() *tensor.Tensor { return n.Pow(2) }, "int32"},
		{"linear of int8", func() *tensor.Tensor { return n.To(tensor.Int8).Unsqueeze(0).MatMul(n.To(tensor.Int8).Unsqueeze(1)) }, "int8"},
		{"cumsum of int16", func() *tensor.Tensor { return n.To(tensor.Int16).Cumsum(0) }, "int64"},
		{"gaussian_nll_loss", func() *tensor.Tensor { return nn.GaussianNLLLoss(h, h, h.Abs()) }, "float32"},
		{"int8 and float16", func() *tensor.Tensor { return n.To(tensor.Int8).Unsqueeze(1).Mul(h.Select(0, 0)) }, "float16"},
	} {
		c.run(t, amp.Float16)
	}
	for _, c := range []dtypeCheck{
		{"matmul(32,16), disabled inside", func() *tensor.Tensor { return x.MatMul(h) }, "error"},
		{"matmul(32,32) after Float, disabled inside", func() *tensor.Tensor { return x.MatMul(h.Float()) }, "float32"},
	} {
		c.run(t, amp.Float16, amp.Float16.Enabled(false))
	}
	t.Run("after the disabled region", func(t *testing.T) {
		amp.Autocast(amp.Float16, func() {
			amp.Autocast(amp.Off, func() {})
			if got := x.MatMul(h).DType(); got != tensor.Float16 {
				t.Errorf("got %v, want float16", got)
			}
		})
	})
	t.Run("gradients", gradientDTypes)
}

// run computes the expression inside nested regions.
func (c dtypeCheck) run(t *testing.T, regions ...amp.Policy) {
	t.Run(c.name, func(t *testing.T) {
		var got string
		body := func() { got = c.f().DType().String() }
		for _, p := range slices.Backward(regions) {
			inner := body
			body = func() { amp.Autocast(p, inner) }
		}
		if err := try(body); err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	})
}

// gradientDTypes checks that gradients of leaves have the leaf's dtype, and those of activations
// the dtype of their forward operation, also if Backward runs inside the region.
func gradientDTypes(t *testing.T) {
	for _, inside := range []bool{false, true} {
		x, w := tensor.Ones(4, 4), tensor.Ones(4, 4).RequireGrad()
		var h, loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() {
			h = x.MatMul(w).RetainGrad()
			loss = nn.MSELoss(h, x)
			if inside {
				loss.Backward()
			}
		})
		if !inside {
			loss.Backward()
		}
		if h.Grad().DType() != tensor.Float16 || w.Grad().DType() != tensor.Float32 {
			t.Errorf("inside %v: got gradients of %v for the activation and %v for the leaf, want float16 and float32", inside, h.Grad().DType(), w.Grad().DType())
		}
	}
}

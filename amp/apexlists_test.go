package amp_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// The tests TestApex/<name> follow the tests of these names in Apex's suite tests/L0/run_amp,
// before apex.amp was removed (PR 1896). Left out are test_cpu_is_float, since a copy to another
// device casts nothing; test_rnn_packed_sequence_is_half, which amp's TestPackedSequences covers;
// test_inplace_exp_is_error_for_half, since in-place operations keep their dtype, as under torch's
// autocast; multi_tensor_* and fused optimizers, which are kernels; and LARC.

func TestApex(t *testing.T) {
	for name, c := range map[string]struct {
		fns   []func(x *tensor.Tensor) *tensor.Tensor
		shape []int
		want  map[tensor.DType]tensor.DType // dtype of the result for each dtype of the operand
	}{
		"test_linear_is_half":        {fns: each1(nn.NewLinear(16, 16).Forward), shape: []int{2, 16}, want: alwaysHalf},
		"test_conv2d_is_half":        {fns: each1(nn.NewConv2d(4, 4, 3).Forward), shape: []int{2, 4, 8, 8}, want: alwaysHalf},
		"test_softmax_is_float":      {fns: each1(nn.NewSoftmax(1).Forward, func(x *tensor.Tensor) *tensor.Tensor { return x.Softmax(1) }), shape: []int{2, 16}, want: alwaysFloat},
		"test_group_norm_is_float":   {fns: each1(nn.NewGroupNorm(4, 8).Forward), shape: []int{2, 8, 4, 4}, want: alwaysFloat},
		"test_mse_loss_is_float":     {fns: each1(func(x *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(x, tensor.Ones(2, 16)) }), shape: []int{2, 16}, want: alwaysFloat},
		"test_relu_is_match":         {fns: each1(nn.NewReLU().Forward, (*tensor.Tensor).ReLU), shape: []int{2, 16}, want: matchInput},
		"test_batch_norm_is_match":   {fns: each1(nn.NewBatchNorm2d(4).Forward), shape: []int{2, 4, 4, 4}, want: matchInput},
		"test_matmul_method_is_half": {fns: each1(func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(tensor.Ones(8, 8)) }, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Ones(8, 8).MatMul(x) }), shape: []int{8, 8}, want: alwaysHalf},
		"test_pow_method_is_float":   {fns: each1(func(x *tensor.Tensor) *tensor.Tensor { return x.Pow(2) }), shape: []int{2, 16}, want: alwaysFloat},
		"test_sum_is_float":          {fns: each1(func(x *tensor.Tensor) *tensor.Tensor { return x.Sum() }), shape: []int{2, 16}, want: alwaysFloat},
		"test_rnn_is_half":           {fns: each1(nn.NewRNN(16, 8).Forward, nn.NewLSTM(16, 8).Forward, nn.NewGRU(16, 8).Forward), shape: []int{3, 2, 16}, want: alwaysHalf},
		"test_rnn_cell_is_half":      {fns: each1(nn.NewRNNCell(16, 8).Forward, nn.NewGRUCell(16, 8).Forward, nn.NewLSTMCell(16, 8).Forward), shape: []int{2, 16}, want: alwaysHalf},
		// Beyond the suite: operations where Apex's lists differ from torch's.
		"gelu, var and std are float": {fns: each1((*tensor.Tensor).GELU, func(x *tensor.Tensor) *tensor.Tensor { return x.Var() }, func(x *tensor.Tensor) *tensor.Tensor { return x.Std() }), shape: []int{2, 16}, want: alwaysFloat},
		"logsumexp is match":          {fns: each1(func(x *tensor.Tensor) *tensor.Tensor { return x.LogSumExp(1) }), shape: []int{2, 16}, want: matchInput},
	} {
		t.Run(name, func(t *testing.T) {
			for i, f := range c.fns {
				for in, want := range c.want {
					x := tensor.Randn(c.shape...).To(in).RequireGrad()
					var y *tensor.Tensor
					amp.Autocast(apex.Float16, func() { y = f(x) })
					if y.DType() != want {
						t.Errorf("function %d of %v: got %v, want %v", i, in, y.DType(), want)
					}
					y.Float().Sum().Backward()
					if d := x.Grad().DType(); d != in {
						t.Errorf("function %d of %v: got a gradient of %v", i, in, d)
					}
				}
			}
		})
	}
	t.Run("test_bce_raises_by_default", func(t *testing.T) {
		p, y := tensor.Full(0.5, 4), tensor.Ones(4)
		amp.Autocast(apex.Float16, func() {
			if err := caught(func() { nn.BinaryCrossEntropy(p.Half(), y) }); err == nil {
				t.Error("a float16 operand: got no error")
			}
			if d := nn.BinaryCrossEntropy(p, y).DType(); d != tensor.Float32 {
				t.Errorf("a float32 operand: got %v, want float32, since Apex bans halves only", d)
			}
		})
	})
	t.Run("test_bce_is_float_with_allow_banned", func(t *testing.T) {
		amp.Autocast(apex.Float16.With("binary_cross_entropy", amp.FP32), func() {
			if d := nn.BinaryCrossEntropy(tensor.Full(0.5, 4).Half(), tensor.Ones(4)).DType(); d != tensor.Float32 {
				t.Errorf("got %v, want float32", d)
			}
		})
	})
	t.Run("register_half_function", func(t *testing.T) {
		amp.Autocast(apex.Float16.With("sigmoid", amp.LowerPrecision).With("exp", amp.Promote), func() {
			if d := tensor.Ones(3).Sigmoid().DType(); d != tensor.Float16 {
				t.Errorf("sigmoid: got %v, want float16", d)
			}
		})
	})
	for name, policy := range map[string]amp.Policy{"Half": apex.Float16, "BFloat16": apex.BFloat16} {
		lower := policy.DType()
		t.Run("TestPromotion"+name, func(t *testing.T) {
			for op, f := range map[string]func(x, y *tensor.Tensor) *tensor.Tensor{
				"test_atan2_matches_widest": (*tensor.Tensor).Atan2, "test_mul_matches_widest": (*tensor.Tensor).Mul,
				"add": (*tensor.Tensor).Add, "sub": (*tensor.Tensor).Sub, "div": (*tensor.Tensor).Div,
				"test_cat_matches_widest": func(x, y *tensor.Tensor) *tensor.Tensor { return tensor.Cat(0, x, x, y) },
				"stack":                   func(x, y *tensor.Tensor) *tensor.Tensor { return tensor.Stack(0, x, x, y) },
			} {
				for _, xs := range []tensor.DType{lower, tensor.Float32} {
					for _, ys := range []tensor.DType{lower, tensor.Float32} {
						x, y := tensor.Ones(4).To(xs).RequireGrad(), tensor.Ones(4).To(ys)
						want := lower
						if xs == tensor.Float32 || ys == tensor.Float32 {
							want = tensor.Float32
						}
						var out *tensor.Tensor
						amp.Autocast(policy, func() { out = f(x, y) })
						if out.DType() != want {
							t.Errorf("%s of %v and %v: got %v, want %v", op, xs, ys, out.DType(), want)
						}
						out.Float().Sum().Backward()
						if d := x.Grad().DType(); d != xs {
							t.Errorf("%s: gradient of a %v: got %v", op, xs, d)
						}
					}
				}
			}
			// test_inplace_add_matches_self
			amp.Autocast(policy, func() {
				x := tensor.Ones(4).To(lower)
				if x.AddAssign(tensor.Ones(4)); x.DType() != lower {
					t.Errorf("add in place: got %v, want %v", x.DType(), lower)
				}
			})
		})
	}
}

func each1(fns ...func(x *tensor.Tensor) *tensor.Tensor) []func(x *tensor.Tensor) *tensor.Tensor {
	return fns
}

var (
	alwaysHalf  = map[tensor.DType]tensor.DType{tensor.Float16: tensor.Float16, tensor.Float32: tensor.Float16}
	alwaysFloat = map[tensor.DType]tensor.DType{tensor.Float16: tensor.Float32, tensor.Float32: tensor.Float32}
	matchInput  = map[tensor.DType]tensor.DType{tensor.Float16: tensor.Float16, tensor.Float32: tensor.Float32}
)

// caught returns the error that f panics with, or nil.
func caught(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	f()
	return nil
}

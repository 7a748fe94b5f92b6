package amp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// dtypeCheck is an expression with its dtype in a region, or "error" if it must panic.
type dtypeCheck struct {
	row  int
	name string
	f    func() *tensor.Tensor
	want string
}

// TestDTypes checks the dtypes of operations under amp.Float16, in rows D1 to D16. They follow
// PyTorch's behaviour on CUDA (test_autocast.py and autocast_mode.cpp).
func TestDTypes(t *testing.T) {
	tensor.ManualSeed(1)
	x, w := tensor.Randn(8, 8), tensor.Randn(8, 8).RequireGrad()
	h, b, d := x.Half(), x.BFloat16(), x.Double()
	n := tensor.FromInts([]int{1, 2, 3}).To(tensor.Int32)
	index, classes := tensor.Zeros(8, 8).Long(), tensor.Zeros(8).Long()
	gates := func(n int) *tensor.Tensor { return tensor.Full(0.1, n, 8) }
	rows := map[int]bool{}
	for _, c := range []dtypeCheck{
		{1, "matmul(32,32)", func() *tensor.Tensor { return x.MatMul(w) }, "float16"},
		{1, "matmul(32,32) of three dimensions", func() *tensor.Tensor { return x.Unsqueeze(0).MatMul(w.Unsqueeze(0)) }, "float16"},
		{1, "linear(32,32)", func() *tensor.Tensor { return tensor.Linear(x, w, nil) }, "float16"},
		{1, "linear(32,32) with bias", func() *tensor.Tensor { return tensor.Linear(x, w, tensor.Ones(8)) }, "float16"},

		{1, "mm(32,32)", func() *tensor.Tensor { return x.MM(w) }, "float16"},
		{1, "bmm(32,32)", func() *tensor.Tensor { return x.Unsqueeze(0).BMM(w.Unsqueeze(0)) }, "float16"},
		{1, "conv2d(32,32)", func() *tensor.Tensor {
			return tensor.Conv2d(x.Reshape(1, 1, 8, 8), w.Reshape(1, 1, 8, 8), nil, tensor.ConvOptions{})
		}, "float16"},
		{1, "einsum(32,32)", func() *tensor.Tensor { return tensor.Einsum("ij,jk->ik", x, w) }, "float16"},
		{1, "prelu(32,32)", func() *tensor.Tensor { return x.PReLU(tensor.Full(0.25, 1)) }, "float16"},
		{1, "scaled_dot_product_attention(32,32,32)", func() *tensor.Tensor { return nn.ScaledDotProductAttention(x, w, x) }, "float16"},
		{1, "gru_cell(32)", func() *tensor.Tensor { return tensor.GRUCell(x, x, gates(24), gates(24), nil, nil) }, "float16"},
		{1, "rnn_tanh_cell(32)", func() *tensor.Tensor { return tensor.RNNTanhCell(x, x, w, w, nil, nil) }, "float16"},
		{1, "rnn_relu_cell(32)", func() *tensor.Tensor { return tensor.RNNReLUCell(x, x, w, w, nil, nil) }, "float16"},
		{1, "lstm_cell(32)", func() *tensor.Tensor { _, c := tensor.LSTMCell(x, x, x, gates(32), gates(32), nil, nil); return c }, "float16"},

		{2, "matmul(16,32)", func() *tensor.Tensor { return h.MatMul(x) }, "float16"},
		{2, "matmul(bf16,32)", func() *tensor.Tensor { return b.MatMul(x) }, "float16"},

		{3, "matmul(64,64)", func() *tensor.Tensor { return d.MatMul(d) }, "float64"},
		{3, "matmul(64,16)", func() *tensor.Tensor { return d.MatMul(h) }, "error"},
		{3, "matmul(64,32)", func() *tensor.Tensor { return d.MatMul(x) }, "error"},

		{4, "relu of linear", func() *tensor.Tensor { return tensor.Linear(x, w, nil).ReLU() }, "float16"},
		{4, "tanh", func() *tensor.Tensor { return h.Tanh() }, "float16"},
		{4, "sigmoid", func() *tensor.Tensor { return h.Sigmoid() }, "float16"},
		{4, "gelu", func() *tensor.Tensor { return h.GELU() }, "float16"},
		{4, "sqrt", func() *tensor.Tensor { return h.Abs().Sqrt() }, "float16"},
		{4, "mean", func() *tensor.Tensor { return h.Mean() }, "float16"},

		{4, "batch_norm", func() *tensor.Tensor {
			return tensor.BatchNorm(h, nil, nil, tensor.Ones(8), tensor.Zeros(8), tensor.BatchNormOptions{Training: true})
		}, "float16"},
		{4, "avg_pool2d", func() *tensor.Tensor {
			return nn.AvgPool2d(h.Reshape(1, 1, 8, 8), 2)
		}, "float16"},
		{4, "dropout", func() *tensor.Tensor { return tensor.Dropout(h, 0.5, true) }, "float16"},
		{4, "max_pool2d", func() *tensor.Tensor { return nn.MaxPool2d(h.Reshape(1, 1, 8, 8), 2) }, "float16"},

		{5, "sum", func() *tensor.Tensor { return h.Sum() }, "float32"},
		{5, "softmax", func() *tensor.Tensor { return h.Softmax(-1) }, "float32"},
		{5, "log_softmax", func() *tensor.Tensor { return h.LogSoftmax(-1) }, "float32"},
		{5, "exp", func() *tensor.Tensor { return h.Exp() }, "float32"},
		{5, "log", func() *tensor.Tensor { return h.Abs().Log() }, "float32"},
		{5, "pow", func() *tensor.Tensor { return h.Pow(2) }, "float32"},
		{5, "norm", func() *tensor.Tensor { return h.Norm() }, "float32"},

		{5, "layer_norm", func() *tensor.Tensor { return tensor.LayerNorm(h, []int{8}, nil, nil, tensor.NormOptions{}) }, "float32"},
		{5, "group_norm", func() *tensor.Tensor { return tensor.GroupNorm(h, 2, nil, nil, tensor.NormOptions{}) }, "float32"},
		{5, "cosine_similarity", func() *tensor.Tensor { return h.CosineSimilarity(h, 1, 1e-8) }, "float32"},
		{5, "linalg_vector_norm", func() *tensor.Tensor { return h.VectorNorm(1, tensor.PNormOptions{}) }, "float32"},
		{5, "prod", func() *tensor.Tensor { return h.Prod() }, "float32"},
		{5, "cumsum", func() *tensor.Tensor { return h.Cumsum(0) }, "float32"},
		{5, "cumprod", func() *tensor.Tensor { return h.Cumprod(0) }, "float32"},
		{5, "logsumexp", func() *tensor.Tensor { return h.LogSumExp(1) }, "float32"},

		{6, "sum as float16", func() *tensor.Tensor { return h.SumAs(tensor.Float16) }, "float16"},
		{6, "softmax as float16", func() *tensor.Tensor { return h.SoftmaxAs(tensor.Float16, -1) }, "float16"},
		{6, "log_softmax as float16", func() *tensor.Tensor { return h.LogSoftmaxAs(tensor.Float16, -1) }, "float16"},
		{6, "cumsum as float16", func() *tensor.Tensor { return h.CumsumAs(tensor.Float16, 0) }, "float16"},

		{7, "mse_loss(16,32)", func() *tensor.Tensor { return nn.MSELoss(h, x) }, "float32"},
		{7, "mse_loss(16,16)", func() *tensor.Tensor { return nn.MSELoss(h, h) }, "float32"},
		{7, "l1_loss(16,16)", func() *tensor.Tensor { return nn.L1Loss(h, h) }, "float32"},

		{7, "cross_entropy", func() *tensor.Tensor { return nn.CrossEntropy(h, classes) }, "float32"},
		{7, "nll_loss", func() *tensor.Tensor { return nn.NLLLoss(h.LogSoftmaxAs(tensor.Float16, 1), classes) }, "float32"},
		{7, "bce_with_logits", func() *tensor.Tensor { return nn.BinaryCrossEntropyWithLogits(h, h.Sigmoid()) }, "float32"},
		{7, "smooth_l1_loss", func() *tensor.Tensor { return nn.SmoothL1Loss(h, h, nn.Beta(1)) }, "float32"},
		{7, "kl_div", func() *tensor.Tensor { return nn.KLDiv(h, h) }, "float32"},

		{8, "binary_cross_entropy(16,16)", func() *tensor.Tensor { return nn.BinaryCrossEntropy(h.Sigmoid(), h.Sigmoid()) }, "error"},
		{8, "binary_cross_entropy(32,32)", func() *tensor.Tensor { return nn.BinaryCrossEntropy(x.Sigmoid(), x.Sigmoid()) }, "error"},

		{9, "add(16,32)", func() *tensor.Tensor { return h.Add(x) }, "float32"},
		{9, "add(16,16)", func() *tensor.Tensor { return h.Add(h) }, "float16"},
		{9, "mul(16,32)", func() *tensor.Tensor { return h.Mul(x) }, "float32"},
		{9, "mul(16,16)", func() *tensor.Tensor { return h.Mul(h) }, "float16"},
		{9, "cat(16,32)", func() *tensor.Tensor { return tensor.Cat(0, h, x) }, "float32"},
		{9, "cat(16,16)", func() *tensor.Tensor { return tensor.Cat(0, h, h) }, "float16"},
		{9, "stack(16,32)", func() *tensor.Tensor { return tensor.Stack(0, h, x) }, "float32"},
		{9, "stack(16,16)", func() *tensor.Tensor { return tensor.Stack(0, h, h) }, "float16"},

		{10, "addcmul(32,16,16)", func() *tensor.Tensor { return x.Addcmul(h, h, 1) }, "float32"},
		{10, "addcdiv(32,16,16)", func() *tensor.Tensor { return x.Addcdiv(h, h, 1) }, "float32"},
		{10, "atan2(16,32)", func() *tensor.Tensor { return h.Atan2(x) }, "float32"},
		{10, "scatter_add(16,32)", func() *tensor.Tensor { return h.ScatterAdd(0, index, x) }, "float32"},
		{10, "scatter_add(16,16)", func() *tensor.Tensor { return h.ScatterAdd(0, index, h) }, "float16"},
		{10, "index_put(16,32)", func() *tensor.Tensor { return h.IndexPut(x.Select(0, 1), index.Select(0, 0)) }, "float32"},
		{10, "index_put(32,16), adding", func() *tensor.Tensor { return x.IndexPutAdd(h.Select(0, 1), index.Select(0, 0)) }, "float32"},
		{10, "dot(16,32)", func() *tensor.Tensor { return h.Select(0, 0).Dot(x.Select(0, 0)) }, "float32"},
		{10, "dot(16,16)", func() *tensor.Tensor { return h.Select(0, 0).Dot(h.Select(0, 0)) }, "float16"},
		{10, "tensordot(16,32)", func() *tensor.Tensor { return h.TensorDot(x, []int{1}, []int{0}) }, "float32"},
		{10, "cross(16,32)", func() *tensor.Tensor { return h.Slice(1, 0, 3).Cross(x.Slice(1, 0, 3), 1) }, "float32"},
		{10, "bilinear(16,32)", func() *tensor.Tensor { return tensor.Bilinear(h, x, tensor.Ones(2, 8, 8), nil) }, "float32"},
		{10, "grid_sampler(16,32)", func() *tensor.Tensor {
			return h.Reshape(1, 1, 8, 8).GridSample(tensor.Zeros(1, 2, 2, 2), tensor.GridSampleOptions{})
		}, "float32"},

		{11, "in place", func() *tensor.Tensor { return h.Clone().AddAssign(x) }, "float16"},

		{12, "embedding", func() *tensor.Tensor { return tensor.Embedding(n, w, tensor.EmbeddingOptions{}) }, "float32"},
		{12, "embedding_bag", func() *tensor.Tensor { return tensor.EmbeddingBag(n.Unsqueeze(0), w, tensor.EmbeddingBagOptions{}) }, "float32"},

		{15, "1/x of float16", func() *tensor.Tensor { return h.Reciprocal() }, "float32"},
		{15, "y/x of float16", func() *tensor.Tensor { return h.Div(h) }, "float16"},

		{16, "sum of int32", func() *tensor.Tensor { return n.Sum() }, "int64"},
		{16, "pow of int32", func() *tensor.Tensor { return n.Pow(2) }, "int32"},
		{16, "linear of int8", func() *tensor.Tensor { return n.To(tensor.Int8).Unsqueeze(0).MatMul(n.To(tensor.Int8).Unsqueeze(1)) }, "int8"},
		{16, "cumsum of int16", func() *tensor.Tensor { return n.To(tensor.Int16).Cumsum(0) }, "int64"},
		{16, "int8 and float16", func() *tensor.Tensor { return n.To(tensor.Int8).Unsqueeze(1).Mul(h.Select(0, 0)) }, "float16"},
		{16, "sum of float64", func() *tensor.Tensor { return d.Sum() }, "float64"},
	} {
		rows[c.row] = true
		c.run(t, amp.Float16)
	}

	rows[13] = true
	for _, c := range []dtypeCheck{
		{13, "matmul(32,16), disabled inside", func() *tensor.Tensor { return x.MatMul(h) }, "error"},
		{13, "matmul(32,32) after Float, disabled inside", func() *tensor.Tensor { return x.MatMul(h.Float()) }, "float32"},
	} {
		c.run(t, amp.Float16, amp.Float16.Enabled(false))
	}
	t.Run("D13 after the disabled region", func(t *testing.T) {
		amp.Autocast(amp.Float16, func() {
			amp.Autocast(amp.Off, func() {})
			if got := x.MatMul(h).DType(); got != tensor.Float16 {
				t.Errorf("got %v, want float16", got)
			}
		})
	})
	rows[14] = true
	t.Run("D14 gradients", gradientDTypes)
	for n := 1; n <= 16; n++ {
		if !rows[n] {
			t.Errorf("row D%d is missing", n)
		}
	}
}

// run computes the expression inside nested regions.
func (c dtypeCheck) run(t *testing.T, regions ...amp.Policy) {
	t.Run(fmt.Sprintf("D%d %s", c.row, strings.ReplaceAll(c.name, "/", "÷")), func(t *testing.T) {
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

// TestDTypesCPU checks torch's CPU lists: sums and softmax stay in bfloat16, losses run in
// float32, and no operation is banned.
func TestDTypesCPU(t *testing.T) {
	x := tensor.Ones(8, 8)
	b := x.BFloat16()
	for _, c := range []dtypeCheck{
		{1, "matmul", func() *tensor.Tensor { return x.MatMul(x) }, "bfloat16"},
		{5, "sum", func() *tensor.Tensor { return b.Sum() }, "bfloat16"},
		{5, "softmax", func() *tensor.Tensor { return b.Softmax(-1) }, "bfloat16"},
		{5, "exp", func() *tensor.Tensor { return b.Exp() }, "bfloat16"},
		{7, "mse_loss", func() *tensor.Tensor { return nn.MSELoss(b, b) }, "float32"},
		{8, "binary_cross_entropy", func() *tensor.Tensor { return nn.BinaryCrossEntropy(b.Sigmoid(), b.Sigmoid()) }, "float32"},
	} {
		c.run(t, amp.CPUBFloat16)
	}
}

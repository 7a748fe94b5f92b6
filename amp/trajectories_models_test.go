package amp_test

import (
	"math"

	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// learner is a model of testdata/trajectories.py with its batch; its parameters are in the same
// order.
type learner interface {
	loss(x, y *tensor.Tensor) *tensor.Tensor
	data() (x, y *tensor.Tensor)
}

// learners maps names to constructors of the models and their optimizers; the models are made after
// tensor.ManualSeed(1).
var learners = map[string]struct {
	model     func() learner
	optimizer func(p []*tensor.Tensor) *optim.Optimizer
}{
	"mlp":         {newMLP, func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 0.1) }},
	"mlp, adamw":  {newMLP, func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.01) }},
	"cnn":         {newCNN, func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 0.05, optim.Momentum(0.9)) }},
	"transformer": {newTransformer, func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.003) }},
}

// drawn returns normal numbers with variance 1/(number of inputs).
func drawn(shape ...int) *tensor.Tensor {
	inputs := 1
	for _, n := range shape[1:] {
		inputs *= n
	}
	return tensor.Randn(shape...).MulScalar(1 / math.Sqrt(float64(inputs))).RequireGrad()
}

func constant(value float64, n int) *tensor.Tensor { return tensor.Full(value, n).RequireGrad() }

func linear(out, in int) *nn.Linear {
	return &nn.Linear{Weight: drawn(out, in), Bias: constant(0, out)}
}

// integers returns 0, step, 2 step … modulo n, as int64.
func integers(step, modulo int, shape ...int) *tensor.Tensor {
	x := tensor.Zeros(shape...)
	values := make([]float64, x.Numel())
	for i := range values {
		values[i] = float64(i * step % modulo)
	}
	return tensor.NewAs(tensor.Int64, values, shape...)
}

type mlp struct {
	net  *nn.Sequential
	x, y *tensor.Tensor
}

func newMLP() learner {
	a, b, c := linear(32, 16), linear(32, 32), linear(4, 32)
	return &mlp{nn.NewSequential(a, nn.NewReLU(), b, nn.NewReLU(), c), tensor.Randn(64, 16), tensor.Randn(64, 4)}
}

func (m *mlp) data() (x, y *tensor.Tensor)             { return m.x, m.y }
func (m *mlp) loss(x, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(m.net.Forward(x), y) }

type cnn struct {
	layers [2]struct{ conv, bias, gain, offset *tensor.Tensor }
	head   *nn.Linear
	x, y   *tensor.Tensor
}

func newCNN() learner {
	m := &cnn{}
	for i, channels := range []int{3, 8} {
		l := &m.layers[i]
		l.conv, l.bias, l.gain, l.offset = drawn(8, channels, 3, 3), constant(0, 8), constant(1, 8), constant(0, 8)
	}
	m.head = linear(4, 8)
	m.x, m.y = tensor.Randn(16, 3, 8, 8), integers(1, 4, 16)
	return m
}

func (m *cnn) data() (x, y *tensor.Tensor) { return m.x, m.y }

func (m *cnn) loss(x, y *tensor.Tensor) *tensor.Tensor {
	for _, l := range m.layers {
		x = tensor.Conv2d(x, l.conv, l.bias, tensor.ConvOptions{Padding: []int{1}})
		x = tensor.BatchNorm(x, nil, nil, l.gain, l.offset, tensor.BatchNormOptions{Training: true})
		x = nn.MaxPool2d(x.ReLU(), 2)
	}
	return nn.CrossEntropy(m.head.Forward(x.Mean(2, 3)), y)
}

type transformer struct {
	words, places *tensor.Tensor
	norm1         *nn.LayerNorm
	q, k, v, out  *nn.Linear
	norm2         *nn.LayerNorm
	up, down      *nn.Linear
	norm3         *nn.LayerNorm
	head          *nn.Linear
	x, y          *tensor.Tensor
}

func newTransformer() learner {
	norm := func() *nn.LayerNorm { return nn.NewLayerNorm([]int{16}) }
	m := &transformer{words: drawn(12, 16), places: drawn(6, 16), norm1: norm(), norm2: norm(), norm3: norm()}
	m.q, m.k, m.v, m.out = linear(16, 16), linear(16, 16), linear(16, 16), linear(16, 16)
	m.up, m.down, m.head = linear(32, 16), linear(16, 32), linear(3, 16)
	m.x, m.y = integers(5, 12, 8, 6), integers(1, 3, 8)
	return m
}

func (m *transformer) data() (x, y *tensor.Tensor) { return m.x, m.y }

func (m *transformer) loss(x, y *tensor.Tensor) *tensor.Tensor {
	heads := func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(-1, 6, 2, 8).Transpose(1, 2) }
	h := tensor.Embedding(x, m.words, tensor.EmbeddingOptions{}).Add(m.places)
	n := m.norm1.Forward(h)
	q, k, v := heads(m.q.Forward(n)), heads(m.k.Forward(n)), heads(m.v.Forward(n))
	weights := q.MatMul(k.Transpose(-1, -2)).MulScalar(1 / math.Sqrt(8)).Softmax(-1)
	h = h.Add(m.out.Forward(weights.MatMul(v).Transpose(1, 2).Reshape(-1, 6, 16)))
	h = h.Add(m.down.Forward(m.up.Forward(m.norm2.Forward(h)).GELU()))
	return nn.CrossEntropy(m.head.Forward(m.norm3.Forward(h).Mean(1)), y)
}

package autograd_test

import (
	"slices"
	"sync"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/autograd"
	"halfnote/tensor/nn"
)

// cases contains every differentiable operation, at points where it is smooth.
var cases = []struct {
	name string
	f    func(a, b *tensor.Tensor) *tensor.Tensor // a and b are (2, 3)
}{
	{"abs", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Abs().Mul(a) }},
	{"add", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Mul(b).Add(b) }},
	{"add, broadcast", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Add(b.Select(0, 0).Pow(2)) }},
	{"add scalar", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.AddScalar(2).Pow(2) }},
	{"amax", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Amax(1) }},
	{"amin", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Amin() }},
	{"cast", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.To(tensor.Float64).Pow(2) }},
	{"clone", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Clone().Pow(2) }},
	{"div", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Div(b) }},
	{"div, broadcast", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Div(b.Slice(1, 1, 2)) }},
	{"erf", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Erf() }},
	{"exp", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Exp() }},
	{"expand", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Unsqueeze(1).Expand(4, 2, 5, 3) }},
	{"flatten", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.T().Flatten(0).Pow(2) }},
	{"gelu", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.GELU() }},
	{"l1_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.L1Loss(a.Pow(2), b.Pow(3)) }},
	{"linear", func(a, b *tensor.Tensor) *tensor.Tensor { return tensor.Linear(a, b, b.Sum(1)) }},
	{"linear, no bias, 3-D", func(a, b *tensor.Tensor) *tensor.Tensor { return tensor.Linear(a.Unsqueeze(1).Expand(2, 2, 3), b, nil) }},
	{"log", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Abs().Log() }},
	{"log1p", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Abs().Log1p() }},
	{"log_softmax", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.LogSoftmax(1) }},
	{"log_softmax, first", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.LogSoftmax(0) }},
	{"matmul", func(a, b *tensor.Tensor) *tensor.Tensor { return a.MatMul(b.T()) }},
	{"matmul, batches", func(a, b *tensor.Tensor) *tensor.Tensor {
		return a.Unsqueeze(0).Expand(3, 2, 3).MatMul(b.Reshape(1, 3, 2).Expand(3, 3, 2))
	}},
	{"matmul, broadcast", func(a, b *tensor.Tensor) *tensor.Tensor {
		return a.Reshape(2, 1, 1, 3).MatMul(b.Reshape(2, 3, 1))
	}},
	{"matmul, vectors", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Select(0, 0).MatMul(b.T()).MatMul(b.Select(1, 0)) }},
	{"maximum", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Maximum(b.Pow(3)) }},
	{"mean", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).Mean() }},
	{"mean, a dimension", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).KeepDim().Mean(0) }},
	{"minimum", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Minimum(b.Pow(3)) }},
	{"mse_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(a, b) }},
	{"mul", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Mul(b).Mul(a) }},
	{"mul, broadcast", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Mul(b.Sum(1).Unsqueeze(1)) }},
	{"mul scalar", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.MulScalar(3).Pow(2) }},
	{"neg", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Neg().Pow(3) }},
	{"norm", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Norm() }},
	{"norm, a dimension", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Norm(1) }},
	{"permute", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Reshape(1, 2, 3).Permute(2, 0, 1).Pow(2) }},
	{"pow", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Abs().Pow(1.7) }},
	{"pow 0", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(0).Mul(b.Pow(1)) }},
	{"reciprocal", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Reciprocal() }},
	{"relu", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.ReLU().Pow(3) }},
	{"reshape", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Reshape(3, -1).Pow(2) }},
	{"select", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Select(1, -1).Pow(2) }},
	{"sigmoid", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Sigmoid() }},
	{"slice", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Slice(1, 1, 3).Pow(2) }},
	{"softmax", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Softmax(-1) }},
	{"softmax, first", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Softmax(0) }},
	{"sqrt", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Abs().Sqrt() }},
	{"sub", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Mul(b).Sub(b) }},
	{"sum", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Sum(0, 1) }},
	{"sum, a dimension", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Sum(-1) }},
	{"tanh", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Tanh() }},
	{"where", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Step().Where(a.Pow(2), b.Pow(3)) }},
}

func operands() (a, b *tensor.Tensor) {
	return tensor.NewAs(tensor.Float64, []float64{.7, -.4, 1.3, .9, -1.1, .2}, 2, 3),
		tensor.NewAs(tensor.Float64, []float64{-.6, 1.2, .8, .3, 1.6, -.9}, 2, 3)
}

func TestDerivatives(t *testing.T) {
	var mu sync.Mutex
	seen, real := map[string]bool{}, map[string]bool{}
	stop := tensor.Observe(func(e tensor.Event) {
		mu.Lock()
		defer mu.Unlock()
		seen[e.Op.Name] = true
		real[e.Op.Name] = real[e.Op.Name] || e.Out.DType.IsFloat()
	})
	defer stop()
	share := testenv.Share(t, 3)
	for i, c := range cases {
		a, b := operands()
		f := func(in []*tensor.Tensor) *tensor.Tensor {
			// The last term makes every result depend on both operands.
			y := c.f(in[0], in[1])
			return y.Add(in[0].Mul(in[1]).Sum().MulScalar(1e-3))
		}
		t.Run(c.name, func(t *testing.T) {
			if err := autograd.GradCheck(f, a, b); err != nil {
				t.Error(err)
			}
			if i%share == 0 || c.name == "ctc_loss" { // its second derivative is a separate operation
				if err := autograd.GradGradCheck(f, a, b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, op := range tensor.Ops() {
		// A cast to the same dtype does not run an operation: TestCast in package tensor
		// checks its gradient. An alias is only made inside derivatives.
		if !seen[op.Name] && op.Name != "cast" && op.Name != "alias" {
			t.Errorf("%s: missing in the cases, such as those of pointwise_test.go", op.Name)
		}
		// Operations without a derivative whose results are real numbers.
		flat := slices.Contains([]string{"batch_norm_stats", "heaviside", "step"}, op.Name)
		if none, want := op.Saved == tensor.NoDerivative, flat || !real[op.Name]; seen[op.Name] && none != want {
			t.Errorf("%s: without a derivative: got %v, want %v", op.Name, none, want)
		}
	}
}

// wrong is an operation whose derivative is wrong by a factor.
type wrong struct{ factor float64 }

func (wrong) Info() tensor.Info                          { return tensor.Info{Name: "wrong"} }
func (wrong) Forward(in []*tensor.Tensor) *tensor.Tensor { return in[0].Pow(3) }
func (w wrong) VJP(dy, _ *tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy.Mul(in[0].Pow(2).MulScalar(3 * w.factor))}
}

func TestGradCheckFindsWrongDerivatives(t *testing.T) {
	a, _ := operands()
	for _, c := range []struct {
		factor float64
		ok     bool
	}{{1, true}, {1.001, false}, {0, false}} {
		f := func(in []*tensor.Tensor) *tensor.Tensor { return tensor.Apply(wrong{c.factor}, in...) }
		if err := autograd.GradCheck(f, a); (err == nil) != c.ok {
			t.Errorf("a derivative wrong by the factor %v: got error %v", c.factor, err)
		}
	}
	if err := autograd.GradCheck(func(in []*tensor.Tensor) *tensor.Tensor { return in[0] }, a.Float()); err == nil {
		t.Error("float32 operands: got no error")
	}
}

package apex_test

import (
	"math"
	"testing"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestCache is test_cache.py. It checks that training, evaluation without gradients and training
// again give the gradients of uncached casts.
func TestCache(t *testing.T) {
	for name, ops := range map[string]func(x, w *tensor.Tensor) *tensor.Tensor{
		"whitelist": func(x, w *tensor.Tensor) *tensor.Tensor { return x.MatMul(w).MatMul(w).Sum() },
		"blacklist": func(x, w *tensor.Tensor) *tensor.Tensor { return x.Add(w.Pow(2)).Add(w.Pow(2)).Sum() },
		"promote":   func(x, w *tensor.Tensor) *tensor.Tensor { return x.Mul(w).Mul(w).Sum() },
	} {
		for _, d := range []tensor.DType{tensor.Float16, tensor.Float32} {
			size := 2
			if name == "whitelist" {
				size = 8
			}
			m := &oneWeight{tensor.Arange(0, float64(size*8)).Reshape(size, 8).To(d).RequireGrad(), ops}
			model, opt := apex.Initialize(m, optim.NewSGD(nn.Parameters(m), 1), apex.O1.Verbosity(0).KeepModelType())
			if err := apex.LoadStateDict(opt, map[string]map[string]float64{"loss_scaler0": {"loss_scale": 4, "unskipped": 0}}); err != nil {
				t.Fatal(err)
			}
			x := tensor.Ones(2, 8)
			step := func() {
				m.Weight.SetGrad(nil)
				apex.ScaleLoss(model.Forward(x).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
				w := m.Weight.Detach().Clone().Float().RequireGrad()
				ops(x, w).Backward()
				if got := m.Weight.Grad(); got.DType() != d || !tensor.AllClose(got.Float(), w.Grad(), 1e-3, 1e-5) {
					t.Errorf("%s, %v: gradient: got %v, want %v", name, d, got, w.Grad())
				}
				tensor.NoGrad(func() { m.Weight.AddScalarAssign(-1) })
			}
			step()
			tensor.NoGrad(func() { model.Forward(x) })
			step()
		}
	}
}

type oneWeight struct {
	Weight *tensor.Tensor
	ops    func(x, w *tensor.Tensor) *tensor.Tensor
}

func (m *oneWeight) Forward(x *tensor.Tensor) *tensor.Tensor { return m.ops(x, m.Weight) }

// TestO1CacheSpansForwardCalls checks that O1 keeps casts of weights from one ScaleLoss to the next, over
// several calls of Forward, so that gradients of a weight are summed in float16. Gradients from two
// regions of Autocast are summed in float32.
func TestO1CacheSpansForwardCalls(t *testing.T) {
	l := &nn.Linear{Weight: tensor.Ones(1, 1).RequireGrad()}
	x := tensor.Full(60000, 1, 1)
	model, opt := apex.Initialize(l, optim.NewSGD(nn.Parameters(l), 1), apex.O1.LossScale(1).Verbosity(0))
	for range 2 {
		opt.ZeroGrad()
		loss := model.Forward(x).Sum().Add(model.Forward(x).Sum())
		apex.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) { scaled.Backward() })
		if g := l.Weight.Grad().Item(); !math.IsInf(g, 1) {
			t.Errorf("gradient: got %v, want +Inf, which is 120000 in float16", g)
		}
	}
	opt.ZeroGrad()
	for range 2 {
		apex.ScaleLoss(model.Forward(x).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
	}
	if g := l.Weight.Grad().Item(); g != 120000 {
		t.Errorf("gradient with a ScaleLoss in between: got %v, want 120000", g)
	}
}

// spy is an optimizer that records the policy under which its Step runs.
type spy struct {
	*optim.Optimizer
	policy amp.Policy
}

func (s *spy) Step() { s.policy = amp.Active() }

// TestStepRunsWithAutocastOff checks that an optimizer's step runs with autocast off, even in a region.
func TestStepRunsWithAutocastOff(t *testing.T) {
	l := nn.NewLinear(1, 1)
	s := &spy{Optimizer: optim.NewSGD(nn.Parameters(l), 1), policy: amp.Float16}
	_, opt := apex.Initialize(l, s, apex.O1.Verbosity(0))
	amp.Autocast(apex.Float16, opt.Step)
	if s.policy.IsEnabled() {
		t.Errorf("policy during the step: got %v, want amp.Off", s.policy)
	}
}

// TestAutocast checks that Model.Autocast applies O1's lists, and casts nothing at other levels.
func TestAutocast(t *testing.T) {
	for i, want := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.Float32, tensor.Float32} {
		l := nn.NewLinear(2, 2)
		model, _ := apex.Initialize(l, optim.NewSGD(nn.Parameters(l), 1), levels[i])
		model.Autocast(func() {
			if d := tensor.Ones(2, 2).MatMul(tensor.Ones(2, 2)).DType(); d != want {
				t.Errorf("%v: product: got %v, want %v", levels[i], d, want)
			}
		})
	}
}

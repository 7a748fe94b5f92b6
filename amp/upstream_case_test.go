package amp_test

import (
	"math"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// scalingCase holds two equal models, one trained plainly and one with a scaler, on four batches.
// The third batch gives an infinite gradient.
type scalingCase struct {
	control, scaling       nn.Module
	optControl, optScaling amp.Optimizer
	data                   []batch
	skip                   int
}

type batch struct{ input, target *tensor.Tensor }

func newModel(seed int64) nn.Module {
	g := tensor.NewGenerator(seed)
	return nn.NewSequential(nn.NewLinear(8, 8, nn.InitFrom(g)), nn.NewLinear(8, 8, nn.InitFrom(g)))
}

func newScalingCase(optimizer func([]*tensor.Tensor) amp.Optimizer) scalingCase {
	c := scalingCase{control: newModel(1), scaling: newModel(1), skip: 2}
	c.optControl, c.optScaling = optimizer(nn.Parameters(c.control)), optimizer(nn.Parameters(c.scaling))
	g := tensor.NewGenerator(2)
	for range 4 {
		c.data = append(c.data, batch{g.Randn(8, 8), g.Randn(8, 8)})
	}
	return c
}

func sgd(params []*tensor.Tensor) amp.Optimizer { return optim.NewSGD(params, 1) }

// poison makes the gradient of the second layer's weight infinite at one element.
func poison(model nn.Module) {
	nn.Parameters(model)[2].Grad().Select(0, 1).Select(0, 1).Fill(math.Inf(1))
}

// run trains one of the models, with or without the scaler's calls.
type run func(t *testing.T, c scalingCase, model nn.Module, opt amp.Optimizer, s *amp.GradScaler, scaling bool) *amp.GradScaler

// runScalingCase compares the two models, with the scaler enabled and disabled.
func runScalingCase(t *testing.T, atol float64, unskipped, skipped int, optimizer func([]*tensor.Tensor) amp.Optimizer, body run) {
	for _, enabled := range []bool{true, false} {
		c := newScalingCase(optimizer)
		s := amp.NewGradScaler(amp.InitScale(128), amp.GrowthFactor(2), amp.GrowthInterval(1), amp.ScalerEnabled(enabled))
		body(t, c, c.control, c.optControl, s, false)
		if after := body(t, c, c.scaling, c.optScaling, s, true); after != nil {
			s = after
		}
		want := 1.0
		if enabled {
			want = 128 * math.Pow(2, float64(unskipped)) * math.Pow(0.5, float64(skipped))
		}
		if got := s.CurrentScale(); got != want {
			t.Errorf("enabled %v: scale: got %v, want %v", enabled, got, want)
		}
		a, b := nn.Parameters(c.control), nn.Parameters(c.scaling)
		for i := range a {
			if !tensor.AllClose(a[i].Detach(), b[i].Detach(), 1e-5, atol) {
				t.Errorf("enabled %v: parameter %d: got %v, want %v", enabled, i, b[i], a[i])
			}
			if ga, gb := a[i].Grad(), b[i].Grad(); (ga == nil) != (gb == nil) || ga != nil && !closeOrOdd(ga, gb, 1e-5, atol) {
				t.Errorf("enabled %v: gradient %d: got %v, want %v", enabled, i, gb, ga)
			}
		}
	}
}

// closeOrOdd is AllClose, except that inf equals inf and NaN equals NaN.
func closeOrOdd(a, b *tensor.Tensor, rtol, atol float64) bool {
	x, y := a.Float64s(), b.Float64s()
	for i := range x {
		odd := x[i] != x[i] && y[i] != y[i] || x[i] == y[i]
		if !odd && !(math.Abs(x[i]-y[i]) <= atol+rtol*math.Abs(y[i])) {
			return false
		}
	}
	return true
}

// each returns a run that trains batch by batch, with or without the scaler's calls, and calls
// beforeStep between Backward and the step.
func each(policy amp.Policy, beforeStep func(c scalingCase, model nn.Module, opt amp.Optimizer, s *amp.GradScaler, scaling bool)) run {
	return func(t *testing.T, c scalingCase, model nn.Module, opt amp.Optimizer, s *amp.GradScaler, scaling bool) *amp.GradScaler {
		for i, b := range c.data {
			opt.ZeroGrad()
			var loss *tensor.Tensor
			amp.Autocast(policy.Enabled(scaling), func() { loss = nn.MSELoss(model.Forward(b.input), b.target) })
			if scaling {
				loss = s.Scale(loss)
			}
			loss.Backward()
			if i == c.skip && s.IsEnabled() {
				poison(model)
			}
			if beforeStep != nil {
				beforeStep(c, model, opt, s, scaling)
			}
			switch {
			case scaling:
				s.Step(opt)
				s.Update()
			case !s.IsEnabled() || i != c.skip:
				opt.Step()
			}
		}
		return nil
	}
}

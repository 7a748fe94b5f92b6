package amp_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// The tests TestUpstream/<name> of this file follow those of the same names in torch's test suite
// (test/test_cuda.py, later test/test_torch.py).

// notPorted maps torch's tests of the scaler without a counterpart here to the reason.
var notPorted = map[string]string{
	"test_grad_scaling_unscale_sparse":   "there are no sparse tensors",
	"test_grad_scaling_autocast_foreach": "optimizers have one implementation: there is no foreach to switch to",
}

func TestUpstream(t *testing.T) {
	for name, why := range notPorted {
		t.Logf("%s is left out: %s", name, why)
	}
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"test_grad_scaling_update_scale", updateScale},
		{"test_grad_scaling_unscale", unscaleLayouts},
		{"test_grad_scaling_state_dict", stateDict},
		{"test_grad_scaling_autocast", func(t *testing.T) {
			runScalingCase(t, 1e-3, 3, 1, sgd, each(amp.Float16, nil))
		}},
		{"test_grad_scaling_autocast_adam", func(t *testing.T) {
			adam := func(p []*tensor.Tensor) amp.Optimizer { return optim.NewAdamW(p, 1e-3) }
			runScalingCase(t, 1e-3, 3, 1, adam, each(amp.Float16, nil))
		}},
		{"test_grad_scaling_autocast_fused", func(t *testing.T) {
			for _, fused := range []func(p []*tensor.Tensor) amp.Optimizer{
				func(p []*tensor.Tensor) amp.Optimizer { return optim.NewSGD(p, 1, optim.Fused()) },
				func(p []*tensor.Tensor) amp.Optimizer { return optim.NewAdam(p, 1e-3, optim.Fused()) },
				func(p []*tensor.Tensor) amp.Optimizer { return optim.NewAdamW(p, 1e-3, optim.Fused()) },
			} {
				runScalingCase(t, 1e-3, 3, 1, fused, each(amp.Float16, nil))
			}
		}},
		{"test_grad_scaling_autocast_fused_optimizers", fusedOptimizers},
		{"test_params_invalidated_with_grads_invalidated_between_unscale_and_step", invalidated},
		{"test_grad_scale_will_not_overflow", willNotOverflow},
		{"test_grad_scaling_clipping", func(t *testing.T) {
			runScalingCase(t, 1e-5, 3, 1, sgd, each(amp.Off, func(_ scalingCase, model nn.Module, _ amp.Optimizer, s *amp.GradScaler, scaling bool) {
				limit := 0.2
				if scaling {
					limit *= s.CurrentScale()
				}
				nn.ClipGradNorm(nn.Parameters(model), limit)
			}))
		}},
		{"test_grad_scaling_clipping_separate_unscale", func(t *testing.T) {
			runScalingCase(t, 1e-7, 3, 1, sgd, each(amp.Off, func(_ scalingCase, model nn.Module, opt amp.Optimizer, s *amp.GradScaler, scaling bool) {
				if scaling {
					s.Unscale(opt)
				}
				nn.ClipGradNorm(nn.Parameters(model), 0.2)
			}))
		}},
		{"test_grad_scaling_penalty", func(t *testing.T) { runScalingCase(t, 1e-7, 3, 1, sgd, penalty) }},
		{"test_grad_scaling_accumulation", func(t *testing.T) { runScalingCase(t, 1e-7, 2, 0, sgd, accumulation) }},
		{"test_grad_scaling_multiple", multiple},
		{"test_grad_scaler_pass_itself", passItself},
	} {
		t.Run(test.name, test.run)
	}
}

func gradients(params []*tensor.Tensor) (list []*tensor.Tensor) {
	for _, p := range params {
		list = append(list, p.Grad())
	}
	return list
}

// fusedOptimizers steps a fused and a plain optimizer in turn with one scaler. Losses, gradients,
// parameters and state must be equal, whether or not Unscale is called before.
func fusedOptimizers(t *testing.T) {
	for name, maker := range optimizers {
		for _, separate := range []bool{false, true} {
			c := newScalingCase(sgd)
			plain, fused := maker(nn.Parameters(c.control)), maker(nn.Parameters(c.scaling), optim.Fused())
			s := amp.NewGradScaler(amp.InitScale(128))
			for _, b := range c.data {
				var losses [2]*tensor.Tensor
				for i, m := range []nn.Module{c.control, c.scaling} {
					opt := []*optim.Optimizer{plain, fused}[i]
					opt.ZeroGrad()
					amp.Autocast(amp.Float16, func() { losses[i] = nn.MSELoss(m.Forward(b.input), b.target) })
					s.Scale(losses[i]).Backward()
					if separate {
						s.Unscale(opt)
					}
					s.Step(opt)
					s.Update()
				}
				if !slices.Equal(losses[0].Bits(), losses[1].Bits()) || !slices.Equal(bits(c.control, plain), bits(c.scaling, fused)) {
					t.Errorf("%s, unscaled before %v: the runs differ", name, separate)
				}
				a, b := gradients(plain.Params()), gradients(fused.Params())
				for i := range a {
					if !slices.Equal(a[i].Bits(), b[i].Bits()) {
						t.Errorf("%s, unscaled before %v: gradient %d differs", name, separate, i)
					}
				}
			}
		}
	}
}

// leaf returns a parameter with a gradient.
func leaf(grad *tensor.Tensor) *tensor.Tensor {
	p := tensor.ZerosLike(grad).RequireGrad()
	p.SetGrad(grad)
	return p
}

func updateScale(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(4), amp.GrowthFactor(2), amp.BackoffFactor(0.25), amp.GrowthInterval(2))
	s.Scale(tensor.Scalar(1))
	for i, c := range []struct {
		inf     bool
		scale   float64
		tracker int
	}{{false, 4, 1}, {false, 8, 0}, {true, 2, 0}} {
		g := tensor.Ones(1)
		if c.inf {
			g.Fill(math.Inf(1))
		}
		s.Unscale(sgd([]*tensor.Tensor{leaf(g)}))
		s.Update()
		if s.CurrentScale() != c.scale || s.GrowthTracker() != c.tracker {
			t.Errorf("step %d: got scale %v and tracker %d, want %v and %d", i, s.CurrentScale(), s.GrowthTracker(), c.scale, c.tracker)
		}
	}
}

func unscaleLayouts(t *testing.T) {
	const size = 10
	fill := func() *tensor.Tensor { return tensor.Full(4, size, size) }
	for name, layout := range map[string]func() *tensor.Tensor{
		"contiguous": fill,
		"transposed": func() *tensor.Tensor { return fill().T() },
		"sliced":     func() *tensor.Tensor { return tensor.Full(4, size, 2*size).Slice(1, 3, 3+size) },
	} {
		for _, odd := range []float64{4, math.Inf(1), math.NaN()} {
			// A finite gradient precedes the non-finite one.
			g, sound := layout(), fill()
			g.Select(0, 2).Select(0, 2).Fill(odd)
			bad := fused.Unscale([]*tensor.Tensor{sound, g}, 0.25)
			if want := odd != 4; bad[0] || bad[1] != want {
				t.Errorf("%s, %v: got found %v", name, odd, bad)
			}
			if got := g.At(5, 5); got != 1 || sound.At(2, 2) != 1 {
				t.Errorf("%s, %v: got an element %v, want 1", name, odd, got)
			}
		}
	}
	half := fill().Half()
	if bad := fused.Unscale([]*tensor.Tensor{half}, 0.25); bad[0] || half.At(0, 0) != 1 {
		t.Errorf("float16: got found %v and element %v", bad, half.At(0, 0))
	}
}

func stateDict(t *testing.T) {
	for _, lazy := range []bool{true, false} {
		from := amp.NewGradScaler(amp.InitScale(3), amp.GrowthFactor(4), amp.BackoffFactor(0.5), amp.GrowthInterval(2))
		to := amp.NewGradScaler(amp.InitScale(6), amp.GrowthFactor(7), amp.BackoffFactor(0.8), amp.GrowthInterval(1))
		if !lazy {
			to.Scale(tensor.Scalar(4))
		}
		to.LoadStateDict(from.StateDict())
		got, want := to.StateDict(), map[string]float64{"scale": 3, "growth_factor": 4, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 0}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("lazy %v: got %v, want %v", lazy, got, want)
		}
	}
}

// invalidated checks that Step does not examine gradients again after Unscale.
func invalidated(t *testing.T) {
	c := newScalingCase(sgd)
	s := amp.NewGradScaler(amp.InitScale(128), amp.GrowthInterval(1))
	b := c.data[0]
	s.Scale(nn.MSELoss(c.scaling.Forward(b.input), b.target)).Backward()
	s.Unscale(c.optScaling)
	for _, p := range nn.Parameters(c.scaling) {
		p.Grad().Fill(math.NaN())
	}
	if r := s.Step(c.optScaling); r.Skipped {
		t.Error("the step was skipped")
	}
	s.Update()
	for i, p := range nn.Parameters(c.scaling) {
		if n := p.Stats().NaNs; n != p.Numel() {
			t.Errorf("parameter %d: %d of %d elements are NaN", i, n, p.Numel())
		}
	}
}

func willNotOverflow(t *testing.T) {
	p := tensor.Ones(1).RequireGrad()
	opt := sgd([]*tensor.Tensor{p})
	s := amp.NewGradScaler(amp.GrowthInterval(1), amp.GrowthFactor(16), amp.InitScale(1e38))
	s.Scale(p.Mul(tensor.Full(1e-30, 1)).Sum()).Backward()
	s.Step(opt)
	s.Update()
	if got := s.CurrentScale(); got != float64(float32(1e38)) || math.IsInf(got, 0) {
		t.Errorf("got scale %v, want no change", got)
	}
}

func penalty(t *testing.T, c scalingCase, model nn.Module, opt amp.Optimizer, s *amp.GradScaler, scaling bool) *amp.GradScaler {
	params := nn.Parameters(model)
	for i, b := range c.data {
		opt.ZeroGrad()
		loss := nn.MSELoss(model.Forward(b.input), b.target)
		from, inverse := loss, 1.0
		if scaling {
			from, inverse = s.Scale(loss), 1/s.CurrentScale()
		}
		var norm *tensor.Tensor
		for _, g := range tensor.GradGraph(from, params...) {
			if n := g.MulScalar(inverse).Pow(2).Sum(); norm == nil {
				norm = n
			} else {
				norm = norm.Add(n)
			}
		}
		loss = loss.Add(norm.Sqrt())
		if scaling {
			loss = s.Scale(loss)
		}
		loss.Backward()
		if i == c.skip && s.IsEnabled() {
			poison(model)
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

func accumulation(t *testing.T, c scalingCase, model nn.Module, opt amp.Optimizer, s *amp.GradScaler, scaling bool) *amp.GradScaler {
	const every = 2
	for i, b := range c.data {
		loss := nn.MSELoss(model.Forward(b.input), b.target).MulScalar(1. / every)
		if scaling {
			loss = s.Scale(loss)
		}
		loss.Backward()
		if (i+1)%every == 0 {
			if scaling {
				s.Step(opt)
				s.Update()
			} else {
				opt.Step()
			}
			opt.ZeroGrad()
		}
	}
	return nil
}

// multiple trains two models with two losses that depend on both, and one scaler. A non-finite
// gradient of one model must skip only that model's step.
func multiple(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		c0, c1 := newScalingCase(sgd), newScalingCase(sgd)
		s := amp.NewGradScaler(amp.InitScale(128), amp.GrowthFactor(2), amp.GrowthInterval(1), amp.ScalerEnabled(enabled))
		train := func(m0, m1 nn.Module, o0, o1 amp.Optimizer, scaling bool) {
			for i, b := range c0.data {
				o0.ZeroGrad()
				o1.ZeroGrad()
				y0, y1 := m0.Forward(b.input), m1.Forward(b.input)
				loss0 := nn.MSELoss(y0.MulScalar(0.3).Add(y1.MulScalar(0.7)), b.target)
				loss1 := nn.MSELoss(y0.MulScalar(0.6).Sub(y1.MulScalar(0.4)), b.target)
				if scaling {
					loss0, loss1 = s.Scale(loss0), s.Scale(loss1)
				}
				loss0.BackwardWith(tensor.BackwardOptions{RetainGraph: true})
				loss1.Backward()
				if i == c0.skip && enabled {
					poison(m1)
				}
				if scaling {
					s.Step(o0)
					s.Step(o1)
					s.Update()
					continue
				}
				o0.Step()
				if !enabled || i != c0.skip {
					o1.Step()
				}
			}
		}
		train(c0.control, c1.control, c0.optControl, c1.optControl, false)
		train(c0.scaling, c1.scaling, c0.optScaling, c1.optScaling, true)
		want := 1.0
		if enabled {
			want = 128 * 8 * 0.5
		}
		if got := s.CurrentScale(); got != want {
			t.Errorf("enabled %v: scale: got %v, want %v", enabled, got, want)
		}
		for j, c := range []scalingCase{c0, c1} {
			a, b := nn.Parameters(c.control), nn.Parameters(c.scaling)
			for i := range a {
				if !tensor.AllClose(a[i].Detach(), b[i].Detach(), 1e-5, 1e-7) {
					t.Errorf("enabled %v: model %d, parameter %d: got %v, want %v", enabled, j, i, b[i], a[i])
				}
			}
		}
	}
}

// passItself saves and loads the scaler in the middle of training.
func passItself(t *testing.T) {
	runScalingCase(t, 1e-7, 3, 1, sgd, func(t *testing.T, c scalingCase, model nn.Module, opt amp.Optimizer, s *amp.GradScaler, scaling bool) *amp.GradScaler {
		for i := range c.data {
			part := c
			part.data, part.skip = c.data[i:i+1], c.skip-i
			each(amp.Off, nil)(t, part, model, opt, s, scaling)
			if !scaling || !s.IsEnabled() {
				continue
			}
			var file bytes.Buffer
			if err := gob.NewEncoder(&file).Encode(s.StateDict()); err != nil {
				t.Fatal(err)
			}
			var state map[string]float64
			if err := gob.NewDecoder(&file).Decode(&state); err != nil {
				t.Fatal(err)
			}
			s = amp.NewGradScaler()
			s.LoadStateDict(state)
		}
		if !scaling {
			return nil
		}
		return s
	})
}

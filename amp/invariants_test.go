package amp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// Properties of a scaler that can be tested without reference values.

// trained trains a small net. It returns the bits of the parameters and of the loss after each step.
func trained(policy amp.Policy, s *amp.GradScaler, maker func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer) (trail []string) {
	net, g := newModel(3), tensor.NewGenerator(4)
	opt := maker(nn.Parameters(net))
	for range 6 {
		x, y := g.Randn(16, 8), g.Randn(16, 8)
		opt.ZeroGrad()
		var loss *tensor.Tensor
		if policy == amp.Off {
			loss = nn.MSELoss(net.Forward(x), y)
		} else {
			amp.Autocast(policy, func() { loss = nn.MSELoss(net.Forward(x), y) })
		}
		if loss = loss.MulScalar(1. / (1 << 12)); s == nil { // unscaled gradients vanish in float16
			loss.Backward()
			opt.Step()
		} else {
			s.Scale(loss).Backward()
			s.Step(opt)
			s.Update()
		}
		trail = append(trail, fmt.Sprint(loss.Bits(), bits(net, opt)))
	}
	return trail
}

// TestScalingPreservesBits checks that scales that are powers of two do not change the bits of a run without
// overflow or subnormal numbers, and that a disabled scaler or region does not change them either.
func TestScalingPreservesBits(t *testing.T) {
	for name, maker := range optimizers {
		plain := trained(amp.Off, nil, maker)
		half := trained(amp.Float16, amp.NewGradScaler(amp.StaticScale(1<<16)), maker)
		if slices.Equal(plain, half) {
			t.Errorf("%s: the float16 run equals the float32 one; the comparison is meaningless", name)
		}
		for what, run := range map[string]struct{ got, want []string }{
			"disabled scaler":                 {trained(amp.Off, amp.NewGradScaler(amp.ScalerEnabled(false)), maker), plain},
			"disabled region":                 {trained(amp.Float16.Enabled(false), nil, maker), plain},
			"disabled region and scaler":      {trained(amp.BFloat16.Enabled(false), amp.NewGradScaler(amp.ScalerEnabled(false)), maker), plain},
			"scale 1":                         {trained(amp.Off, amp.NewGradScaler(amp.InitScale(1)), maker), plain},
			"scale 2^-20":                     {trained(amp.Off, amp.NewGradScaler(amp.InitScale(1./(1<<20))), maker), plain},
			"scale 2^16":                      {trained(amp.Off, amp.NewGradScaler(), maker), plain},
			"scale 2^60, growing":             {trained(amp.Off, amp.NewGradScaler(amp.InitScale(1<<60), amp.GrowthInterval(1)), maker), plain},
			"scale 2^18 in float16, not 2^16": {trained(amp.Float16, amp.NewGradScaler(amp.InitScale(1<<18)), maker), half},
			"scale 2^15 growing in float16":   {trained(amp.Float16, amp.NewGradScaler(amp.InitScale(1<<15), amp.GrowthInterval(1)), maker), half},
		} {
			if !slices.Equal(run.got, run.want) {
				t.Errorf("%s, %s: the bits differ", name, what)
			}
		}
	}
	if slices.Equal(trained(amp.Float16, nil, optimizers["sgd"]), trained(amp.Float16, amp.NewGradScaler(amp.StaticScale(1<<16)), optimizers["sgd"])) {
		t.Error("gradients do not vanish without a scaler; the comparison is meaningless")
	}
}

// TestUnscaleInvertsScale checks that Unscale restores the bits of gradients without Scale.
func TestUnscaleInvertsScale(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float64} {
		for _, power := range []int{-30, -1, 0, 1, 16, 40} {
			g := tensor.NewGenerator(int64(power)).Randn(1000).To(d)
			p := tensor.ZerosLike(g).RequireGrad()
			opt := &params{list: []*tensor.Tensor{p}}
			s := amp.NewGradScaler(amp.InitScale(math.Ldexp(1, power)))
			p.SetGrad(s.Scale(g).Clone())
			s.Unscale(opt)
			if !slices.Equal(p.Grad().Bits(), g.Bits()) {
				t.Errorf("%v, 2^%d: the bits differ", d, power)
			}
		}
	}
}

// TestSkippedStepChangesNothing checks that a skipped step changes neither the weights nor the optimizer's
// state, including its count of steps, and that it names the parameter with the non-finite gradient.
func TestSkippedStepChangesNothing(t *testing.T) {
	all := map[string]func(p []*tensor.Tensor) *optim.Optimizer{
		"rmsprop": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewRMSprop(p, 0.1, optim.Momentum(0.5)) },
		"nadam":   func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewNAdam(p, 0.1) },
	}
	for name, maker := range optimizers {
		all[name] = func(p []*tensor.Tensor) *optim.Optimizer { return maker(p) }
		all[name+", fused"] = func(p []*tensor.Tensor) *optim.Optimizer { return maker(p, optim.Fused()) }
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, make := range all {
		t.Run(name, func(t *testing.T) {
			net, g := newModel(5), tensor.NewGenerator(6)
			list := nn.Parameters(net)
			opt := make(list)
			s := amp.NewGradScaler(amp.InitScale(64), amp.ParamNames(net))
			step := func(spoil func()) amp.StepResult {
				opt.ZeroGrad()
				s.Scale(net.Forward(g.Randn(4, 8)).Pow(2).Mean()).Backward()
				spoil()
				result := s.Step(opt)
				s.Update()
				return result
			}
			for range 3 {
				step(func() {})
			}
			for _, bad := range []float64{inf, -inf, math.NaN()} {
				before := bits(net, opt)
				at := r.IntN(len(list))
				result := step(func() {
					grad := list[at].Grad().Reshape(-1)
					grad.Select(0, r.IntN(grad.Numel())).Fill(bad)
				})
				if !result.Skipped || result.FirstBadParam != at {
					t.Errorf("%v in parameter %d: got %v, parameter %d", bad, at, result, result.FirstBadParam)
				}
				if !slices.Equal(bits(net, opt), before) {
					t.Errorf("%v in parameter %d: a skipped step changed weights or state", bad, at)
				}
			}
			before := bits(net, opt)
			if step(func() {}); slices.Equal(bits(net, opt), before) {
				t.Error("a clean step changed nothing; the comparison is meaningless")
			}
		})
	}
}

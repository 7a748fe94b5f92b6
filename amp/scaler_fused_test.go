package amp_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// bits returns the bits of a model's parameters and of its optimizer's state.
func bits(model any, opt *optim.Optimizer) []uint64 {
	var out []uint64
	for _, p := range nn.Parameters(model) {
		out = append(out, p.Detach().Bits()...)
	}
	state := opt.StateDict()
	for _, name := range slices.Sorted(maps.Keys(state)) {
		switch v := state[name].(type) {
		case *tensor.Tensor:
			out = append(out, v.Bits()...)
		case float64:
			out = append(out, uint64(v))
		}
	}
	return out
}

// optimizers lists the optimizers that can be fused.
var optimizers = map[string]func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer{
	"sgd": func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer {
		return optim.NewSGD(p, 0.1, options...)
	},
	"momentum": func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer {
		return optim.NewSGD(p, 0.1, append(options, optim.Momentum(0.9), optim.Nesterov(), optim.WeightDecay(0.01))...)
	},
	"adam": func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer {
		return optim.NewAdam(p, 0.01, options...)
	},
	"adamw": func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer {
		return optim.NewAdamW(p, 0.01, append(options, optim.AMSGrad())...)
	},
}

// TestFusedEqualsPlain checks that a fused and a plain optimizer give the same bits, skips and
// scales if scales are powers of two. They differ only in the gradients of a skipped step: unscaled
// with the plain optimizer, scaled with the fused one.
func TestFusedEqualsPlain(t *testing.T) {
	x, y := tensor.NewGenerator(1).Randn(16, 8), tensor.NewGenerator(2).Randn(16, 8)
	for name, maker := range optimizers {
		t.Run(name, func(t *testing.T) {
			var trail [2][]string
			for i, options := range [][]optim.Option{nil, {optim.Fused()}} {
				net := newModel(3)
				opt := maker(nn.Parameters(net), options...)
				s := amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(3))
				for k := range 12 {
					opt.ZeroGrad()
					var loss *tensor.Tensor
					amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
					s.Scale(loss).Backward()
					if k == 0 || k == 5 || k == 6 {
						poison(net)
					}
					if k%4 == 3 {
						s.Unscale(opt)
						nn.ClipGradNorm(nn.Parameters(net), 0.5)
					}
					sound := nn.Parameters(net)[1].Grad()
					before := sound.Bits()
					r := s.Step(opt)
					if fused := i == 1; r.Skipped && slices.Equal(before, sound.Bits()) != fused {
						t.Errorf("step %d, fused %v: gradients of a skipped step: got %v before and %v after", k, fused, before, sound.Bits())
					}
					s.Update()
					trail[i] = append(trail[i], fmt.Sprint(r, s.CurrentScale(), bits(net, opt)))
				}
			}
			for k := range trail[0] {
				if trail[0][k] != trail[1][k] {
					t.Fatalf("step %d: got %.200s when plain and %.200s when fused, want equal", k, trail[0][k], trail[1][k])
				}
			}
		})
	}
}

// TestFusedContract checks that a user's optimizer with the methods of FusedOptimizer receives the scale and
// the flag of non-finite gradients, and is called even for a skipped step.
func TestFusedContract(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(4))
	s.Scale(tensor.Scalar(1))
	opt := &contract{params: params{list: []*tensor.Tensor{weight(8)}}}
	s.Step(opt)
	s.Update()
	s.Unscale(opt)
	s.Step(opt)
	s.Update()
	opt.list[0].SetGrad(tensor.New([]float64{inf}, 1))
	if r := s.Step(opt); !r.Skipped || r.FirstBadParam != 0 {
		t.Errorf("got %v, want a skip", r)
	}
	if got, want := fmt.Sprint(opt.calls), "[scale 4 found 0 scale nil found 0 scale 4 found 1]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	opt.plain = true
	s.Update()
	opt.list[0].SetGrad(tensor.Ones(1))
	s.Step(opt)
	if len(opt.calls) != 3 || opt.steps != 1 {
		t.Errorf("an optimizer that is not fused: got calls %v and %d plain steps", opt.calls, opt.steps)
	}
}

type contract struct {
	params
	plain bool
	calls []string
}

func (c *contract) Fused() bool { return !c.plain }

func (c *contract) StepScaled(scale, found *tensor.Tensor) {
	text := "nil"
	if scale != nil {
		text = fmt.Sprint(scale.Item())
	}
	c.calls = append(c.calls, fmt.Sprintf("scale %s found %v", text, found.Item()))
}

//go:build cuda && linux && cgo

package cuda_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/cuda/internal/fake"
	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// scaling holds the loss scale of a training run, in GPU memory or on the CPU.
type scaling struct {
	plumbing.ScaleSettings
	state            *tensor.Tensor // scale, inverse, clean steps, overflows
	scale            float32
	clean, overflows int
	waits            bool
}

func newScaling(waits bool) *scaling {
	s := &scaling{ScaleSettings: plumbing.ScaleSettings{Growth: 2, Backoff: 0.25, Interval: 3, Hysteresis: 1, Most: float32(math.Inf(1))}, scale: 1 << 20, waits: waits}
	s.state = tensor.New([]float64{1 << 20, 0x1p-20, 0, 0}, 4).ToDevice(tensor.CUDA)
	return s
}

// of returns the scaled loss.
func (s *scaling) of(loss *tensor.Tensor) *tensor.Tensor {
	if s.waits {
		return loss.Mul(tensor.Scalar(float64(s.scale)).ToDevice(tensor.CUDA))
	}
	return loss.Mul(s.state.Select(0, 0))
}

// step steps opt unless a gradient is non-finite, and updates the scale.
func (s *scaling) step(opt *optim.Optimizer) {
	var grads []*tensor.Tensor
	for _, p := range opt.Params() {
		if g := p.Grad(); g != nil {
			grads = append(grads, g)
		}
	}
	if !s.waits {
		found := fused.UnscaleFlagsBy(grads, s.state.Select(0, 1))
		opt.StepUnless(found)
		fused.UpdateScale(s.state, found, s.ScaleSettings)
		return
	}
	if !slices.Contains(fused.Unscale(grads, float64(float32(1/float64(s.scale)))), true) {
		opt.Step()
		if s.clean++; s.clean == s.Interval {
			s.clean, s.overflows = 0, 0
			s.scale = float32(float64(s.scale) * s.Growth)
		}
		return
	}
	s.clean, s.overflows = 0, s.overflows+1
	s.scale = float32(float64(s.scale) * s.Backoff)
}

// guardedOptimizers constructs optimizers with various settings, some of them in a second group.
var guardedOptimizers = map[string]func(body, head []*tensor.Tensor) *optim.Optimizer{
	"SGD": func(body, head []*tensor.Tensor) *optim.Optimizer {
		return optim.NewSGD(body, 0.05).AddGroup(head, optim.LR(0.01))
	},
	"SGD, nesterov": func(body, head []*tensor.Tensor) *optim.Optimizer {
		return optim.NewSGD(body, 0.05, optim.Momentum(0.9), optim.Nesterov(), optim.WeightDecay(1e-2)).AddGroup(head, optim.WeightDecay(0))
	},
	"SGD, dampening": func(body, head []*tensor.Tensor) *optim.Optimizer {
		return optim.NewSGD(body, 0.05, optim.Momentum(0.9), optim.Dampening(0.3), optim.Maximize()).AddGroup(head)
	},
	"Adam": func(body, head []*tensor.Tensor) *optim.Optimizer {
		return optim.NewAdam(body, 1e-2, optim.WeightDecay(1e-2)).AddGroup(head, optim.Betas(0.8, 0.99))
	},
	"AdamW": func(body, head []*tensor.Tensor) *optim.Optimizer {
		return optim.NewAdamW(body, 1e-2).AddGroup(head, optim.WeightDecay(0))
	},
}

// guardedRun trains a network with float16 autocast and additional parameters of other dtypes,
// whose synthetic gradients are infinite in some steps and absent in others. It returns the bits
// of parameters and scales after each step, and the number of waits after the first step.
func guardedRun(t *testing.T, name string, waits bool, steps int) (bits []uint64, state map[string]any, syncs int) {
	s := newSubject("mlp", tensor.CUDA)
	head := []*tensor.Tensor{numbers(40).To(tensor.Float64).Detach().RequireGrad(), numbers(9).MulScalar(0.1).Detach().RequireGrad()}
	if name[0] == 'S' {
		head = append(head, numbers(77).To(tensor.Float16).Detach().RequireGrad(), numbers(1000).To(tensor.BFloat16).Detach().RequireGrad())
	}
	tensor.ManualSeed(3)
	made := make([][]*tensor.Tensor, steps) // gradients of head
	for i := range made {
		for j, p := range head {
			g := tensor.Randn(p.Shape()...).MulScalar(100)
			if i%7 == 3 && j == i%len(head) {
				g = g.MulScalar(math.Inf(1))
			}
			made[i] = append(made[i], g.To(p.DType()).ToDevice(tensor.CUDA))
		}
	}
	opt := guardedOptimizers[name](nn.Parameters(s.net), head)
	scaling := newScaling(waits)
	var seen []*tensor.Tensor
	for i := range steps {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = s.loss(s.net.Forward(s.x), s.y) })
		scaling.of(loss).Backward()
		for j, p := range head {
			if (i+j)%5 != 4 {
				p.SetGrad(made[i][j])
			}
		}
		if i == steps/2 {
			opt.SetLR(0.02)
		}
		scaling.step(opt)
		if i == 0 {
			tensor.CUDA.Synchronize()
			syncs = -fake.Syncs()
		}
		for _, p := range opt.Params() {
			seen = append(seen, p.Detach().Clone())
		}
		if waits {
			seen = append(seen, tensor.Scalar(float64(scaling.scale)))
		} else {
			seen = append(seen, scaling.state.Select(0, 0).Clone())
		}
	}
	syncs += fake.Syncs()
	for _, x := range seen {
		bits = append(bits, x.Bits()...)
	}
	return bits, opt.StateDict(), syncs
}

// TestGuardedSteps compares steps that the GPU decides on with steps that wait for the check for
// non-finite gradients. All bits are equal, and the former do not wait.
func TestGuardedSteps(t *testing.T) {
	fake.Use(t, fake.Options{Queue: 1 << 20}) // work runs only when waited for
	defer fake.Use(t, fake.Options{})
	const steps = 16
	for name := range guardedOptimizers {
		t.Run(name, func(t *testing.T) {
			want, wantState, _ := guardedRun(t, name, true, steps)
			got, gotState, syncs := guardedRun(t, name, false, steps)
			if !slices.Equal(got, want) {
				t.Error("bits of parameters or scales differ from those of steps that wait")
			}
			if !fake.Real() && syncs != 0 {
				t.Errorf("got %d waits in %d steps, want none", syncs, steps-1)
			}
			sameState(t, gotState, wantState)
		})
	}
}

// sameState compares optimizer states.
func sameState(t *testing.T, got, want map[string]any) {
	t.Helper()
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Fatalf("got state keys %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for key, w := range want {
		g := got[key]
		if x, ok := w.(*tensor.Tensor); ok {
			if !slices.Equal(g.(*tensor.Tensor).Bits(), x.Bits()) {
				t.Errorf("%s: bits differ", key)
			}
		} else if g != w {
			t.Errorf("%s: got %v, want %v", key, g, w)
		}
	}
}

// TestGuardedBetweenPlainSteps alternates plain and guarded steps, with changes of groups and a
// loaded state in between, and compares bits with plain steps alone.
func TestGuardedBetweenPlainSteps(t *testing.T) {
	flags := [2]*tensor.Tensor{zeros(3), numbers(3)}
	for name, maker := range guardedOptimizers {
		run := func(guarded bool) (all []uint64, state map[string]any) {
			params := []*tensor.Tensor{numbers(5).RequireGrad(), numbers(7).RequireGrad(), numbers(3).RequireGrad()}
			opt := maker(params[:1], params[1:2])
			step := func(plain, skip bool) {
				for i, p := range params {
					p.SetGrad(numbers(p.Numel()).AddScalar(float64(len(all) - 3*i)))
				}
				switch {
				case plain:
					opt.Step()
				case guarded && skip:
					opt.StepUnless(flags[1])
				case guarded:
					opt.StepUnless(flags[0])
				case !skip:
					opt.Step()
				}
				for _, p := range params {
					all = append(all, p.Detach().Bits()...)
				}
			}
			for i := range 12 {
				switch i {
				case 5:
					opt.AddGroup(params[2:])
				case 8:
					state := maps.Clone(opt.StateDict())
					for key, x := range state {
						if x, ok := x.(*tensor.Tensor); ok {
							state[key] = x.Clone()
						}
					}
					step(false, false)
					if err := opt.LoadStateDict(state); err != nil {
						t.Fatal(err)
					}
				case 10:
					for _, g := range opt.Groups() {
						g.Momentum = 0.5
					}
				}
				step(i == 3 || i == 9, i == 0 || i == 6)
			}
			return all, opt.StateDict()
		}
		want, wantState := run(false)
		got, gotState := run(true)
		if !slices.Equal(got, want) {
			t.Errorf("%s: bits differ from those of plain steps", name)
		}
		sameState(t, gotState, wantState)
	}
}

// TestUpdateScaleMatchesCPU compares updates of the loss scale with the CPU's.
func TestUpdateScaleMatchesCPU(t *testing.T) {
	s := plumbing.ScaleSettings{Growth: 3, Backoff: 0.3, Interval: 2, Hysteresis: 2, Least: 1, Most: 1e6}
	cpu := tensor.New([]float64{1000, 1e-3, 0, 0}, 4)
	gpu := cpu.ToDevice(tensor.CUDA)
	for i := range 60 {
		found := tensor.Zeros(2, 3)
		if i*i%7 == 2 {
			found = tensor.Ones(2, 3)
		}
		s.Static = i%10 == 9
		fused.UpdateScale(cpu, found, s)
		fused.UpdateScale(gpu, found.ToDevice(tensor.CUDA).T(), s)
		if !slices.Equal(cpu.Bits(), gpu.Bits()) {
			t.Fatalf("step %d: got %v, want %v", i, gpu.Float64s(), cpu.Float64s())
		}
	}
}

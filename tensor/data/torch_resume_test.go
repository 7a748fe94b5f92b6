package data_test

import (
	"math"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// torchOptimizers and torchSchedulers are those of testdata/torch_resume.py.
var torchOptimizers = map[string]func(p []*tensor.Tensor) *optim.Optimizer{
	"SGD": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 0.05) },
	"SGD, momentum": func(p []*tensor.Tensor) *optim.Optimizer {
		return optim.NewSGD(p, 0.05, optim.Momentum(0.9), optim.Nesterov(), optim.WeightDecay(0.01))
	},
	"Adam": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdam(p, 0.01) },
	"Adam, amsgrad": func(p []*tensor.Tensor) *optim.Optimizer {
		return optim.NewAdam(p, 0.01, optim.AMSGrad(), optim.WeightDecay(0.1))
	},
	// The settings come from the file: those of the constructor are others.
	"AdamW":              func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.5) },
	"AdamW, other betas": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.01) },
	"Adamax":             func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamax(p, 0.01) },
	"NAdam":              func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewNAdam(p, 0.01) },
	"RAdam":              func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewRAdam(p, 0.01) },
	"RMSprop":            func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewRMSprop(p, 0.01) },
	"Adagrad":            func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdagrad(p, 0.05) },
	"Adadelta":           func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdadelta(p, 1) },
	"ASGD":               func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewASGD(p, 0.05) },
	"Rprop":              func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewRprop(p, 0.01) },
	"Adafactor":          func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdafactor(p, 0.05) },
}

// scheduler is what schedulers have in common here.
type scheduler interface {
	LoadStateDict(state map[string]float64) error
}

var torchSchedulers = map[string]func(o *optim.Optimizer) scheduler{
	"StepLR":            func(o *optim.Optimizer) scheduler { return optim.NewStepLR(o, 4, 0.5) },
	"MultiStepLR":       func(o *optim.Optimizer) scheduler { return optim.NewMultiStepLR(o, []int{3, 9, 12}, 0.3) },
	"ExponentialLR":     func(o *optim.Optimizer) scheduler { return optim.NewExponentialLR(o, 0.95) },
	"ConstantLR":        func(o *optim.Optimizer) scheduler { return optim.NewConstantLR(o, 0.5, 9) },
	"LinearLR":          func(o *optim.Optimizer) scheduler { return optim.NewLinearLR(o, 0.25, 1, 12) },
	"PolynomialLR":      func(o *optim.Optimizer) scheduler { return optim.NewPolynomialLR(o, 30, 2) },
	"CosineAnnealingLR": func(o *optim.Optimizer) scheduler { return optim.NewCosineAnnealingLR(o, 10, 0.001) },
	"CosineAnnealingWarmRestarts": func(o *optim.Optimizer) scheduler {
		return optim.NewCosineAnnealingWarmRestarts(o, 5, 2, 0.001)
	},
	"OneCycleLR": func(o *optim.Optimizer) scheduler { return optim.NewOneCycleLR(o, 0.1, 40, optim.OneCycleOptions{}) },
	"CyclicLR": func(o *optim.Optimizer) scheduler {
		return optim.NewCyclicLR(o, 0.01, 0.1, optim.CycleOptions{Up: 5, FixedMomentum: true})
	},
	"SequentialLR": func(o *optim.Optimizer) scheduler {
		return optim.NewSequentialLR([]*optim.Scheduler{optim.NewLinearLR(o, 0.1, 1, 4), optim.NewExponentialLR(o, 0.9)}, []int{4})
	},
	"ChainedScheduler": func(o *optim.Optimizer) scheduler {
		return optim.NewChainedScheduler(optim.NewConstantLR(o, 0.1, 3), optim.NewExponentialLR(o, 0.95))
	},
	"ReduceLROnPlateau": func(o *optim.Optimizer) scheduler {
		return optim.NewReduceLROnPlateau(o, optim.ReduceLROnPlateauOptions{Factor: 0.5, Patience: 2, Threshold: 0.1})
	},
	"LambdaLR": func(o *optim.Optimizer) scheduler {
		return optim.NewLambdaLR(o, func(epoch int) float64 { return 1 / (1 + float64(epoch)) })
	},
}

// resumed is the content of testdata/torch_resume.json, made by torch_resume.py.
type resumed struct {
	X, Y  []float64
	Cases []struct {
		Optimizer, Scheduler   string
		Half                   bool
		File                   []byte
		Losses, Rates, Weights []float64
		Scale                  float64
	}
	LBFGS []struct {
		Name            string
		File            []byte
		Losses, Weights []float64
	}
}

// near reports whether all of got are within share of want, relative to the larger of 1e-3 and want.
func near(got, want []float64, share float64) bool {
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= share*max(math.Abs(want[i]), 1e-3)) {
			return false
		}
	}
	return len(got) == len(want)
}

// TestResumeFromTorch loads PyTorch's checkpoints of a run after 7 steps, with weights, optimizer, scaler and scheduler, and compares
// 20 more steps with PyTorch's.
func TestResumeFromTorch(t *testing.T) {
	var golden resumed
	readJSON(t, "torch_resume.json", &golden)
	x, y := tensor.New(golden.X, 16, 6), tensor.New(golden.Y, 16, 3)
	ran := map[string]bool{}
	for _, c := range golden.Cases {
		name := c.Optimizer + " " + c.Scheduler
		ran[c.Optimizer], ran[c.Scheduler] = true, true
		state, err := data.Load(file(t, "x.pt", c.File))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first, last := nn.NewLinear(6, 8), nn.NewLinear(8, 3)
		net := nn.NewSequential(first, nn.NewTanh(), last)
		opt := torchOptimizers[c.Optimizer](nn.Parameters(first)).AddGroup(nn.Parameters(last))
		var sched scheduler
		if c.Scheduler != "" {
			sched = torchSchedulers[c.Scheduler](opt)
		}
		scaler := amp.NewGradScaler(amp.ScalerEnabled(c.Half))
		weights, err := data.StateDict(state["model"])
		if err == nil {
			err = nn.LoadStateDict(net, weights)
		}
		if err == nil {
			err = opt.LoadStateDict(state["optimizer"].(map[string]any))
		}
		if err == nil && sched != nil {
			var numbers map[string]float64
			if numbers, err = data.Numbers(state["scheduler"]); err == nil {
				err = sched.LoadStateDict(numbers)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		numbers, err := data.Numbers(state["scaler"])
		if err != nil {
			t.Fatal(err)
		}
		scaler.LoadStateDict(numbers)
		policy := amp.Off
		share := 2e-5
		if c.Half {
			policy, share = amp.CPUBFloat16, 2e-2
		}
		var losses []float64
		for range c.Losses {
			opt.ZeroGrad()
			var loss *tensor.Tensor
			amp.Autocast(policy, func() { loss = net.Forward(x).Float().Sub(y).Square().Mean() })
			scaler.Scale(loss).Backward()
			scaler.Step(opt)
			scaler.Update()
			switch s := sched.(type) {
			case *optim.Scheduler:
				s.Step()
			case *optim.ReduceLROnPlateau:
				s.Step(loss.Item())
			}
			losses = append(losses, loss.Item())
		}
		var rates, after []float64
		for _, g := range opt.Groups() {
			rates = append(rates, g.LR)
		}
		for _, p := range nn.Parameters(net) {
			after = append(after, p.Detach().Float64s()...)
		}
		if !near(losses, c.Losses, share) || !near(rates, c.Rates, 1e-9) || !c.Half && !near(after, c.Weights, 1e-3) || c.Half && scaler.CurrentScale() != c.Scale {
			t.Errorf("%s, half %v: got losses %v, rates %v, scale %v\nwant %v, %v, %v", name, c.Half, losses, rates, scaler.CurrentScale(), c.Losses, c.Rates, c.Scale)
		}
	}
	for name := range torchOptimizers {
		if !ran[name] {
			t.Errorf("no case has the optimizer %s", name)
		}
	}
	for name := range torchSchedulers {
		if !ran[name] {
			t.Errorf("no case has the scheduler %s", name)
		}
	}
	for _, c := range golden.LBFGS {
		state, err := data.Load(file(t, "x.pt", c.File))
		if err != nil {
			t.Fatal(err)
		}
		weights, err := data.StateDict(state["model"])
		if err != nil {
			t.Fatal(err)
		}
		w := weights["weight"].Clone().RequireGrad()
		opt := optim.NewLBFGS([]*tensor.Tensor{w}, 0.1, optim.LBFGSOptions{Iterations: 4, StrongWolfe: c.Name == "strong wolfe"})
		if err := opt.LoadStateDict(state["optimizer"].(map[string]any)); err != nil {
			t.Errorf("LBFGS, %s: %v", c.Name, err)
			continue
		}
		var losses []float64
		for range c.Losses {
			losses = append(losses, opt.StepWith(func() *tensor.Tensor {
				opt.ZeroGrad()
				loss := w.Mul(tensor.New([]float64{1, 4, 9}, 3)).Mul(w).Sum().Add(w.Square().Square().Sum().MulScalar(1.0 / 8))
				loss.Backward()
				return loss
			}).Item())
		}
		if !near(losses, c.Losses, 1e-3) {
			t.Errorf("LBFGS, %s: got losses %v, want %v", c.Name, losses, c.Losses)
		}
	}
}

// TestResumeErrors checks what is said of states that do not belong to the optimizer or the scheduler.
func TestResumeErrors(t *testing.T) {
	group := func(more map[string]any) map[string]any {
		g := map[string]any{"lr": 0.1, "params": []any{0, 1}}
		for name, v := range more {
			g[name] = v
		}
		return g
	}
	net := nn.NewLinear(2, 1)
	for want, state := range map[string]map[string]any{
		"param_groups.0.momentum is unknown to this optimizer": {"param_groups": []any{group(map[string]any{"momentum": 0.9})}, "state": map[string]any{}},
		"param_groups.0.params is 3, want 2":                   {"param_groups": []any{group(map[string]any{"params": []any{0, 1, 2}})}, "state": map[string]any{}},
		"param_groups.1.params is unknown":                     {"param_groups": []any{group(nil), group(nil)}, "state": map[string]any{}},
		"state of parameter 7, which is in no group":           {"param_groups": []any{group(nil)}, "state": map[string]any{"7": map[string]any{"step": 1}}},
		"state.0.exp_avg has shape (3,), want (1, 2)":          {"param_groups": []any{group(nil)}, "state": map[string]any{"0": map[string]any{"exp_avg": tensor.Ones(3)}}},
		"param_groups.0.lr is fast":                            {"param_groups": []any{group(map[string]any{"lr": "fast"})}, "state": map[string]any{}},
	} {
		opt := optim.NewAdam(nn.Parameters(net), 0.2)
		if err := opt.LoadStateDict(state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
		if opt.LR() != 0.2 {
			t.Errorf("%s: the learning rate changed to %v", want, opt.LR())
		}
	}
	opt := optim.NewAdam(nn.Parameters(net), 0.2)
	for want, load := range map[string]func() error{
		"gamma is 0.5, this scheduler's is 0.1": func() error {
			return optim.NewStepLR(opt, 4, 0.1).LoadStateDict(map[string]float64{"gamma": 0.5, "step_size": 4, "last_epoch": 2, "_step_count": 3})
		},
		"milestones.9 is not this scheduler's": func() error {
			return optim.NewMultiStepLR(opt, []int{4}, 0.1).LoadStateDict(map[string]float64{"gamma": 0.1, "milestones.4": 1, "milestones.9": 1, "last_epoch": 2, "_step_count": 3})
		},
		"patience is 5, this scheduler's is 10": func() error {
			return optim.NewReduceLROnPlateau(opt, optim.ReduceLROnPlateauOptions{}).LoadStateDict(map[string]float64{"patience": 5, "best": 1, "last_epoch": 2, "_last_lr.0": 3})
		},
		"last_epoch is missing": func() error {
			return optim.NewStepLR(opt, 4, 0.1).LoadStateDict(map[string]float64{"_step_count": 3})
		},
		"found int; want a map of numbers": func() error { _, err := data.Numbers(5); return err },
	} {
		if err := load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

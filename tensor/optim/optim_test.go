package optim_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

type T = *tensor.Tensor

// makers maps the cases of testdata/steps.py to their optimizers.
var makers = map[string]func(p []T) *optim.Optimizer{
	"sgd":           func(p []T) *optim.Optimizer { return optim.NewSGD(p, 0.1) },
	"sgd, momentum": func(p []T) *optim.Optimizer { return optim.NewSGD(p, 0.1, optim.Momentum(0.9)) },
	"sgd, momentum, dampening": func(p []T) *optim.Optimizer {
		return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Dampening(0.3))
	},
	"sgd, momentum, decay": func(p []T) *optim.Optimizer {
		return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.WeightDecay(0.05))
	},
	"sgd, nesterov": func(p []T) *optim.Optimizer { return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Nesterov()) },
	"sgd, decay":    func(p []T) *optim.Optimizer { return optim.NewSGD(p, 0.1, optim.WeightDecay(0.05)) },
	"sgd, maximize": func(p []T) *optim.Optimizer {
		return optim.NewSGD(p, 0.1, optim.Momentum(0.5), optim.WeightDecay(0.05), optim.Maximize())
	},
	"adam": func(p []T) *optim.Optimizer { return optim.NewAdam(p, 0.01) },
	"adam, decay": func(p []T) *optim.Optimizer {
		return optim.NewAdam(p, 0.01, optim.Betas(0.8, 0.95), optim.Eps(1e-4), optim.WeightDecay(0.1))
	},
	"adam, amsgrad, maximize": func(p []T) *optim.Optimizer {
		return optim.NewAdam(p, 0.01, optim.Betas(0.8, 0.5), optim.AMSGrad(), optim.Maximize())
	},
	"adamw": func(p []T) *optim.Optimizer { return optim.NewAdamW(p, 0.01) },
	"adamw, amsgrad": func(p []T) *optim.Optimizer {
		return optim.NewAdamW(p, 0.01, optim.Betas(0.8, 0.5), optim.Eps(1e-4), optim.WeightDecay(0.1), optim.AMSGrad())
	},
	"rmsprop": func(p []T) *optim.Optimizer { return optim.NewRMSprop(p, 0.01) },
	"rmsprop, momentum": func(p []T) *optim.Optimizer {
		return optim.NewRMSprop(p, 0.01, optim.Alpha(0.9), optim.Eps(1e-4), optim.Momentum(0.9), optim.WeightDecay(0.05))
	},
	"rmsprop, centered": func(p []T) *optim.Optimizer {
		return optim.NewRMSprop(p, 0.01, optim.Alpha(0.9), optim.Eps(1e-2), optim.Centered(), optim.Momentum(0.5), optim.Maximize())
	},
	"adagrad": func(p []T) *optim.Optimizer { return optim.NewAdagrad(p, 0.1) },
	"adagrad, decay": func(p []T) *optim.Optimizer {
		return optim.NewAdagrad(p, 0.1, optim.LRDecay(0.1), optim.WeightDecay(0.05), optim.InitialSum(0.5), optim.Eps(1e-4), optim.Maximize())
	},
	"adadelta": func(p []T) *optim.Optimizer { return optim.NewAdadelta(p, 1) },
	"adadelta, decay": func(p []T) *optim.Optimizer {
		return optim.NewAdadelta(p, 0.5, optim.Rho(0.8), optim.Eps(1e-4), optim.WeightDecay(0.05), optim.Maximize())
	},
	"adamax": func(p []T) *optim.Optimizer { return optim.NewAdamax(p, 0.01) },
	"adamax, decay": func(p []T) *optim.Optimizer {
		return optim.NewAdamax(p, 0.01, optim.Betas(0.8, 0.95), optim.Eps(1e-4), optim.WeightDecay(0.05), optim.Maximize())
	},
	"nadam": func(p []T) *optim.Optimizer { return optim.NewNAdam(p, 0.01) },
	"nadam, decoupled": func(p []T) *optim.Optimizer {
		return optim.NewNAdam(p, 0.01, optim.Betas(0.8, 0.95), optim.Eps(1e-4), optim.WeightDecay(0.1), optim.MomentumDecay(0.01), optim.Decoupled())
	},
	"nadam, decay": func(p []T) *optim.Optimizer {
		return optim.NewNAdam(p, 0.01, optim.WeightDecay(0.1), optim.Maximize())
	},
	"rprop": func(p []T) *optim.Optimizer { return optim.NewRprop(p, 0.01) },
	"rprop, etas, sizes": func(p []T) *optim.Optimizer {
		return optim.NewRprop(p, 0.1, optim.Etas(0.4, 1.5), optim.StepSizes(0.05, 0.3), optim.Maximize())
	},
	"asgd": func(p []T) *optim.Optimizer { return optim.NewASGD(p, 0.01) },
	"asgd, averages": func(p []T) *optim.Optimizer {
		return optim.NewASGD(p, 0.1, optim.Lambd(1e-2), optim.Alpha(0.5), optim.StartAverage(3), optim.WeightDecay(0.05), optim.Maximize())
	},
	"adafactor": func(p []T) *optim.Optimizer { return optim.NewAdafactor(p, 0.01) },
	"adafactor, decay": func(p []T) *optim.Optimizer {
		return optim.NewAdafactor(p, 0.5, optim.Beta2Decay(-0.5), optim.FactorEps(1e-3, 1e-2), optim.ClipThreshold(1.5), optim.WeightDecay(0.1), optim.Maximize())
	},
	"adafactor, matrix": func(p []T) *optim.Optimizer { return optim.NewAdafactor(p, 0.1) },
	"adafactor, matrix, decay": func(p []T) *optim.Optimizer {
		return optim.NewAdafactor(p, 0.5, optim.Beta2Decay(-0.5), optim.FactorEps(1e-3, 1e-2), optim.WeightDecay(0.1), optim.Maximize())
	},
	"radam": func(p []T) *optim.Optimizer { return optim.NewRAdam(p, 0.01) },
	"radam, decoupled": func(p []T) *optim.Optimizer {
		return optim.NewRAdam(p, 0.01, optim.Betas(0.8, 0.95), optim.Eps(1e-4), optim.WeightDecay(0.1), optim.Decoupled())
	},
	"radam, decay": func(p []T) *optim.Optimizer {
		return optim.NewRAdam(p, 0.01, optim.WeightDecay(0.1), optim.Maximize())
	},
}

var dtypes = map[string]tensor.DType{
	"float64": tensor.Float64, "float32": tensor.Float32, "float16": tensor.Float16, "bfloat16": tensor.BFloat16,
}

// start and gradient are the functions of these names in testdata/steps.py.
func start(d tensor.DType) T {
	return tensor.NewAs(d, []float64{1, -2, .5, .25, -.125, 3}).RequireGrad()
}

func gradient(k int, p T) T {
	var g []float64
	for i := range p.Numel() {
		g = append(g, math.Sin(float64(k+2*i))*float64(1+i))
	}
	return tensor.NewAs(p.DType(), g, p.Shape()...)
}

// TestSteps compares steps with testdata/steps.json, made by testdata/steps.py, to a few units
// in the last place: torch fuses products and sums in float32 and float64, and on a CPU rounds
// SGD's learning rate to a half before it multiplies.
func TestSteps(t *testing.T) {
	text, err := os.ReadFile("testdata/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Steps map[string]map[string][][]*float64
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Steps) != len(makers) {
		t.Errorf("testdata/steps.json has %d cases, want %d", len(golden.Steps), len(makers))
	}
	for name, byDType := range golden.Steps {
		for dtype, steps := range byDType {
			d := dtypes[dtype]
			p := start(d)
			if strings.Contains(name, "matrix") {
				p = p.Detach().Reshape(2, 3).RequireGrad()
			}
			idle := tensor.Ones(2).RequireGrad() // never has a gradient
			opt := makers[name]([]T{p, idle})
			same, total, worst := 0, 0, 0.0
			for k, want := range steps {
				if k == 6 {
					opt.SetLR(opt.LR() / 2)
				}
				g := gradient(k, p)
				before := g.Float64s()
				p.SetGrad(g)
				opt.Step()
				for i, x := range p.Detach().Float64s() {
					var off float64
					if w := want[i]; w != nil {
						off = math.Abs(x-*w) / (tensor.FInfo(d).Eps * math.Max(1, math.Abs(*w)))
					} else if !math.IsNaN(x) && !math.IsInf(x, 0) {
						off = math.Inf(1)
					}
					worst = math.Max(worst, off)
					if total++; off == 0 {
						same++
					}
					if !(off <= 4) {
						t.Errorf("%s, %v: step %d, element %d: got %v, want %v", name, d, k, i, x, *want[i])
					}
				}
				for i, x := range g.Float64s() {
					if x != before[i] {
						t.Errorf("%s: the step changed the gradient", name)
					}
				}
			}
			t.Logf("%s, %v: %d of %d numbers equal, worst %.2g eps", name, d, same, total, worst)
			opt.ZeroGrad()
			if p.Grad() != nil || len(opt.Params()) != 2 || idle.At(0) != 1 {
				t.Errorf("%s: a gradient is left after ZeroGrad, or a parameter without a gradient changed", name)
			}
			opt.SetLR(0)
			old := p.Bits()
			p.SetGrad(tensor.OnesLike(p))
			opt.Step()
			// Rprop and ASGD keep step sizes from an earlier learning rate.
			keeps := strings.HasPrefix(name, "rprop") || strings.HasPrefix(name, "asgd")
			if opt.LR() != 0 || !keeps && !slices.Equal(old, p.Bits()) {
				t.Errorf("%s: a step with learning rate 0 changed a parameter", name)
			}
		}
	}
}

// TestSmallUpdateIsLostInFloat16 checks that an update of 1e-4 is lost for a float16 weight of
// 1, and not for a float32 one.
func TestSmallUpdateIsLostInFloat16(t *testing.T) {
	for _, c := range []struct {
		d        tensor.DType
		momentum float64
		want     float64
	}{
		{tensor.Float16, 0, 1},
		{tensor.Float16, 0.5, 1},
		{tensor.Float32, 0, float64(float32(1 - 1e-4))},
	} {
		p := tensor.NewAs(c.d, []float64{1}).RequireGrad()
		p.SetGrad(tensor.NewAs(c.d, []float64{1}))
		optim.NewSGD([]T{p}, 1e-4, optim.Momentum(c.momentum)).Step()
		if got := p.Item(); got != c.want {
			t.Errorf("%v, momentum %v: got %v, want %v", c.d, c.momentum, got, c.want)
		}
	}
}

func TestGroups(t *testing.T) {
	a, b := start(tensor.Float32), start(tensor.Float32)
	opt := optim.NewSGD([]T{a}, 0.5, optim.WeightDecay(0.25)).AddGroup([]T{b}, optim.LR(1), optim.WeightDecay(0))
	a.SetGrad(tensor.OnesLike(a))
	b.SetGrad(tensor.OnesLike(b))
	opt.Step()
	if x, y := a.At(0), b.At(0); x != 1-0.5*1.25 || y != 0 {
		t.Errorf("got %v and %v, want 0.375 and 0", x, y)
	}
	groups := opt.Groups()
	groups[1].LR = 0
	b.SetGrad(tensor.OnesLike(b))
	opt.Step()
	if opt.LR() != 0.5 || b.At(0) != 0 || len(groups[1].Params()) != 1 {
		t.Errorf("parameter in a group with its own learning rate: got %v", b)
	}
	want := `SGD (
Parameter Group 0
    dampening: 0
    lr: 0.5
    maximize: False
    momentum: 0
    nesterov: False
    weight_decay: 0.25
Parameter Group 1
    dampening: 0
    lr: 0
    maximize: False
    momentum: 0
    nesterov: False
    weight_decay: 0
)`
	if got := opt.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestStepWith(t *testing.T) {
	p := tensor.Ones(1).RequireGrad()
	opt := optim.NewSGD([]T{p}, 0.25)
	var loss T
	tensor.NoGrad(func() {
		loss = opt.StepWith(func() T {
			opt.ZeroGrad()
			loss := p.Pow(2).Sum()
			loss.Backward()
			return loss
		})
	})
	if loss.Item() != 1 || p.Item() != 0.5 {
		t.Errorf("got loss %v and parameter %v, want 1 and 0.5", loss.Item(), p.Item())
	}
}

// TestStateDict compares ten steps with five steps, a save, a load into a new optimizer and
// five more steps.
func TestStateDict(t *testing.T) {
	for name, maker := range makers {
		p, q := start(tensor.Float32), start(tensor.Float32)
		opt := maker([]T{p})
		steps := func(opt *optim.Optimizer, p T, from, to int) {
			for k := from; k < to; k++ {
				p.SetGrad(gradient(k, p))
				opt.Step()
			}
		}
		steps(opt, p, 0, 5)
		opt.SetLR(0.03)
		tensor.NoGrad(func() { q.Assign(p) })
		again := maker([]T{q})
		if err := again.LoadStateDict(opt.StateDict()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		steps(opt, p, 5, 10)
		steps(again, q, 5, 10)
		if !tensor.Equal(p.Detach(), q.Detach()) || again.LR() != 0.03 {
			t.Errorf("%s: got %v when resumed, want %v", name, q, p)
		}
		state := opt.StateDict()
		before := fmt.Sprint(again.StateDict())
		delete(state, "param_groups.0.lr")
		state["param_groups.0.params"] = 2.0
		state["state.0.exp_avg"] = tensor.Ones(2)
		state["state.1.step"] = 1.0
		err := again.LoadStateDict(state)
		want := fmt.Sprintf("optim: load state dict of %s: param_groups.0.lr is <nil>; param_groups.0.params is 2, want 1; state.0.exp_avg has shape (2,), want (6,); state.1.step is unknown to this optimizer",
			strings.Fields(opt.String())[0])
		if fmt.Sprint(err) != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if after := fmt.Sprint(again.StateDict()); after != before {
			t.Errorf("%s: a failed load changed the optimizer", name)
		}
	}
}

func TestConstructorErrors(t *testing.T) {
	p := []T{tensor.Ones(1).RequireGrad()}
	for want, f := range map[string]func(){
		"sgd: the list of parameters is empty": func() { optim.NewSGD(nil, 1) },
		"adam: parameter 0 is not a leaf":      func() { optim.NewAdam([]T{tensor.Ones(1)}, 1) },
		"lr is -1; want at least 0":            func() { optim.NewSGD(p, -1) },
		"momentum is -1":                       func() { optim.NewSGD(p, 1, optim.Momentum(-1)) },
		"weight_decay is -1":                   func() { optim.NewSGD(p, 1, optim.WeightDecay(-1)) },
		"want momentum above 0":                func() { optim.NewSGD(p, 1, optim.Nesterov()) },
		"betas.0 is 1; want at least 0 and":    func() { optim.NewAdamW(p, 1, optim.Betas(1, 0.999)) },
		"momentum is not a setting of Adam; want one of betas, eps, weight_decay": func() { optim.NewAdam(p, 1, optim.Momentum(0.9)) },
		"parameter 0 is given twice": func() { optim.NewSGD(p, 1).AddGroup(p) },
		"parameter 1 is given twice": func() { optim.NewSGD([]T{p[0], p[0]}, 1) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}

// TestReplaceParams checks that replacing parameters by those of another dtype keeps groups,
// settings and state.
func TestReplaceParams(t *testing.T) {
	a, b := tensor.New([]float64{1, 2}, 2).Half().RequireGrad(), tensor.New([]float64{3}, 1).RequireGrad()
	o := optim.NewSGD([]*tensor.Tensor{a}, 0.1, optim.Momentum(0.5)).AddGroup([]*tensor.Tensor{b}, optim.LR(0.2))
	a.SetGrad(tensor.Ones(2).Half())
	o.Step()
	master := a.Detach().Float().RequireGrad()
	o.ReplaceParams(func(p *tensor.Tensor) *tensor.Tensor {
		if p == a {
			return master
		}
		return p
	})
	if got := o.Params(); len(got) != 2 || got[0] != master || got[1] != b {
		t.Fatalf("got parameters %v", got)
	}
	if got := o.Groups(); got[0].Params()[0] != master || got[1].Params()[0] != b || got[1].LR != 0.2 {
		t.Errorf("the groups changed: got %v", o)
	}
	v := o.StateDict()["state.0.momentum_buffer"].(*tensor.Tensor)
	if v.DType() != tensor.Float32 || v.Float64s()[0] != 1 {
		t.Errorf("velocity: got %v, want ones in float32", v)
	}
	before := master.Float64s()[0]
	master.SetGrad(tensor.Zeros(2))
	o.Step()
	if got, want := master.Float64s()[0], float64(float32(before)-float32(0.1)*0.5); math.Abs(got-want) > 1e-7 {
		t.Errorf("parameter after a step with zero gradient: got %v, want %v, which needs the velocity", got, want)
	}
	for _, bad := range []*tensor.Tensor{nil, tensor.Ones(2), tensor.Ones(3).RequireGrad()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v as a replacement: got no error", bad)
				}
			}()
			o.ReplaceParams(func(*tensor.Tensor) *tensor.Tensor { return bad })
		}()
	}
}

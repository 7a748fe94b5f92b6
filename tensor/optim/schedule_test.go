package optim_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// schedule is a Scheduler, or a ReduceLROnPlateau whose metric is a wave.
type schedule interface {
	Step()
	StateDict() map[string]float64
	LoadStateDict(map[string]float64) error
}

type waved struct {
	*optim.ReduceLROnPlateau
	k int
}

func (w *waved) Step() {
	w.ReduceLROnPlateau.Step(math.Sin(float64(w.k)/7) / (1 + float64(w.k)/20))
	w.k++
}

// schedules maps the cases of testdata/schedules.py to their schedulers.
var schedules = map[string]func(o *optim.Optimizer) schedule{
	"step":        func(o *optim.Optimizer) schedule { return optim.NewStepLR(o, 7, 0.5) },
	"multistep":   func(o *optim.Optimizer) schedule { return optim.NewMultiStepLR(o, []int{3, 30, 30, 80}, 0.3) },
	"exponential": func(o *optim.Optimizer) schedule { return optim.NewExponentialLR(o, 0.95) },
	"constant":    func(o *optim.Optimizer) schedule { return optim.NewConstantLR(o, 0.25, 9) },
	"linear":      func(o *optim.Optimizer) schedule { return optim.NewLinearLR(o, 0.1, 0.8, 40) },
	"polynomial":  func(o *optim.Optimizer) schedule { return optim.NewPolynomialLR(o, 60, 2) },
	"cosine":      func(o *optim.Optimizer) schedule { return optim.NewCosineAnnealingLR(o, 30, 0.001) },
	"warm restarts": func(o *optim.Optimizer) schedule {
		return optim.NewCosineAnnealingWarmRestarts(o, 10, 2, 0.002)
	},
	"warm restarts, one length": func(o *optim.Optimizer) schedule {
		return optim.NewCosineAnnealingWarmRestarts(o, 13, 1, 0)
	},
	"lambda": func(o *optim.Optimizer) schedule {
		return optim.NewLambdaLR(o, func(k int) float64 { return 1 / (1 + float64(k)) })
	},
	"lambdas": func(o *optim.Optimizer) schedule {
		return optim.NewLambdaLR(o, func(k int) float64 { return 1 / (1 + float64(k)) }, func(k int) float64 { return math.Pow(0.9, float64(k)) })
	},
	"multiplicative": func(o *optim.Optimizer) schedule {
		return optim.NewMultiplicativeLR(o, func(k int) float64 {
			if k%2 == 1 {
				return 0.97
			}
			return 1.01
		})
	},
	"cyclic": func(o *optim.Optimizer) schedule {
		return optim.NewCyclicLR(o, 0.01, 0.2, optim.CycleOptions{Up: 15})
	},
	"cyclic, triangular2": func(o *optim.Optimizer) schedule {
		return optim.NewCyclicLR(o, 0.01, 0.2, optim.CycleOptions{Up: 10, Down: 20, Mode: "triangular2"})
	},
	"cyclic, exp_range": func(o *optim.Optimizer) schedule {
		return optim.NewCyclicLR(o, 0.01, 0.2, optim.CycleOptions{Up: 10, Mode: "exp_range", Gamma: 0.98, FixedMomentum: true})
	},
	"cyclic, scale": func(o *optim.Optimizer) schedule {
		return optim.NewCyclicLR(o, 0.01, 0.2, optim.CycleOptions{Up: 10, PerStep: true, Scale: func(x float64) float64 { return 1 / math.Pow(5, x*1e-2) }})
	},
	"one cycle": func(o *optim.Optimizer) schedule { return optim.NewOneCycleLR(o, 0.3, 101, optim.OneCycleOptions{}) },
	"one cycle, linear": func(o *optim.Optimizer) schedule {
		return optim.NewOneCycleLR(o, 0.3, 120, optim.OneCycleOptions{Start: 0.4, Linear: true, Div: 10, FinalDiv: 100})
	},
	"one cycle, three phases": func(o *optim.Optimizer) schedule {
		return optim.NewOneCycleLR(o, 0.3, 110, optim.OneCycleOptions{ThreePhase: true, Low: 0.7, High: 0.8})
	},
	"plateau": func(o *optim.Optimizer) schedule {
		return &waved{ReduceLROnPlateau: optim.NewReduceLROnPlateau(o, optim.ReduceLROnPlateauOptions{Factor: 0.5, Patience: 3})}
	},
	"plateau, max": func(o *optim.Optimizer) schedule {
		return &waved{ReduceLROnPlateau: optim.NewReduceLROnPlateau(o, optim.ReduceLROnPlateauOptions{Max: true, Factor: 0.7, Patience: -1, Threshold: 0.1, Cooldown: 4, Low: 0.01})}
	},
	"plateau, absolute": func(o *optim.Optimizer) schedule {
		return &waved{ReduceLROnPlateau: optim.NewReduceLROnPlateau(o, optim.ReduceLROnPlateauOptions{Threshold: 0.05, Absolute: true})}
	},
	"chained": func(o *optim.Optimizer) schedule {
		return optim.NewChainedScheduler(optim.NewConstantLR(o, 0.1, 12), optim.NewExponentialLR(o, 0.97))
	},
	"sequential": func(o *optim.Optimizer) schedule {
		parts := []*optim.Scheduler{optim.NewLinearLR(o, 0.1, 1, 10), optim.NewCosineAnnealingLR(o, 50, 0), optim.NewConstantLR(o, 0.5, 5)}
		return optim.NewSequentialLR(parts, []int{10, 60})
	},
	"sequential, more": func(o *optim.Optimizer) schedule {
		parts := []*optim.Scheduler{
			optim.NewStepLR(o, 3, 0.5),
			optim.NewMultiplicativeLR(o, func(int) float64 { return 0.9 }),
			optim.NewLambdaLR(o, func(k int) float64 { return 1 / (2 + float64(k)) }),
		}
		return optim.NewSequentialLR(parts, []int{20, 50})
	},
}

// scheduled returns the optimizer of a case in testdata/schedules.py.
func scheduled(name string) *optim.Optimizer {
	a, b := []T{tensor.Ones(1).RequireGrad()}, []T{tensor.Ones(1).RequireGrad()}
	if name == "cyclic, triangular2" || name == "one cycle, linear" {
		return optim.NewAdam(a, 0.1).AddGroup(b, optim.LR(0.04))
	}
	return optim.NewSGD(a, 0.1, optim.Momentum(0.5)).AddGroup(b, optim.LR(0.04))
}

// row returns the settings after one step, as in testdata/schedules.json.
func row(opt *optim.Optimizer) []float64 {
	g := opt.Groups()
	return []float64{g[0].LR, g[1].LR, g[1].Momentum + g[1].Beta1}
}

func TestSchedules(t *testing.T) {
	text, err := os.ReadFile("testdata/schedules.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Rows map[string][][]float64 }
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Rows) != len(schedules) {
		t.Errorf("testdata/schedules.json has %d cases, want %d", len(golden.Rows), len(schedules))
	}
	for name, rows := range golden.Rows {
		opt := scheduled(name)
		s := schedules[name](opt)
		for k, want := range rows {
			for i, got := range row(opt) {
				if !(math.Abs(got-want[i]) <= 1e-12) {
					t.Fatalf("%s: step %d, column %d: got %v, want %v", name, k, i, got, want[i])
				}
			}
			s.Step()
			if k == 37 { // continue with a new optimizer and a new scheduler, made in the same way
				again := scheduled(name)
				next := schedules[name](again)
				if err := again.LoadStateDict(opt.StateDict()); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if err := next.LoadStateDict(s.StateDict()); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if w, ok := next.(*waved); ok {
					w.k = k + 1
				}
				opt, s = again, next
			}
		}
		err := s.LoadStateDict(map[string]float64{"more": 1})
		if err == nil || !strings.Contains(err.Error(), "last_epoch is missing") || !strings.Contains(err.Error(), "more is unknown to this scheduler") {
			t.Errorf("%s: got %v, want an error that names last_epoch and more", name, err)
		}
		if text := fmt.Sprint(s); !strings.Contains(text, "epoch 100") {
			t.Errorf("%s: got %s, want a text that contains epoch 100", name, text)
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	opt, other := scheduled(""), scheduled("")
	done := optim.NewOneCycleLR(opt, 1, 1, optim.OneCycleOptions{})
	done.Step()
	for want, f := range map[string]func(){
		"StepLR: the step size is 0; want at least 1":                            func() { optim.NewStepLR(opt, 0, 0.1) },
		"ConstantLR: factor is 2; want 0 to 1":                                   func() { optim.NewConstantLR(opt, 2, 5) },
		"LinearLR: factors from 0 to 1":                                          func() { optim.NewLinearLR(opt, 0, 1, 5) },
		"PolynomialLR: 0 steps":                                                  func() { optim.NewPolynomialLR(opt, 0, 1) },
		"CosineAnnealingLR: -1 steps":                                            func() { optim.NewCosineAnnealingLR(opt, -1, 0) },
		"CosineAnnealingWarmRestarts: 3 steps, factor 0":                         func() { optim.NewCosineAnnealingWarmRestarts(opt, 3, 0, 0) },
		"LambdaLR: 0 functions, 2 groups; want one function, or one per group":   func() { optim.NewLambdaLR(opt) },
		`CyclicLR: mode is "round"; want triangular`:                             func() { optim.NewCyclicLR(opt, 0, 1, optim.CycleOptions{Mode: "round"}) },
		"OneCycleLR: step 2 of 1; want at most that many calls of Step":          func() { done.Step() },
		"OneCycleLR: 5 steps, Start 2":                                           func() { optim.NewOneCycleLR(opt, 1, 5, optim.OneCycleOptions{Start: 2}) },
		"ReduceLROnPlateau: Factor is 1":                                         func() { optim.NewReduceLROnPlateau(opt, optim.ReduceLROnPlateauOptions{Factor: 1}) },
		"ChainedScheduler: the list of schedulers is empty":                      func() { optim.NewChainedScheduler() },
		"ChainedScheduler: scheduler 1 has a different optimizer from the first": func() { optim.NewChainedScheduler(optim.NewExponentialLR(opt, 1), optim.NewExponentialLR(other, 1)) },
		"SequentialLR: 1 schedulers, milestones (3,); want one milestone fewer than schedulers, in increasing order": func() { optim.NewSequentialLR([]*optim.Scheduler{optim.NewExponentialLR(opt, 1)}, []int{3}) },
		"OneCycleLR: Adagrad has neither momentum nor betas": func() {
			optim.NewOneCycleLR(optim.NewAdagrad(opt.Params(), 1), 1, 5, optim.OneCycleOptions{})
		},
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}

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

// TestLBFGS compares steps with testdata/lbfgs.json, made by testdata/lbfgs.py. Halfway it
// continues with a new optimizer loaded from the state.
func TestLBFGS(t *testing.T) {
	text, err := os.ReadFile("testdata/lbfgs.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Cases map[string][][]float64 }
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(p []T) *optim.LBFGS{
		"default": func(p []T) *optim.LBFGS { return optim.NewLBFGS(p, 0.1, optim.LBFGSOptions{}) },
		"short memory": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 0.05, optim.LBFGSOptions{Iterations: 5, History: 3})
		},
		"few calls": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 0.1, optim.LBFGSOptions{Iterations: 10, Calls: 4})
		},
		"strong wolfe": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 1, optim.LBFGSOptions{StrongWolfe: true})
		},
		"strong wolfe, long steps": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 3, optim.LBFGSOptions{Iterations: 4, History: 2, StrongWolfe: true})
		},
		"strong wolfe, short steps": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 1e-3, optim.LBFGSOptions{Iterations: 6, StrongWolfe: true})
		},
		"strong wolfe, few calls": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 0.5, optim.LBFGSOptions{Iterations: 10, Calls: 6, StrongWolfe: true})
		},
		"maximize": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 0.1, optim.LBFGSOptions{Maximize: true})
		},
		"maximize, strong wolfe": func(p []T) *optim.LBFGS {
			return optim.NewLBFGS(p, 0.1, optim.LBFGSOptions{Maximize: true, StrongWolfe: true})
		},
		"soon content": func(p []T) *optim.LBFGS { return optim.NewLBFGS(p, 0.1, optim.LBFGSOptions{Gradient: 3}) },
	}
	if len(golden.Cases) != len(cases) {
		t.Errorf("testdata/lbfgs.json has %d cases, want %d", len(golden.Cases), len(cases))
	}
	for name, rows := range golden.Cases {
		x := tensor.NewAs(tensor.Float64, []float64{-1, 0.5}, 2, 1).RequireGrad()
		y := tensor.NewAs(tensor.Float64, []float64{1.2, 0}).RequireGrad()
		opt := cases[name]([]T{x, y})
		calls := 0
		for k, want := range rows {
			loss := opt.StepWith(func() T {
				calls++
				opt.ZeroGrad()
				u := x.Squeeze(1)
				loss := u.Neg().AddScalar(1).Pow(2).Add(y.Sub(u.Pow(2)).Pow(2).MulScalar(100)).Sum()
				if strings.Contains(name, "maximize") {
					loss = loss.Neg()
				}
				loss.Backward()
				return loss
			})
			got := append([]float64{loss.Item(), float64(calls)}, append(x.Float64s(), y.Float64s()...)...)
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-6*math.Max(1, math.Abs(want[i]))) {
					t.Fatalf("%s: step %d: got %v, want %v", name, k, got, want)
				}
			}
			if k == 2 {
				state := opt.StateDict()
				opt = cases[name](opt.Params())
				if err := opt.LoadStateDict(state); err != nil {
					t.Fatal(err)
				}
			}
		}
		opt.SetLR(0.5)
		if err := opt.LoadStateDict(map[string]any{"lr": 1.0}); fmt.Sprint(err) != "optim: load state dict of LBFGS: t, H_diag, n_iter, func_evals missing" || opt.LR() != 0.5 {
			t.Errorf("an incomplete state: got error %v and learning rate %v", err, opt.LR())
		}
	}
}

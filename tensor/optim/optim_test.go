package optim_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

type optimizer interface {
	Step()
	ZeroGrad()
	Params() []*tensor.Tensor
	LR() float64
	SetLR(float64)
}

// TestSteps compares with testdata/steps.json, which testdata/steps.py made.
func TestSteps(t *testing.T) {
	text, err := os.ReadFile("testdata/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string][][]float64
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(p []*tensor.Tensor) optimizer{
		"sgd":           func(p []*tensor.Tensor) optimizer { return optim.NewSGD(p, 0.1) },
		"sgd, momentum": func(p []*tensor.Tensor) optimizer { return optim.NewSGD(p, 0.1, optim.Momentum(0.9)) },
		"sgd, momentum, dampening": func(p []*tensor.Tensor) optimizer {
			return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Dampening(0.3))
		},
		"sgd, momentum, decay": func(p []*tensor.Tensor) optimizer {
			return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.WeightDecay(0.05))
		},
		"sgd, nesterov": func(p []*tensor.Tensor) optimizer { return optim.NewSGD(p, 0.1, optim.Momentum(0.9), optim.Nesterov()) },
		"sgd, decay":    func(p []*tensor.Tensor) optimizer { return optim.NewSGD(p, 0.1, optim.WeightDecay(0.05)) },
		"adam":          func(p []*tensor.Tensor) optimizer { return optim.NewAdam(p, 0.01) },
		"adam, decay": func(p []*tensor.Tensor) optimizer {
			return optim.NewAdam(p, 0.01, optim.Betas(0.8, 0.95), optim.Eps(1e-4), optim.Decay(0.1))
		},
		"adamw": func(p []*tensor.Tensor) optimizer { return optim.NewAdamW(p, 0.01) },
	}
	if len(golden) != len(cases) {
		t.Errorf("testdata/steps.json has %d cases, want %d", len(golden), len(cases))
	}
	for name, steps := range golden {
		for _, d := range []tensor.DType{tensor.Float64, tensor.Float32} {
			p := tensor.NewAs(d, []float64{1, -2, .5}).RequireGrad()
			idle := tensor.Ones(2).RequireGrad() // never has a gradient
			opt := cases[name]([]*tensor.Tensor{p, idle})
			for k, want := range steps {
				var g []float64
				for i := range 3 {
					g = append(g, math.Sin(float64(k+2*i))*float64(1+i))
				}
				gradient := tensor.NewAs(d, g)
				p.SetGrad(gradient)
				opt.Step()
				for i, x := range p.Detach().Float64s() {
					if eps := 10 * tensor.FInfo(d).Eps; !(math.Abs(x-want[i]) <= eps*max(1, math.Abs(want[i]))) {
						t.Errorf("%s, %v: step %d, element %d: got %v, want %v", name, d, k, i, x, want[i])
					}
				}
				for i, x := range gradient.Float64s() {
					if math.Abs(x-g[i]) > 1e-6 {
						t.Errorf("%s: the step changed the gradient", name)
					}
				}
			}
			opt.ZeroGrad()
			if p.Grad() != nil || len(opt.Params()) != 2 || idle.At(0) != 1 {
				t.Errorf("%s: ZeroGrad left a gradient, or a parameter without one moved", name)
			}
			opt.SetLR(0)
			before := p.Detach().Clone().Float64s()
			p.SetGrad(tensor.OnesLike(p))
			opt.Step()
			if after := p.Detach().Float64s(); opt.LR() != 0 || after[0] != before[0] {
				t.Errorf("%s: learning rate 0 moved a parameter", name)
			}
		}
	}
}

// TestPureHalf: the update 1e-4 of a float16 weight of 1 is lost, of a float32 one
// not.
func TestPureHalf(t *testing.T) {
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
		optim.NewSGD([]*tensor.Tensor{p}, 1e-4, optim.Momentum(c.momentum)).Step()
		if got := p.Item(); got != c.want {
			t.Errorf("%v, momentum %v: got %v, want %v", c.d, c.momentum, got, c.want)
		}
	}
}

func TestMistakes(t *testing.T) {
	p := []*tensor.Tensor{tensor.Ones(1).RequireGrad()}
	for want, f := range map[string]func(){
		"there are no parameters":   func() { optim.NewSGD(nil, 1) },
		"parameter 0 is not a leaf": func() { optim.NewAdam([]*tensor.Tensor{tensor.Ones(1)}, 1) },
		"the learning rate is -1":   func() { optim.NewSGD(p, -1) },
		"the momentum is -1":        func() { optim.NewSGD(p, 1, optim.Momentum(-1)) },
		"the weight decay is -1":    func() { optim.NewSGD(p, 1, optim.WeightDecay(-1)) },
		"expected momentum above 0": func() { optim.NewSGD(p, 1, optim.Nesterov()) },
		"betas 1 and 0.999":         func() { optim.NewAdamW(p, 1, optim.Betas(1, 0.999)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

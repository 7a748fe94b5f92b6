package optim_test

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// Weight decay of 1e-4 a step is lost in bfloat16, which rounds 1 - 1e-4 times a number to the number, and kept by both options: "claimed" is exact arithmetic.
func TestDecayOfHalves(t *testing.T) {
	const steps, decay = 300, 1e-4
	exact := math.Pow(1-decay, steps)
	for _, c := range []struct {
		name    string
		options []optim.Option
		kept    bool
	}{
		{"plain", nil, false}, {"stochastic rounding", []optim.Option{optim.StochasticRounding()}, true}, {"Kahan", []optim.Option{optim.KahanSum()}, true},
	} {
		for seed := range int64(5) {
			tensor.ManualSeed(seed)
			p := tensor.Randn(4096).To(tensor.BFloat16).RequireGrad()
			before := p.Detach().Float().Norm().Item()
			o := optim.NewSGD([]*tensor.Tensor{p}, 1e-3, append(c.options, optim.WeightDecay(decay/1e-3))...)
			for range steps {
				p.SetGrad(tensor.ZerosLike(p))
				o.Step()
			}
			left := p.Detach().Float().Norm().Item() / before
			if seed == 0 {
				t.Logf("%s: %.4f of the norm is left, exactly %.4f", c.name, left, exact)
			}
			if kept := math.Abs(left-exact) < 2e-3; kept != c.kept || !kept && left != 1 {
				t.Errorf("%s: %v of the norm is left, exact arithmetic leaves %v", c.name, left, exact)
			}
		}
	}
}

// Every optimizer takes both options, follows float32 more closely than plain bfloat16 does, and continues from its state.
func TestHalvesFollowFloat32(t *testing.T) {
	// Stochastic rounding adds noise, so it is held to the mean of all elements, in which noise cancels.
	makers := map[string]func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer{
		"SGD": func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer {
			return optim.NewSGD(p, 1e-3, append(o, optim.Momentum(0.9))...)
		},
		"Adam":    func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer { return optim.NewAdam(p, 1e-3, o...) },
		"AdamW":   func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer { return optim.NewAdamW(p, 1e-3, o...) },
		"RMSprop": func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer { return optim.NewRMSprop(p, 1e-3, o...) },
		"Adagrad": func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer { return optim.NewAdagrad(p, 1e-3, o...) },
		"Muon":    func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer { return optim.NewMuon(p, 1e-3, o...) },
		"NAdam":   func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer { return optim.NewNAdam(p, 1e-3, o...) },
		"Adamax":  func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer { return optim.NewAdamax(p, 1e-3, o...) },
		"Adafactor": func(p []*tensor.Tensor, o ...optim.Option) *optim.Optimizer {
			return optim.NewAdafactor(p, 1e-3, o...)
		},
	}
	run := func(maker func(p []*tensor.Tensor, options ...optim.Option) *optim.Optimizer, d tensor.DType, reload bool, options ...optim.Option) *tensor.Tensor {
		tensor.ManualSeed(1)
		p := tensor.Randn(32, 64).To(tensor.BFloat16).To(d).RequireGrad()
		o := maker([]*tensor.Tensor{p}, options...)
		for k := range 60 {
			if reload && k == 30 {
				state := o.StateDict()
				o = maker([]*tensor.Tensor{p}, options...)
				if err := o.LoadStateDict(state); err != nil {
					t.Fatal(err)
				}
			}
			tensor.ManualSeed(int64(k))
			p.SetGrad(tensor.Randn(32, 64).AddScalar(0.5).To(tensor.BFloat16).To(d))
			o.Step()
		}
		return p.Detach().Float()
	}
	for name, maker := range makers {
		want := run(maker, tensor.Float32, false)
		off := func(x *tensor.Tensor) float64 { return math.Abs(x.Sub(want).Mean().Item()) }
		far := func(x *tensor.Tensor) float64 { return x.Sub(want).Norm().Item() }
		plain := run(maker, tensor.BFloat16, false)
		for kind, option := range map[string]optim.Option{"stochastic": optim.StochasticRounding(), "Kahan": optim.KahanSum()} {
			got := run(maker, tensor.BFloat16, false, option)
			t.Logf("%s, %s: mean error %.2g, plain bfloat16 %.2g; distance %.2g, %.2g", name, kind, off(got), off(plain), far(got), far(plain))
			if !(off(got) < off(plain)*0.5) || kind == "Kahan" && !(far(got) < far(plain)*0.8) {
				t.Errorf("%s, %s: mean error %.3g, plain bfloat16 %.3g", name, kind, off(got), off(plain))
			}
			if again := run(maker, tensor.BFloat16, true, option); !tensor.Equal(got, again) {
				t.Errorf("%s, %s: a run that continues from its state differs", name, kind)
			}
			if f := run(maker, tensor.Float32, false, option); !tensor.Equal(f, want) {
				t.Errorf("%s, %s: parameters of float32 changed", name, kind)
			}
		}
	}
}

package optim_test

import (
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/optim"
)

var lowBits = map[string]func(p []*tensor.Tensor, lr float64, options ...optim.Option) *optim.Optimizer{
	"Adam8bit": optim.NewAdam8bit, "AdamW8bit": optim.NewAdamW8bit, "Adam4bit": optim.NewAdam4bit, "AdamW4bit": optim.NewAdamW4bit,
	"AdamFp8": optim.NewAdamFp8, "AdamWFp8": optim.NewAdamWFp8,
}

// Optimizers with states of few bits have torchao's weights, codes and scales to the bit, by testdata/lowbit.py.
func TestLowBitMatchesTorchao(t *testing.T) {
	f, err := data.LoadSafetensors("testdata/lowbit.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, maker := range lowBits {
		for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
			key := name + "/" + d.String() + "/"
			p := f["p"].To(d).Clone().RequireGrad()
			o := maker([]*tensor.Tensor{p}, 1e-2, optim.WeightDecay(0.1))
			for k := range 4 {
				if k == 2 { // a run continues from its state
					state := o.StateDict()
					o = maker([]*tensor.Tensor{p}, 1e-2, optim.WeightDecay(0.1))
					if err := o.LoadStateDict(state); err != nil {
						t.Fatal(err)
					}
				}
				p.SetGrad(f["grads"].Select(0, k).To(d))
				o.Step()
				if want := f[key+"weights"]; k == 0 && !tensor.Equal(p.Detach().Slice(0, 0, 4), want.Select(0, 0)) || k == 3 && !tensor.Equal(p.Detach().Slice(0, 0, 4), want.Select(0, 1)) {
					t.Errorf("%s: the weights of step %d differ", key, k)
				}
			}
			state := o.StateDict()
			for _, mean := range []string{"exp_avg", "exp_avg_sq"} {
				if codes := state["state.0."+mean+".codes"].(*tensor.Tensor); !tensor.Equal(codes.Slice(0, 0, 1024), f[key+mean+".codes"]) {
					t.Errorf("%s: the codes of %s differ", key, mean)
				}
				if !tensor.Equal(state["state.0."+mean+".scale"].(*tensor.Tensor), f[key+mean+".scale"]) {
					t.Errorf("%s: the scales of %s differ", key, mean)
				}
			}
		}
	}
}

// Small parameters keep means of their dtype, and a step of them is AdamW's but for rounding.
func TestLowBitSmall(t *testing.T) {
	run := func(maker func(p []*tensor.Tensor, lr float64, options ...optim.Option) *optim.Optimizer) (*tensor.Tensor, map[string]any) {
		tensor.ManualSeed(1)
		p := tensor.Randn(7, 9).RequireGrad()
		o := maker([]*tensor.Tensor{p}, 1e-2)
		for range 20 {
			p.SetGrad(tensor.Randn(7, 9))
			o.Step()
		}
		return p.Detach(), o.StateDict()
	}
	want, _ := run(optim.NewAdamW)
	for name, maker := range lowBits {
		if !strings.HasPrefix(name, "AdamW") {
			continue
		}
		got, state := run(maker)
		if off := got.Sub(want).Counts().AbsMax; off > 1e-5 {
			t.Errorf("%s: a small parameter is off by %v", name, off)
		}
		if state["state.0.exp_avg"] == nil || state["state.0.exp_avg.codes"] != nil {
			t.Errorf("%s: a small parameter has the state %v", name, state)
		}
	}
}

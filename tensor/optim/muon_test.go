package optim_test

import (
	"math"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/optim"
)

// Muon's trajectories are those of torch.optim.Muon, by testdata/muon.py: buffers to the bit, and float32 weights but for a direction that lies next to a
// tie of bfloat16. torch rounds the learning rate to bfloat16 where it adds vectors of that dtype, and the product at their ends; here the sum is rounded once.
func TestMuonMatchesTorch(t *testing.T) {
	f, err := data.LoadSafetensors("testdata/muon.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	differ, of := map[tensor.DType]int{}, 0
	for key := range f {
		key, ok := strings.CutSuffix(key, "/weights")
		if !ok {
			continue
		}
		weights, grads := f[key+"/weights"], f[key+"/grads"]
		name := strings.Split(key, "/")[1]
		options := []optim.Option{optim.AdjustLR(name)}
		if name == "spectral_unclamped" {
			options = append(options, optim.PlainMomentum())
		}
		p := weights.Select(0, 0).Clone().RequireGrad()
		o := optim.NewMuon([]*tensor.Tensor{p}, 0.02, options...)
		for k := range grads.Shape()[0] {
			p.SetGrad(grads.Select(0, k).Clone())
			o.Step()
			want := weights.Select(0, k+1).Float().Float64s()
			for i, got := range p.Detach().Float().Float64s() {
				of++
				if got != want[i] {
					differ[p.DType()]++
				}
				off := 0.02 * 0x1p-7 // a unit of a direction below 2, times the learning rate
				if p.DType() == tensor.BFloat16 {
					off += float64(k+1) * max(math.Abs(want[i]), 0.02) * 0x1p-7
				}
				if !(math.Abs(got-want[i]) <= off) {
					t.Errorf("%s: step %d, element %d: %v, want %v", key, k, i, got, want[i])
				}
			}
		}
		if buffer := o.StateDict()["state.0.momentum_buffer"].(*tensor.Tensor); !tensor.Equal(buffer, f[key+"/buffer"]) {
			t.Errorf("%s: the buffer differs", key)
		}
	}
	t.Logf("%v of %d elements differ", differ, of)
	if differ[tensor.Float32] > of/100 || differ[tensor.BFloat16] > of/10 {
		t.Errorf("%v of %d elements differ", differ, of)
	}
}

// The steps in bfloat16 are off by more than those in float16, and these by more than those in float32.
func TestMuonDType(t *testing.T) {
	tensor.ManualSeed(2)
	g := tensor.Randn(24, 10)
	direction := func(d tensor.DType) *tensor.Tensor {
		p := tensor.Zeros(24, 10).RequireGrad()
		p.SetGrad(g)
		optim.NewMuon([]*tensor.Tensor{p}, 1, optim.WeightDecay(0), optim.NSDType(d), optim.AdjustLR("match_rms_adamw")).Step()
		return p.Detach().Double()
	}
	want := direction(tensor.Float64)
	last := math.Inf(1)
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16, tensor.Float32} {
		off := direction(d).Sub(want).Counts().AbsMax / want.Counts().AbsMax
		t.Logf("%v: largest error %.2g", d, off)
		if !(off < last/3) {
			t.Errorf("%v: largest error %v, of the dtype before %v", d, off, last)
		}
		last = off
	}
}

func TestMuonRefusals(t *testing.T) {
	matrix, vector := tensor.Zeros(3, 4).RequireGrad(), tensor.Zeros(4).RequireGrad()
	for want, call := range map[string]func(){
		"matrices":          func() { optim.NewMuon([]*tensor.Tensor{matrix, vector}, 0.02) },
		"match_rms_adamw":   func() { optim.NewMuon([]*tensor.Tensor{matrix}, 0.02, optim.AdjustLR("rms")) },
		"whole number":      func() { optim.NewMuon([]*tensor.Tensor{matrix}, 0.02, optim.NSSteps(100)) },
		"want bfloat16":     func() { optim.NewMuon([]*tensor.Tensor{matrix}, 0.02, optim.NSDType(tensor.Int64)) },
		"more than one of ": func() { optim.NewSGD([]*tensor.Tensor{matrix}, 0.02, optim.KahanSum(), optim.StochasticRounding()) },
	} {
		if err := tensor.Try(call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
	o := optim.NewMuon([]*tensor.Tensor{matrix}, 0.02, optim.AdjustLR("match_rms_adamw"), optim.NSSteps(3))
	state := o.StateDict()
	other := optim.NewMuon([]*tensor.Tensor{matrix}, 0.5)
	if err := other.LoadStateDict(state); err != nil || other.String() != o.String() {
		t.Errorf("%v; loaded settings %v, want %v", err, other, o)
	}
	state["param_groups.0.adjust_lr_fn"] = "rms"
	if err := other.LoadStateDict(state); err == nil {
		t.Error("an unknown adjust_lr_fn was loaded")
	}
}

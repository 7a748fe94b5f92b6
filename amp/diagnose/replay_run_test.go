package diagnose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// loop trains a chain of layers for some steps.
func loop(net *nn.Sequential, policy amp.Policy, scaler *amp.GradScaler, unscale bool, steps int, inside func(), options ...optim.Option) {
	g := tensor.NewGenerator(9)
	opt := optim.NewSGD(nn.Parameters(net), 1e-12, options...)
	for range steps {
		var loss *tensor.Tensor
		amp.Autocast(policy, func() { loss = nn.MSELoss(net.Forward(g.Randn(16, 8)), g.Randn(16, 8)) })
		scaler.Scale(loss).Backward()
		if inside != nil {
			inside()
		}
		if unscale {
			scaler.Unscale(opt)
		}
		scaler.Step(opt)
		scaler.Update()
		opt.ZeroGrad()
	}
}

// chain returns layers of width 8, of which one shrinks the gradients that pass through it.
func chain(seed int64) (net *nn.Sequential, weak int) {
	tensor.ManualSeed(seed)
	net = nn.NewSequential()
	for range 4 {
		net.Append(nn.NewLinear(8, 8)).Append(nn.NewTanh())
	}
	weak = 2 * (1 + rand.New(rand.NewPCG(uint64(seed), 5)).IntN(3))
	w := net.Modules[weak].(*nn.Linear).Weight
	tensor.NoGrad(func() { w.MulScalarAssign(1e-9) })
	return net, weak
}

// TestReplayNamesLayers plants a layer that shrinks gradients, and checks that the layers before it are
// reported as flushed in float16 without a scale.
func TestReplayNamesLayers(t *testing.T) {
	for seed := range int64(4) {
		net, weak := chain(seed)
		rp := NewReplay(net, WithActivations())
		loop(net, amp.Off, amp.NewGradScaler(amp.ScalerEnabled(false)), false, 3, nil)
		rp.Stop()
		w := rp.WhatIf(1, Float16)
		if w.Steps != 3 || w.Overflowing != 0 || w.MaxError != 0 {
			t.Fatalf("seed %d: got %+v", seed, w)
		}
		params, activations := 0, 0
		for _, l := range w.Layers {
			var layer int
			if _, err := fmt.Sscanf(l.Name, "%d", &layer); err != nil {
				continue // mse_loss
			}
			before := layer < weak
			if l.Activation {
				activations++
			} else {
				params++
			}
			if flushed := l.FlushedShare() > 0.5; flushed != before {
				t.Errorf("seed %d: %s: got a share of %v flushed; the weak layer is %d", seed, l.Name, l.FlushedShare(), weak)
			}
		}
		if params != 8 || activations < 7 {
			t.Errorf("seed %d: got %d parameters and %d activations: %v", seed, params, activations, w.Table())
		}
	}
}

// TestReplayRecordsAlike checks that a step gives the same record when it is recorded automatically as the
// scaler unscales, early or late, and by Record before that.
func TestReplayRecordsAlike(t *testing.T) {
	var want WhatIf
	for i, c := range []struct {
		name           string
		unscale, asked bool
		options        []optim.Option
	}{
		{"automatic", false, false, nil}, {"unscaled early", true, false, nil}, {"asked", false, true, nil}, {"Record, then unscaled", true, true, nil},
		{"fused", false, false, []optim.Option{optim.Fused()}}, {"fused and unscaled", true, false, []optim.Option{optim.Fused()}},
	} {
		net, _ := chain(7)
		scaler := amp.NewGradScaler(amp.InitScale(1<<40), amp.BackoffFactor(1./(1<<30))) // the first step is skipped
		rp := NewReplay(net)
		var inside func()
		if c.asked {
			inside = func() { rp.Record(scaler) }
		}
		loop(net, amp.Float16, scaler, c.unscale, 3, inside, c.options...)
		rp.Stop()
		got := rp.WhatIf(64, BFloat16)
		if i == 0 {
			want = got
			if s := rp.Trajectory().Steps; len(s) != 3 || s[0].Taken != 1<<40 || !s[0].Was || s[1].Taken != 1<<10 || s[1].Was {
				t.Errorf("%s: got the run %+v", c.name, s)
			}
			if want.Steps != 3 || want.NonFinite == 0 || len(want.Layers) != 8 || want.Count != 3*4*(64+8) {
				t.Errorf("%s: %+v", c.name, want)
			}
		}
		if got.Shares != want.Shares || got.Steps != want.Steps || !slices.Equal(got.Layers, want.Layers) {
			t.Errorf("%s: got %+v, want %+v", c.name, got.Table(), want.Table())
		}
	}
}

func TestReplayErrors(t *testing.T) {
	rp := NewReplay(nil)
	defer rp.Stop()
	for _, c := range []struct {
		call func()
		want string
	}{
		{func() { rp.Record(nil) }, "amp: Replay.Record: the replay was made without a net; pass the net to NewReplay"},
		{func() { rp.WhatIf(-1, Float16) }, "amp: Replay.WhatIf: the scale is -1; give a scale above 0, for example 65536"},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); p != c.want {
					t.Errorf("got %q, want %q", p, c.want)
				}
			}()
			c.call()
		}()
	}
	if rp.String() != "no gradients recorded" || rp.Trajectory().String() != "no gradients recorded" || rp.Band(Float16).Static != 0 {
		t.Errorf("empty replay: got %q", rp)
	}
	rp.HTML()
	rp.Table()
}

// TestBandMatchesRuns records one step in float32 and repeats it in float16: at the band's largest scale
// no gradient overflows, and at four times that scale one does.
func TestBandMatchesRuns(t *testing.T) {
	for seed := range int64(6) {
		start := func() (*nn.Sequential, *optim.Optimizer) {
			tensor.ManualSeed(seed)
			net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewLayerNorm([]int{16}), nn.NewGELU(), nn.NewLinear(16, 16), nn.NewReLU(), nn.NewLinear(16, 4))
			k := rand.New(rand.NewPCG(uint64(seed), 11)).Float64()*8 - 4
			tensor.NoGrad(func() { net.Modules[5].(*nn.Linear).Weight.MulScalarAssign(math.Exp2(k)) })
			return net, optim.NewSGD(nn.Parameters(net), 0.1)
		}
		x, y := tensor.NewGenerator(seed+50).Randn(16, 8), tensor.NewGenerator(seed+60).Randn(16, 4)
		step := func(net *nn.Sequential, p amp.Policy) (loss *tensor.Tensor) {
			amp.Autocast(p, func() { loss = nn.MSELoss(net.Forward(x), y) })
			return loss
		}
		net, opt := start()
		rp := NewReplay(net, WithActivations())
		step(net, amp.Off).Backward()
		opt.Step()
		rp.Stop()
		for _, l := range rp.WhatIf(1, Float16).Layers {
			if l.Wide != strings.HasPrefix(l.Name, "1.") || strings.Contains(l.Name, "mse_loss") || strings.Contains(l.Name, "layer_norm") {
				t.Errorf("seed %d: %+v", seed, l)
			}
		}
		high := rp.Band(Float16).High
		for _, scale := range []float64{high, 4 * high} {
			net, opt := start()
			scaler := amp.NewGradScaler(amp.InitScale(scale))
			seen := NewReplay(net, WithActivations())
			scaler.Scale(step(net, amp.Float16)).Backward()
			if result := scaler.Step(opt); result.Skipped != (scale > high) || high < 2 || high >= 1<<24 {
				t.Errorf("seed %d: got a band up to %v, but at %v: %v", seed, high, scale, result)
			}
			seen.Stop()
			for i, l := range seen.WhatIf(1, Float16).Layers {
				if w := rp.WhatIf(1, Float16).Layers[i]; w.Name != l.Name || w.Wide != l.Wide || w.Activation != l.Activation {
					t.Errorf("seed %d: got %+v under autocast and %+v in float32", seed, l, w)
				}
			}
		}
	}
}

// TestReplayLost checks that a band warns of gradients that a float16 run flushed before they were recorded,
// and that it does not count zeros that the run did not make.
func TestReplayLost(t *testing.T) {
	off := func() *amp.GradScaler { return amp.NewGradScaler(amp.ScalerEnabled(false)) }
	relu := func() *nn.Sequential { // half of its gradients are 0 in any dtype
		tensor.ManualSeed(3)
		dead := nn.NewLinear(8, 8)
		tensor.NoGrad(func() { dead.Bias.Narrow(0, 0, 4).Fill(-100) })
		return nn.NewSequential(dead, nn.NewReLU(), nn.NewLinear(8, 8))
	}
	weak := func() *nn.Sequential {
		net, at := chain(1)
		tensor.NoGrad(func() { net.Modules[at].(*nn.Linear).Weight.MulScalarAssign(1e9 * 1e-5) }) // close to 2^-24, so that some survive
		return net
	}
	for _, c := range []struct {
		name   string
		net    *nn.Sequential
		policy amp.Policy
		scaler *amp.GradScaler
		lost   bool
	}{
		{"float16 without a scaler", weak(), amp.Float16, off(), true},
		{"float32", weak(), amp.Off, off(), false},
		{"bfloat16", weak(), amp.BFloat16, off(), false},
		{"float16 with a scaler", weak(), amp.Float16, amp.NewGradScaler(amp.InitScale(1 << 14)), false},
		{"zeros of a ReLU", relu(), amp.Float16, amp.NewGradScaler(amp.InitScale(1 << 14)), false},
	} {
		rp := NewReplay(c.net)
		loop(c.net, c.policy, c.scaler, false, 3, nil)
		rp.Stop()
		b := rp.Band(Float16)
		if lost := b.Lost >= safeFlush; lost != c.lost || strings.Contains(b.String(), "0 already") != c.lost || strings.Contains(rp.String(), "0 already") != c.lost {
			t.Errorf("%s: got %v lost, want %v: %s\n%s", c.name, b.Lost, c.lost, b, rp.WhatIf(1, Float16).Table().Data["text/plain"])
		}
	}
}

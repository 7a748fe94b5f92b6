package diagnose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestGradientsPlanted plants a cause of lost gradients in a random layer and checks the reported
// module, operation and kind.
func TestGradientsPlanted(t *testing.T) {
	for _, tt := range []struct {
		name    string
		wards   []func() *ward
		plant   func(w *ward, layer string) (module, of string)
		outcome diagnose.Outcome
	}{
		{"a layer whose gradients are too small", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.To(tensor.Float16).MulScalar(0x1p-30) }), "mul_scalar"
		}, diagnose.Flushed},
		{"weights too small for the product's gradient", []func() *ward{mlpWard, cnnWard}, func(w *ward, layer string) (string, string) {
			tensor.NoGrad(func() { w.param(layer + ".weight").MulScalarAssign(0x1p-20) })
			w.scaler = amp.NewGradScaler(amp.InitScale(1. / 64))
			of := "linear"
			if w.name == "cnn" && layer != "7" {
				of = "conv2d"
			}
			return layer, of
		}, diagnose.Flushed},
		{"weights too small in a transformer", []func() *ward{bertWard}, func(w *ward, layer string) (string, string) {
			if !strings.HasSuffix(layer, "output.dense") { // the others have a residual connection
				layer = "bert.encoder.layer.1.output.dense"
			}
			tensor.NoGrad(func() { w.param(layer + ".weight").MulScalarAssign(0x1p-20) })
			return layer, "linear"
		}, diagnose.Flushed},
		{"a dead ReLU", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(-100).ReLU() }), "relu"
		}, diagnose.DeadReLU},
		{"a saturated sigmoid", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(14).Sigmoid() }), "sigmoid"
		}, diagnose.Saturated},
		{"a saturated tanh", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(-12).Tanh() }), "tanh"
		}, diagnose.Saturated},
		{"a factor of 0", []func() *ward{mlpWard}, func(w *ward, layer string) (string, string) {
			return w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(0) }), "mul_scalar"
		}, diagnose.Cut},
	} {
		for _, fresh := range tt.wards {
			for seed := range uint64(5) {
				tensor.ManualSeed(int64(seed))
				w := fresh().ready()
				layers := w.layers[1:] // no layer precedes the first
				layer := layers[rand.New(rand.NewPCG(seed, 3)).IntN(len(layers))]
				module, of := tt.plant(w, layer)
				r := diagnose.Gradients(w.net, w.step)
				d := r.First
				if d == nil || d.Module != module || d.Of != of && !d.Forward || d.Outcome != tt.outcome {
					t.Errorf("%s, %s, %s: got %v, want the derivative of %s in %q, %s\n%s", tt.name, w.name, layer, d, of, module, tt.outcome, r)
					continue
				}
				dead := 0
				for _, l := range r.Layers {
					if l.Outcome == diagnose.Preserved || l.Outcome == diagnose.Subnormal || l.Outcome == diagnose.Zero {
						continue
					}
					// The lost gradients belong to the layer, to layers before it, or to layers that multiply by its output.
					if w.name != "bert" && l.Module > layer && !strings.HasPrefix(l.Module, layer+".") && !d.Forward && !strings.HasSuffix(l.Param, "weight") {
						t.Errorf("%s, %s, %s: got %s %s\n%s", tt.name, w.name, layer, l.Param, l.Outcome, r)
					}
					dead++
				}
				if dead == 0 {
					t.Errorf("%s, %s, %s: got no lost gradients\n%s", tt.name, w.name, layer, r)
				}
			}
		}
	}
}

// TestGradientsAlive checks that a healthy step has no lost gradients, for each model.
func TestGradientsAlive(t *testing.T) {
	for _, fresh := range []func() *ward{mlpWard, bertWard} {
		tensor.ManualSeed(3)
		w := fresh()
		w.scaler = amp.NewGradScaler(amp.InitScale(1024))
		w.ready()
		r := diagnose.Gradients(w.net, w.step)
		if n := len(nn.Parameters(w.net)); len(r.Layers) != n {
			t.Errorf("%s: got %d layers, want %d", w.name, len(r.Layers), n)
		}
		if !r.Preserved() || r.First != nil {
			t.Errorf("%s: %s", w.name, r)
		}
		for _, l := range r.Layers {
			if l.Outcome != diagnose.Preserved && l.Outcome != diagnose.Subnormal && l.Outcome != diagnose.Zero || l.Flushed*20 > l.Elements {
				t.Errorf("%s: %v %s\n%s", w.name, l, l.Outcome, r)
			}
		}
	}
}

// TestGradientsRescue checks that the loss scale recommended by a report rescues the gradients, and
// that a much smaller one does not.
func TestGradientsRescue(t *testing.T) {
	build := func() *ward {
		tensor.ManualSeed(5)
		w := mlpWard()
		tensor.NoGrad(func() { w.param("6.weight").MulScalarAssign(0x1p-9) })
		w.plainly = true
		w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y).MulScalar(0x1p-13) }
		return w.ready()
	}
	w := build()
	r := diagnose.Gradients(w.net, w.step)
	if r.Preserved() || r.First == nil || r.Rescue <= 1 || r.Rescue > r.Ceiling || math.Exp2(math.Round(math.Log2(r.Rescue))) != r.Rescue {
		t.Fatalf("got rescue %v and ceiling %v\n%s", r.Rescue, r.Ceiling, r)
	}
	if r.Static < r.Rescue || r.Static*8 > r.Ceiling || !strings.Contains(r.String(), "none comes within a factor of 8 of overflow") {
		t.Errorf("got %s", r)
	}
	dead := func(scale float64) (n, all, over int) {
		w := build()
		w.plainly = false
		w.scaler = amp.NewGradScaler(amp.InitScale(scale))
		r := diagnose.Gradients(w.net, w.step)
		for _, l := range r.Layers {
			n += l.Flushed + l.Infinite
			over += l.Infinite
			all += l.Elements
		}
		if r.Scale != scale {
			t.Errorf("got scale %v, want %v", r.Scale, scale)
		}
		return n, all, over
	}
	if n, all, _ := dead(r.Rescue); n*100 > all {
		t.Errorf("at scale %v: got %d of %d lost", r.Rescue, n, all)
	}
	if n, all, _ := dead(r.Rescue / 64); n*100 < all {
		t.Errorf("at scale %v: got only %d of %d lost", r.Rescue/64, n, all)
	}
	if _, _, over := dead(r.Ceiling); over > 0 {
		t.Errorf("at scale %v: got %d overflows", r.Ceiling, over)
	}
	if _, _, over := dead(2 * r.Ceiling); over == 0 {
		t.Errorf("at scale %v: got no overflow", 2*r.Ceiling)
	}
}

// TestGradientsAdvice checks the advice for losses of several sizes: the default loss scale where it fits, else one that
// leaves a margin on both sides. The step with the recommended scale keeps its gradients.
func TestGradientsAdvice(t *testing.T) {
	for _, tt := range []struct {
		factor float64 // of the loss
		want   string
	}{
		{0x1p-13, "use amp.NewGradScaler(): its default loss scale, 65,536 (2¹⁶), is safe: from "},
		{0x1p-30, "use amp.NewGradScaler(amp.InitScale("},
		{0x1p-36, "use amp.NewGradScaler(amp.InitScale("},
	} {
		build := func() *ward {
			tensor.ManualSeed(5)
			w := mlpWard()
			w.plainly = true
			w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y).MulScalar(tt.factor) }
			return w.ready()
		}
		w := build()
		r := diagnose.Gradients(w.net, w.step)
		advice, _, _ := strings.Cut(r.String(), "\n  ")
		if _, advice, _ = strings.Cut(advice, "What to do: "); !strings.HasPrefix(advice, tt.want) {
			t.Errorf("factor %v: got %q, want %q", tt.factor, advice, tt.want)
		}
		if r.Static == 1<<16 != strings.Contains(tt.want, "default") || r.Static < r.Rescue || r.Static*8 > r.Ceiling*2 {
			t.Errorf("factor %v: got static scale %v for rescue %v and ceiling %v", tt.factor, r.Static, r.Rescue, r.Ceiling)
		}
		w = build()
		w.plainly, w.scaler = false, amp.NewGradScaler(amp.InitScale(r.Static))
		if again := diagnose.Gradients(w.net, w.step); !again.Preserved() {
			t.Errorf("factor %v: with the recommended scale %v: %s", tt.factor, r.Static, again)
		}
		if _, html, _ := strings.Cut(r.HTML(), "</details>"); strings.Contains(html, "scale needed") || !strings.Contains(html, "outcome</th>") || strings.Contains(html, "dtype</th>") != strings.Contains(html, "float32</td>") {
			t.Errorf("factor %v: the table has other columns", tt.factor)
		}
	}
	if scale := amp.NewGradScaler().CurrentScale(); scale != 1<<16 {
		t.Errorf("the default scale is %v", scale)
	}
}

// TestScalesAgree checks that Gradients and a Replay of the same step recommend the same scale, with a factor of 8
// before overflow, and that neither recommends one if the gradients leave no room for it.
func TestScalesAgree(t *testing.T) {
	for _, tt := range []struct {
		factor float64
		want   string // in both reports
	}{
		{1e-3, "factor of"}, {1e-5, "factor of"}, {0x1p-20, "factor of"},
	} {
		build := func() *ward {
			tensor.ManualSeed(5)
			w := mlpWard()
			w.plainly = true
			w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y).MulScalar(tt.factor) }
			return w.ready()
		}
		w := build()
		g := diagnose.Gradients(w.net, w.step)
		w = build()
		w.policy = amp.BFloat16
		rp := diagnose.NewReplay(w.net, diagnose.WithActivations())
		w.step()
		rp.Stop()
		b := rp.Band(diagnose.Float16)
		w = build()
		w.plainly, w.scaler = false, amp.NewGradScaler(amp.InitScale(64))
		if at := diagnose.Gradients(w.net, w.step); at.Scale != 64 || at.Static != g.Static {
			t.Errorf("factor %v: Gradients recommends %v, and %v in a run at scale 64", tt.factor, g.Static, at.Static)
		}
		if g.Static != b.Static || g.Static < b.Low || b.Static*8 > b.Limit || !b.Activations {
			t.Errorf("factor %v: Gradients recommends %v, Replay %+v", tt.factor, g.Static, b)
		}
		if over := rp.WhatIf(b.Static*8, diagnose.Float16).Overflowing; over > 0 {
			t.Errorf("factor %v: 8 times the recommended scale %v overflows", tt.factor, b.Static)
		}
		if !strings.Contains(b.String(), tt.want) || b.High == 1<<24 != strings.Contains(b.String(), "the largest tried") {
			t.Errorf("factor %v: got %s", tt.factor, b)
		}
	}
	// Gradients from 2^-26 to 2^12 leave no scale with a factor of 8.
	w := tensor.Zeros(39).RequireGrad()
	rp := diagnose.NewReplay(nil)
	w.SetGrad(tensor.Arange(0, 39).SubScalar(26).Exp2())
	optim.NewSGD([]*tensor.Tensor{w}, 0.1).Step()
	rp.Stop()
	if b := rp.Band(diagnose.Float16); b.Low != 4 || b.High != 8 || b.Static >= b.Low || strings.Contains(b.String(), "whole run") || !strings.Contains(b.String(), "no safe scale leaves a factor of 8") {
		t.Errorf("got %+v: %s", b, b)
	}
}

// TestGradientsCounts checks that the counts of a report are those of the gradients, and that the diagnosis
// does not change the run.
func TestGradientsCounts(t *testing.T) {
	run := func(diagnosed bool) (r *diagnose.GradientsReport, grads map[string][]float64, weights []float64) {
		tensor.ManualSeed(9)
		w := cnnWard()
		w.plainly = true
		w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y).MulScalar(1e-5) }
		w.ready()
		grads = map[string][]float64{}
		step := func() {
			var loss *tensor.Tensor
			amp.Autocast(w.policy, func() { loss = w.loss(w.net.Forward(w.x), w.y) })
			loss.Backward()
			for _, p := range nn.NamedParameters(w.net) {
				grads[p.Name] = p.Tensor.Grad().Float64s()
			}
			w.opt.Step()
		}
		if diagnosed {
			r = diagnose.Gradients(w.net, step)
		} else {
			step()
		}
		for _, p := range nn.Parameters(w.net) {
			weights = append(weights, p.Float64s()...)
		}
		return r, grads, weights
	}
	r, grads, weights := run(true)
	_, plain, same := run(false)
	if !slices.Equal(weights, same) {
		t.Error("the diagnosis changed the run")
	}
	for _, l := range r.Layers {
		zeros := 0
		for i, g := range grads[l.Param] {
			if g != plain[l.Param][i] {
				t.Fatalf("%s: the diagnosis changed a gradient", l.Param)
			}
			if g == 0 {
				zeros++
			}
		}
		if l.Zeros+l.Flushed != zeros || l.Elements != len(grads[l.Param]) {
			t.Errorf("%s: got %d zeros and %d flushed of %d, want %d in total of %d", l.Param, l.Zeros, l.Flushed, l.Elements, zeros, len(grads[l.Param]))
		}
	}
	if low := testenv.LowContrast(r.HTML()); len(low) > 0 {
		t.Errorf("low contrast: %q", low)
	}
	for _, want := range []string{"<table", "flushed", "data:image/svg+xml", "0.weight"} {
		if !strings.Contains(r.HTML(), want) {
			t.Errorf("got a page without %q", want)
		}
	}
}

func TestGradientsUnused(t *testing.T) {
	w := mlpWard().ready()
	frozen := w.chain.Modules[4]
	w.chain.Modules[4] = module(func(x *tensor.Tensor) *tensor.Tensor { return frozen.Forward(x).Detach() })
	r := diagnose.Gradients(w.net, func() { nn.MSELoss(w.net.Forward(w.x), w.y).Backward() })
	unused := 0
	for _, l := range r.Layers {
		if l.Outcome == diagnose.Unused {
			unused++
		}
	}
	if unused != 4 || r.Preserved() || !strings.Contains(r.String(), "received no gradient") {
		t.Errorf("got %d\n%s", unused, r)
	}
	if r = diagnose.Gradients(w.net, func() {}); len(r.Layers) != 0 || !strings.Contains(r.String(), "No gradients") {
		t.Errorf("got %s", r)
	}
}

// TestGradientsShares trains at 24 sizes of the loss, from those that overflow to those that flush all gradients. Each outcome follows
// from the shares, and each text has the share that it is about.
func TestGradientsShares(t *testing.T) {
	seen := map[diagnose.Outcome]int{}
	for _, fresh := range []func() *ward{mlpWard, cnnWard} {
		for k := -10; k < 14; k += 2 {
			tensor.ManualSeed(int64(k + 10))
			w := fresh()
			w.plainly = true
			w.loss = func(out, y *tensor.Tensor) *tensor.Tensor {
				return nn.MSELoss(out, y).MulScalar(math.Exp2(float64(-2 * k)))
			}
			r := diagnose.Gradients(w.net, w.ready().step)
			lost := false
			for _, l := range r.Layers {
				flushed, subnormal := l.FlushedShare(), l.SubnormalShare()
				want := diagnose.Preserved
				switch {
				case l.Infinite > 0:
					want = diagnose.Overflowed
				case flushed >= 0.05:
					want = diagnose.Flushed
				case subnormal >= 0.5:
					want = diagnose.Subnormal
				}
				if l.Outcome == diagnose.Zero && l.Zeros == l.Elements {
					continue
				}
				seen[want]++
				if l.Outcome != want || l.Flushed+l.Subnormal+l.Zeros > l.Elements {
					t.Errorf("%s at 2^%d: %+v, want %s", w.name, -2*k, l, want)
				}
				if want == diagnose.Preserved {
					continue
				}
				lost = lost || want != diagnose.Subnormal
				share := map[diagnose.Outcome]float64{diagnose.Flushed: flushed, diagnose.Subnormal: subnormal, diagnose.Overflowed: l.InfiniteShare()}[want]
				text := string(want)
				if share < 1 {
					text = fmt.Sprintf("%.1f %% %s", min(100*share, 99.9), want)
				}
				if !strings.Contains(r.HTML(), text) {
					t.Errorf("%s at 2^%d: got a table without %q", w.name, -2*k, text)
				}
			}
			if lost && r.First == nil {
				t.Errorf("%s at 2^%d: got no first place\n%s", w.name, -2*k, r)
			}
			if lost == r.Preserved() {
				t.Errorf("%s at 2^%d: got preserved %v of\n%s", w.name, -2*k, r.Preserved(), r)
			}
		}
	}
	for _, o := range []diagnose.Outcome{diagnose.Preserved, diagnose.Flushed, diagnose.Subnormal, diagnose.Overflowed} {
		if seen[o] < 10 {
			t.Errorf("%d gradients are %s, want at least 10", seen[o], o)
		}
	}
}

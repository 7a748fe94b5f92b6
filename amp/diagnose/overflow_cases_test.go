package diagnose_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/amp/diagnose"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// TestOverflowCases checks the reported origin of non-finite values in data, targets, gradients, statistics
// and updates.
func TestOverflowCases(t *testing.T) {
	for _, tt := range []struct {
		name   string
		make   func() *ward
		cause  string
		module string
	}{
		{"NaN in the data", func() *ward {
			w := mlpWard().ready()
			w.x = w.x.Clone()
			w.x.Set(math.NaN(), 1, 2)
			return w
		}, "data", "0"},
		{"inf in the targets", func() *ward {
			w := mlpWard().ready()
			w.y = w.y.DivScalar(0)
			return w
		}, "data", ""},
		{"a stale gradient", func() *ward {
			w := mlpWard().ready()
			w.param("4.weight").SetGrad(tensor.Full(math.Inf(1), 8, 8))
			return w
		}, "stale-gradient", "4"},
		{"running statistics", func() *ward {
			w := cnnWard().ready()
			for _, b := range nn.NamedBuffers(w.net) {
				if b.Name == "4.running_mean" {
					b.Tensor.Fill(math.NaN())
				}
			}
			nn.Eval(w.net)
			return w
		}, "buffer", "4"},
		{"a loss with dimensions", func() *ward {
			w := mlpWard()
			w.scaler = amp.NewGradScaler()
			w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return out.Mean(1).To(tensor.Float16) }
			return w.ready()
		}, "scaled-output", ""},
		{"a large gradient", func() *ward {
			w := mlpWard()
			w.plainly = true
			w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y).MulScalar(1e8) }
			return w.ready()
		}, "large-gradient", ""},
		{"an update", func() *ward {
			w := mlpWard()
			w.plainly = true
			w.policy = amp.BFloat16
			w.opt = optim.NewSGD(nn.Parameters(w.net), 1e38)
			w.loss = func(out, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y).MulScalar(1e3) }
			return w.ready()
		}, "update", "0"},
	} {
		tensor.ManualSeed(1)
		w := tt.make()
		r := diagnose.Overflow(w.net, w.step)
		if c := r.Culprit; c == nil || c.Cause != tt.cause || c.Module != tt.module && tt.cause != "large-gradient" && tt.cause != "update" {
			t.Errorf("%s: got\n%s\nwant %s in %q", tt.name, r, tt.cause, tt.module)
		}
	}
}

// TestOverflowPureHalf checks that the report names Adam's eps of 1e-8, which is 0 in float16: if a gradient
// is 0, Apex's O3 divides 0 by 0.
func TestOverflowPureHalf(t *testing.T) {
	tensor.ManualSeed(1)
	net := models.NewMLP([]int{8, 8, 8, 4})
	opt := optim.NewAdam(nn.Parameters(net), 0.001)
	apex.Initialize(net, opt, apex.O3.Verbosity(0))
	x, y := tensor.Randn(4, 8).Half(), tensor.Randn(4, 4).Half()
	tensor.NoGrad(func() { net.Modules[2].(*nn.Linear).Bias.Fill(-100) })
	r := diagnose.Overflow(net, func() {
		for range 2 {
			nn.MSELoss(net.Forward(x), y.Float()).Backward()
			opt.Step()
			opt.ZeroGrad()
		}
	})
	if c := r.Culprit; c == nil || c.Cause != "update" || c.Module != "0" && c.Module != "2" {
		t.Errorf("got %s", r)
	}
}

// TestOverflowPenalty checks a gradient penalty computed from scaled gradients.
func TestOverflowPenalty(t *testing.T) {
	tensor.ManualSeed(1)
	w := mlpWard()
	w.scaler = amp.NewGradScaler(amp.InitScale(0x1p14))
	w.ready()
	r := diagnose.Overflow(w.net, func() {
		var loss *tensor.Tensor
		amp.Autocast(w.policy, func() { loss = nn.MSELoss(w.net.Forward(w.x), w.y) })
		g := tensor.GradGraph(w.scaler.Scale(loss), nn.Parameters(w.net)...)
		amp.Autocast(amp.Float16, func() { loss = loss.Add(g[2].To(tensor.Float16).Square().Sum()) })
		w.scaler.Scale(loss).Backward()
		w.scaler.Step(w.opt)
		w.scaler.Update()
	})
	if c := r.Culprit; c == nil || c.Cause != "penalty" || c.Harmless {
		t.Errorf("got %s", r)
	}
	right := func() {
		var loss *tensor.Tensor
		amp.Autocast(w.policy, func() { loss = nn.MSELoss(w.net.Forward(w.x), w.y) })
		g := tensor.GradGraph(w.scaler.Scale(loss), nn.Parameters(w.net)...)
		amp.Autocast(amp.Float16, func() {
			loss = loss.Add(g[2].MulScalar(1 / w.scaler.CurrentScale()).Square().Sum())
		})
		w.scaler.Scale(loss).Backward()
		w.scaler.Step(w.opt)
		w.scaler.Update()
		w.opt.ZeroGrad()
	}
	w.opt.ZeroGrad()
	if r = diagnose.Overflow(w.net, right); r.Culprit != nil {
		t.Errorf("got %s", r)
	}
	w.scaler.UpdateTo(0x1p26)
	if r = diagnose.Overflow(w.net, right); r.Culprit == nil || !r.Culprit.Harmless {
		t.Errorf("got %s", r)
	}
}

// TestOverflowAbsorbed checks that an infinity that does not reach the loss or a gradient is not a finding,
// and that an intended infinity that meets another is not one either.
func TestOverflowAbsorbed(t *testing.T) {
	tensor.ManualSeed(1)
	w := mlpWard()
	w.put("4", func(x *tensor.Tensor) *tensor.Tensor { return x.Add(x.Detach().AddScalar(100).Exp().Clamp(0, 1)) })
	w.ready()
	r := diagnose.Overflow(w.net, w.step)
	if r.Culprit != nil || len(r.Origins) != 1 || r.Origins[0].Op != "exp" {
		t.Errorf("got %s", r)
	}
	w = mlpWard()
	w.put("2", func(x *tensor.Tensor) *tensor.Tensor {
		mask := tensor.FromBools([]bool{true, false, false, false, false, false, false, false})
		return x.MaskedFill(mask, math.Inf(-1)).Softmax(-1)
	})
	w.ready()
	if r = diagnose.Overflow(w.net, w.step); r.Culprit != nil {
		t.Errorf("got %s", r)
	}
	w.put("6", func(x *tensor.Tensor) *tensor.Tensor {
		mask := tensor.Zeros(8).MaskedFill(tensor.FromBools([]bool{true, false, false, false, false, false, false, false}), math.Inf(-1))
		return x.To(tensor.Float16).AddScalar(300).MulScalar(300).Add(mask.To(tensor.Float16)).Softmax(-1)
	})
	w.opt = nil
	w.ready()
	if r = diagnose.Overflow(w.net, w.step); r.Culprit == nil || r.Culprit.Op != "mul_scalar" || r.Culprit.Module != "6.0" {
		t.Errorf("got %s", r)
	}
}

// TestOverflowGrew checks that for a cast that overflows, the report names the operation in float32 whose
// result grew too large.
func TestOverflowGrew(t *testing.T) {
	for seed := range uint64(4) {
		w := mlpWard().ready()
		layer := w.layers[rand.New(rand.NewPCG(seed, 7)).IntN(len(w.layers))]
		module := w.put(layer, func(x *tensor.Tensor) *tensor.Tensor { return x.Float().AddScalar(30).Exp().Neg() })
		r := diagnose.Overflow(w.net, w.step)
		if c := r.Culprit; c == nil || c.Cause != "cast" || c.Grew == nil || c.Grew.Op != "exp" || c.Grew.Module != module || !strings.Contains(r.String(), "too large since exp") {
			t.Errorf("%s: got %s", layer, r)
		}
		if text := r.Chart().String(); !strings.Contains(text, "float16's largest") {
			t.Errorf("got the chart %q", text)
		}
	}
}

// TestOverflowNoModel checks that an origin in a gradient is found without a model, which gives no names.
func TestOverflowNoModel(t *testing.T) {
	tensor.ManualSeed(1)
	w := mlpWard()
	w.scaler = amp.NewGradScaler(amp.InitScale(0x1p30))
	w.ready()
	r := diagnose.Overflow(nil, w.step)
	if c := r.Culprit; c == nil || c.Cause != "loss-scale" || !c.Harmless || !strings.Contains(r.String(), "Give the model") {
		t.Errorf("got %s", r)
	}
	w.large("4")
	r = diagnose.Overflow(nil, w.step)
	if c := r.Culprit; c == nil || c.Cause != "product" || c.Module != "4" || !c.Loss {
		t.Errorf("got %s", r)
	}
}

// TestOverflowInference checks that the report names the place in containers without a model and without a
// backward pass.
func TestOverflowInference(t *testing.T) {
	tensor.ManualSeed(1)
	w := mlpWard().ready()
	w.large("4")
	r := diagnose.Overflow(nil, func() {
		tensor.NoGrad(func() { amp.Autocast(amp.Float16, func() { w.net.Forward(w.x) }) })
	})
	if c := r.Culprit; c == nil || c.Module != "4" || c.Cause != "product" {
		t.Errorf("got %s", r)
	}
	if low := testenv.LowContrast(r.HTML()); len(low) > 0 {
		t.Errorf("low contrast: %q", low)
	}
	for _, want := range []string{"<table", "linear", "What to do", "relu"} {
		if !strings.Contains(r.HTML(), want) {
			t.Errorf("got %s, want a text that contains %s", r.HTML(), want)
		}
	}
}

package apex_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestStaticScaleNeverSkips checks that with a static scale a step is taken even if a gradient is
// infinite.
func TestStaticScaleNeverSkips(t *testing.T) {
	for _, scale := range []float64{1, 128} {
		net := nn.NewLinear(2, 1)
		model, opt := apex.Initialize(net, optim.NewSGD(nn.Parameters(net), 0.1), apex.O2.LossScale(scale).Verbosity(0))
		apex.ScaleLoss(model.Forward(tensor.Ones(1, 2)).Sum(), opt, func(scaled *tensor.Tensor) {
			scaled.Backward()
			net.Weight.Grad().Fill(math.Inf(1))
		})
		opt.Step()
		if r := opt.LastStep(); r.Skipped || !r.FoundInf || r.FirstBadParam != 0 {
			t.Errorf("scale %v: got %+v, want a step that was taken, with inf found in parameter 0", scale, r)
		}
		if w := net.Weight.Float64s()[0]; !math.IsInf(w, -1) {
			t.Errorf("scale %v: weight: got %v, want -Inf", scale, w)
		}
		if s := apex.StateDict(opt)["loss_scaler0"]; s["loss_scale"] != scale || s["unskipped"] != 1 {
			t.Errorf("scaler: got %v, want scale %v and 1 unskipped", s, scale)
		}
	}
}

// TestScaleLimits checks minimum, maximum and window of a dynamic scale.
func TestScaleLimits(t *testing.T) {
	w := &nn.Linear{Weight: tensor.Ones(1, 1).RequireGrad()}
	model, opt := apex.Initialize(w, optim.NewSGD(nn.Parameters(w), 0), apex.O1.MinLossScale(8192).MaxLossScale(32768).Verbosity(0))
	step := func(value float64) float64 {
		opt.ZeroGrad()
		apex.ScaleLoss(model.Forward(tensor.Full(value, 1, 1)).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
		opt.Step()
		return apex.StateDict(opt)["loss_scaler0"]["loss_scale"]
	}
	var got []float64
	for range 3 {
		got = append(got, step(math.Inf(1)))
	}
	for i := range 6000 {
		if s := step(0); i%2000 == 1998 || i%2000 == 1999 {
			got = append(got, s)
		}
	}
	if want := []float64{16384, 8192, 8192, 8192, 16384, 16384, 32768, 32768, 32768}; !slices.Equal(got, want) {
		t.Errorf("got scales %v, want %v", got, want)
	}
}

// TestDelayedUnscale checks that two losses can be accumulated and unscaled once.
func TestDelayedUnscale(t *testing.T) {
	for _, level := range levels[:3] {
		net := newTwoWeights(1)
		models, opts := apex.InitializeAll([]nn.Module{net}, []amp.Optimizer{optim.NewSGD(nn.Parameters(net), 0.1)}, level.KeepModelType().LossScale(64))
		x := tensor.Ones(2)
		apex.ScaleLossWith(models[0].Forward(x), opts, apex.ScaleLossOptions{DelayUnscale: true}, func(scaled *tensor.Tensor) { scaled.Backward() })
		if err := caught(opts[0].Step); err == nil || !strings.Contains(err.Error(), "still scaled") {
			t.Errorf("%v: a step in between: got %v, want an error", level, err)
		}
		apex.ScaleLoss(models[0].Forward(x), opts[0], func(scaled *tensor.Tensor) { scaled.Backward() })
		if got, want := apex.MasterParams(opts[0])[0].Grad().Float64s(), []float64{4, 6}; !slices.Equal(got, want) {
			t.Errorf("%v: gradient: got %v, want %v", level, got, want)
		}
		opts[0].Step()
	}
}

// TestDelayedOverflowCheck checks that DelayOverflowCheck neither changes the scale nor skips a step.
func TestDelayedOverflowCheck(t *testing.T) {
	w := nn.NewLinear(1, 1)
	model, opt := apex.Initialize(w, optim.NewSGD(nn.Parameters(w), 1), apex.O1.Verbosity(0))
	apex.ScaleLossWith(model.Forward(tensor.Full(math.Inf(1), 1, 1)).Sum(), []*apex.Optimizer{opt}, apex.ScaleLossOptions{DelayOverflowCheck: true}, func(scaled *tensor.Tensor) { scaled.Backward() })
	opt.Step()
	if s := apex.StateDict(opt)["loss_scaler0"]["loss_scale"]; opt.LastStep().Skipped || s != 65536 {
		t.Errorf("got scale %v after %v, want 65536 and a step", s, opt.LastStep())
	}
}

// TestMessages checks the printed output: the properties, and a line for a skipped step.
func TestMessages(t *testing.T) {
	train := func(level apex.OptLevel) string {
		return printed(t, func() {
			w := nn.NewLinear(1, 1)
			model, opt := apex.Initialize(w, optim.NewSGD(nn.Parameters(w), 1), level)
			for _, x := range []float64{math.Inf(1), 1} {
				apex.ScaleLoss(model.Forward(tensor.Full(x, 1, 1)).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
				opt.Step()
				opt.ZeroGrad()
			}
		})
	}
	text := train(apex.O1)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !strings.HasPrefix(text, "O1: casts around operations\ncast_model_type        : None\n") || !strings.HasSuffix(lines[len(lines)-1], "step skipped, loss scaler 0 reduces the loss scale to 32768") || len(lines) != 7 {
		t.Errorf("O1: got output %q", text)
	}
	if text := train(apex.O1.Verbosity(0)); text != "" {
		t.Errorf("with verbosity 0: got output %q", text)
	}
}

// printed returns the output of f.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = stdout
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestArgumentErrors checks the errors of Initialize and ScaleLoss.
func TestArgumentErrors(t *testing.T) {
	fresh := func() (nn.Module, *optim.Optimizer) {
		w := nn.NewLinear(2, 2)
		return w, optim.NewSGD(nn.Parameters(w), 1)
	}
	level := apex.O2.Verbosity(0)
	w, base := fresh()
	model, opt := apex.Initialize(w, base, level)
	other, otherBase := fresh()
	_, apart := apex.Initialize(other, otherBase, level)
	half := nn.NewSequential(nn.NewLinear(2, 2), nn.NewBatchNorm1d(2))
	nn.Half(half.Modules[1])
	loss := tensor.Ones(1).Sum()
	nothing := func(*tensor.Tensor) {}
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"model twice":     {func() { apex.Initialize(model, base, level) }, "the model has been initialized before"},
		"optimizer twice": {func() { o, _ := fresh(); apex.Initialize(o, opt, level) }, "the optimizer has been initialized before"},
		"no model":        {func() { apex.Initialize(nil, base, level) }, "the model is nil"},
		"half parameter":  {func() { apex.Initialize(half, base, level) }, "1.weight is float16"},
		"converted model": {func() { apex.Initialize(w, base, level) }, "weight is float16"},
		"loss id":         {func() { apex.ScaleLossWith(loss, []*apex.Optimizer{opt}, apex.ScaleLossOptions{LossID: 1}, nothing) }, "the loss id is 1"},
		"no loss":         {func() { apex.ScaleLoss(nil, opt, nothing) }, "the loss is nil"},
		"no optimizer":    {func() { apex.ScaleLoss(loss, nil, nothing) }, "has not been initialized"},
		"apart":           {func() { apex.ScaleLossWith(loss, []*apex.Optimizer{opt, apart}, apex.ScaleLossOptions{}, nothing) }, "initialized separately"},
		"optimizer without ReplaceParams": {func() {
			m, o := fresh()
			_, p := apex.Initialize(m, struct{ amp.Optimizer }{o}, level)
			p.ZeroGrad()
		}, "has no ReplaceParams"},
	} {
		if err := caught(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestEvents checks that observers of scalers receive the same events for Apex's steps as for a GradScaler's.
func TestEvents(t *testing.T) {
	var got []string
	stop := amp.ObserveScalers(func(e amp.ScalerEvent) {
		switch e.Kind {
		case amp.EventStep:
			got = append(got, fmt.Sprintf("step %d skipped %v scale %g bad %d", e.Step, e.Result.Skipped, e.Result.Scale, e.Result.FirstBadParam))
		case amp.EventUpdate:
			got = append(got, fmt.Sprintf("update %g %g", e.Before, e.After))
		}
	})
	defer stop()
	a, b := nn.NewLinear(1, 1), nn.NewLinear(1, 1)
	models, opts := apex.InitializeAll([]nn.Module{a, b}, []amp.Optimizer{optim.NewSGD(nn.Parameters(a), 1), optim.NewSGD(nn.Parameters(b), 1)}, apex.O1.Verbosity(0))
	for _, x := range []float64{1, math.Inf(1)} {
		loss := models[1].Forward(models[0].Forward(tensor.Full(x, 1, 1))).Sum().MulScalar(1e-3)
		apex.ScaleLossWith(loss, opts, apex.ScaleLossOptions{}, func(scaled *tensor.Tensor) { scaled.Backward() })
		for _, o := range opts {
			o.Step()
			o.ZeroGrad()
		}
	}
	want := []string{
		"step 0 skipped false scale 65536 bad -1", "step 1 skipped false scale 65536 bad -1", "update 65536 65536",
		"step 2 skipped true scale 65536 bad 0", "step 3 skipped true scale 65536 bad 0", "update 65536 32768",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

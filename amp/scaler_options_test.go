package amp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// scales runs a scaler through steps, where "!" marks an overflow, and returns the scale after
// each: "8 8 4".
func scales(s *amp.GradScaler, steps string) string {
	s.Scale(tensor.Scalar(1))
	var out []string
	for _, sign := range steps {
		opt := &params{list: []*tensor.Tensor{weight(1)}}
		if sign == '!' {
			opt.list[0].SetGrad(tensor.New([]float64{inf}, 1))
		}
		s.Step(opt)
		text := ""
		if err := try(s.Update); err != nil {
			var e *amp.Error
			if !errors.As(err, &e) {
				return err.Error()
			}
			text = e.Code + " "
		}
		out = append(out, text+fmt.Sprint(s.CurrentScale()))
	}
	return strings.Join(out, ", ")
}

// TestScalerLimits compares the options that torch's scaler lacks with the definitions in their comments.
func TestScalerLimits(t *testing.T) {
	base := []amp.ScalerOption{amp.InitScale(8), amp.GrowthInterval(2)}
	for _, tt := range []struct {
		name    string
		options []amp.ScalerOption
		steps   string
		want    string
	}{
		{"torch's", nil, "!!!..", "4, 2, 1, 1, 2"},
		{"static", []amp.ScalerOption{amp.StaticScale(128)}, "..!...", "128, 128, 128, 128, 128, 128"},
		{"floor", []amp.ScalerOption{amp.MinScale(3)}, "!!!..", "4, 3, 3, 3, 6"},
		{"floor and stop", []amp.ScalerOption{amp.MinScale(3), amp.AbortAtMin()}, "!!!!..", "4, 3, min_scale 3, min_scale 3, 3, 6"},
		{"ceiling", []amp.ScalerOption{amp.MaxScale(24)}, "......!..", "8, 16, 16, 24, 24, 24, 12, 12, 24"},
		{"ceiling at the scale", []amp.ScalerOption{amp.MaxScale(8)}, "..!..", "8, 8, 4, 4, 8"},
		// Megatron's rule: the scale shrinks at the second overflow since it last grew, and at each later overflow.
		{"hysteresis", []amp.ScalerOption{amp.Hysteresis(2)}, "!!!..!!", "8, 4, 2, 2, 4, 4, 2"},
		{"hysteresis, apart", []amp.ScalerOption{amp.Hysteresis(2)}, "!.!.!", "8, 8, 4, 4, 2"},
		{"hysteresis, floor and stop", []amp.ScalerOption{amp.Hysteresis(2), amp.MinScale(8), amp.AbortAtMin()}, "!!", "8, min_scale 8"},
	} {
		if got := scales(amp.NewGradScaler(slices.Concat(base, tt.options)...), tt.steps); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestManualScaleBeyondLimits checks that Update does not move a scale that was set by hand beyond
// a limit in the wrong direction.
func TestManualScaleBeyondLimits(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(8), amp.GrowthInterval(1), amp.MinScale(4), amp.MaxScale(16))
	s.Scale(tensor.Scalar(1))
	s.UpdateTo(1)
	if got := scales(s, "!."); got != "1, 2" {
		t.Errorf("below the floor: got %s, want 1, 2", got)
	}
	s.UpdateTo(64)
	if got := scales(s, ".!"); got != "64, 32" {
		t.Errorf("above the ceiling: got %s, want 64, 32", got)
	}
}

func TestScalerOptionErrors(t *testing.T) {
	for _, tt := range []struct {
		code    string
		options []amp.ScalerOption
	}{
		{"min_scale", []amp.ScalerOption{amp.InitScale(1), amp.MinScale(2)}},
		{"min_scale", []amp.ScalerOption{amp.MinScale(-1)}},
		{"min_scale", []amp.ScalerOption{amp.AbortAtMin()}},
		{"max_scale", []amp.ScalerOption{amp.MaxScale(2)}},
		{"hysteresis", []amp.ScalerOption{amp.Hysteresis(0)}},
		{"init_scale", []amp.ScalerOption{amp.InitScale(1e39)}},
	} {
		var e *amp.Error
		if err := try(func() { amp.NewGradScaler(tt.options...) }); !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("got %v, want an *amp.Error with code %s", err, tt.code)
		}
	}
}

// TestHysteresisState checks that the count of overflows is saved, and that torch's state, which lacks this
// count, can be loaded.
func TestHysteresisState(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(8), amp.Hysteresis(3))
	scales(s, "!!")
	other := amp.NewGradScaler(amp.Hysteresis(3))
	other.LoadStateDict(s.StateDict())
	if got := scales(other, "!"); got != "4" {
		t.Errorf("scale after loading and the third overflow: got %s, want 4", got)
	}
	other = amp.NewGradScaler(amp.Hysteresis(3))
	other.LoadStateDict(amp.NewGradScaler(amp.InitScale(8)).StateDict())
	if got := scales(other, "!!!"); got != "8, 8, 4" {
		t.Errorf("scales after loading torch's state: got %s, want 8, 8, 4", got)
	}
}

func TestScaleNested(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(4))
	out := s.ScaleNested(map[string]any{
		"loss": tensor.Scalar(1),
		"more": []*tensor.Tensor{tensor.Scalar(2), tensor.Scalar(3)},
		"pair": [2][]*tensor.Tensor{{tensor.Scalar(4)}, {}},
	}).(map[string]any)
	pair := out["pair"].([2][]*tensor.Tensor)
	got := []float64{out["loss"].(*tensor.Tensor).Item(), out["more"].([]*tensor.Tensor)[1].Item(), pair[0][0].Item(), float64(len(pair[1]))}
	if !slices.Equal(got, []float64{4, 12, 16, 0}) {
		t.Errorf("got %v", got)
	}
	x := []*tensor.Tensor{tensor.Scalar(1)}
	if got := amp.NewGradScaler(amp.ScalerEnabled(false)).ScaleNested(x).([]*tensor.Tensor); &got[0] != &x[0] {
		t.Error("a disabled scaler returned another slice, want its argument")
	}
	for _, tt := range []struct {
		outputs any
		want    string
	}{
		{nil, "outputs is nil"},
		{"text", "outputs is a string"},
		{[]any{tensor.Scalar(1), map[string]any{"b": 3.5}}, `outputs[1]["b"] is a float64`},
		{[]*tensor.Tensor{nil}, "outputs[0] is a nil tensor"},
	} {
		fresh := amp.NewGradScaler()
		if err := try(func() { fresh.ScaleNested(tt.outputs) }); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error that contains %q", err, tt.want)
		}
		if err := try(fresh.Update); err == nil || !strings.Contains(err.Error(), "no loss has been scaled") {
			t.Errorf("%s: a rejected call changed the state: got error %v", tt.want, err)
		}
	}
}

// TestNames checks that results and errors name the parameters of a known model by path.
func TestNames(t *testing.T) {
	type model struct{ Encoder *nn.Sequential }
	net := &model{nn.NewSequential(nn.NewLinear(2, 2), nn.NewReLU(), nn.NewLinear(2, 3))}
	list := nn.Parameters(net)
	s := amp.NewGradScaler(amp.ParamNames(net))
	s.Scale(tensor.Scalar(1))
	for _, p := range list {
		p.SetGrad(tensor.OnesLike(p))
	}
	list[2].Grad().Fill(inf)
	other := tensor.Ones(1).RequireGrad()
	r := s.Step(&params{list: append([]*tensor.Tensor{other}, list...)})
	if want := "encoder.2.weight (3, 2)"; r.Param != want || r.FirstBadParam != 3 || !strings.Contains(r.String(), want) {
		t.Errorf("got %q for parameter %d, want %q for 3", r, r.FirstBadParam, want)
	}
	s.Update()
	other.SetGrad(tensor.New([]float64{inf}, 1))
	if r := s.Step(&params{list: []*tensor.Tensor{other}}); r.Param != "parameter 0 (1,)" {
		t.Errorf("a parameter outside the model: got %q", r.Param)
	}
	list[1].SetData(list[1].Detach().Half())
	list[1].SetGrad(tensor.OnesLike(list[1]))
	if err := try(func() { s.Unscale(&params{list: list}) }); err == nil || !strings.Contains(err.Error(), "encoder.0.bias (2,)") {
		t.Errorf("got %v, want encoder.0.bias named", err)
	}
}

// TestHints checks the hints for problems whose cause is not the scale.
func TestHints(t *testing.T) {
	bad := func() *params { return &params{list: []*tensor.Tensor{weight(1), weight(inf)}} }
	t.Run("occasional skip", func(t *testing.T) {
		s, opt := amp.NewGradScaler(), bad()
		s.Scale(tensor.Scalar(1))
		if r := s.Step(opt); r.Hint != "" || r.Skips != 1 {
			t.Errorf("got %+v", r)
		}
		s.Update()
		opt.list[1].SetGrad(tensor.Ones(1))
		if r := s.Step(opt); r.Hint != "" || r.Skips != 0 {
			t.Errorf("got %+v", r)
		}
		s.Update()
		opt.list[1].SetGrad(tensor.New([]float64{inf}, 1))
		if r := s.Step(opt); r.Hint != "" || r.Skips != 1 {
			t.Errorf("after a step was taken: got %+v", r)
		}
	})
	t.Run("gradients cleared too early", func(t *testing.T) {
		s, opt := amp.NewGradScaler(), bad()
		for range 2 {
			opt.list[1].SetGrad(tensor.New([]float64{inf}, 1))
			s.Scale(tensor.Scalar(1))
			s.Unscale(opt)
			opt.ZeroGrad()
			if r := s.Step(opt); !r.Skipped || r.Hint != "" {
				t.Errorf("got %+v", r)
			}
			s.Update()
		}
	})
	t.Run("gradients never cleared", func(t *testing.T) {
		s, opt := amp.NewGradScaler(), bad()
		for i := range 2 {
			s.Scale(tensor.Scalar(1))
			if r := s.Step(opt); strings.Contains(r.Hint, "ZeroGrad") != (i == 1) {
				t.Errorf("step %d: got %v", i, r)
			}
			s.Update()
		}
	})
	t.Run("non-finite loss", func(t *testing.T) {
		s, opt := amp.NewGradScaler(), bad()
		for i := range 2 {
			s.Scale(tensor.Scalar(inf))
			opt.list[1].SetGrad(tensor.New([]float64{inf}, 1))
			if r := s.Step(opt); strings.Contains(r.Hint, "loss itself") != (i == 1) {
				t.Errorf("step %d: got %v", i, r)
			}
			s.Update()
		}
		s.Scale(tensor.Scalar(1))
		opt.list[1].SetGrad(tensor.New([]float64{inf}, 1))
		if r := s.Step(opt); r.Hint != "" {
			t.Errorf("with a finite loss again: got %v", r)
		}
	})
	t.Run("many skips", func(t *testing.T) {
		s, opt := amp.NewGradScaler(), bad()
		other := &params{list: []*tensor.Tensor{weight(1)}}
		for i := range 12 {
			s.Scale(tensor.Scalar(1))
			opt.list[1].SetGrad(tensor.New([]float64{inf}, 1))
			s.Step(other) // does not end the consecutive skips of opt
			if r := s.Step(opt); r.Skips != i+1 || strings.Contains(r.String(), fmt.Sprintf("%d consecutive steps", i+1)) != (i >= 9) {
				t.Errorf("step %d: got %v", i, r)
			}
			s.Update()
		}
	})
	t.Run("scale below 1", func(t *testing.T) {
		s, opt := amp.NewGradScaler(amp.InitScale(0.5)), &params{list: []*tensor.Tensor{weight(1)}}
		s.Scale(tensor.Scalar(1))
		if r := s.Step(opt); !strings.Contains(r.Hint, "below 1") || r.Skipped {
			t.Errorf("got %v", r)
		}
	})
	t.Run("scale without finite inverse", func(t *testing.T) {
		s, opt := amp.NewGradScaler(amp.InitScale(1.0/(1<<62)/(1<<62)/(1<<6))), &params{list: []*tensor.Tensor{weight(1)}}
		s.Scale(tensor.Scalar(1))
		if r := s.Step(opt); !strings.Contains(r.Hint, "no finite inverse") || r.Skipped || opt.list[0].Grad().Item() != inf {
			t.Errorf("got %v, gradient %v", r, opt.list[0].Grad())
		}
	})
}

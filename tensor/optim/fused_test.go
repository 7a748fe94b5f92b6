package optim_test

import (
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// TestStepScaled checks that a fused step divides by its scale and by that of SetGradScale,
// which a scaled step resets, and that it changes nothing if found is set.
func TestStepScaled(t *testing.T) {
	p := tensor.Ones(1).RequireGrad()
	opt := optim.NewSGD([]T{p}, 1, optim.Fused())
	for _, tt := range []struct {
		own                     float64
		scale                   T
		found                   float64
		wantGrad, wantParameter float64
	}{
		{0, tensor.Scalar(4), 0, 2, -1},
		{2, tensor.Scalar(4), 0, 1, 0},
		{0, tensor.Scalar(4), 0, 2, -1},
		{2, nil, 0, 4, -3},
		{0, nil, 0, 8, -7},
		{2, tensor.Scalar(4), 1, 8, 1},
		{0, tensor.Scalar(4), 0, 2, -1},
	} {
		p.Detach().Fill(1)
		p.SetGrad(tensor.New([]float64{8}, 1))
		if tt.own != 0 {
			opt.SetGradScale(tt.own)
		}
		opt.StepScaled(tt.scale, tensor.Scalar(tt.found))
		if g, x := p.Grad().Item(), p.Item(); g != tt.wantGrad || x != tt.wantParameter {
			t.Errorf("own scale %v, scale %v, found %v: got gradient %v and parameter %v, want %v and %v", tt.own, tt.scale, tt.found, g, x, tt.wantGrad, tt.wantParameter)
		}
	}
	opt.SetGradScale(8)
	for want := 0.0; want > -3; want-- { // plain steps do not reset the scale
		p.SetGrad(tensor.New([]float64{8}, 1))
		p.Detach().Fill(want + 1)
		opt.Step()
		if p.Item() != want {
			t.Errorf("after a plain step: got %v, want %v", p.Item(), want)
		}
	}
}

// TestStepScaledBeyondHalfRange divides float16 gradients by a scale outside float16's range.
func TestStepScaledBeyondHalfRange(t *testing.T) {
	p := tensor.OnesAs(tensor.Float16, 1).RequireGrad()
	p.SetGrad(tensor.NewAs(tensor.Float16, []float64{32768}))
	optim.NewSGD([]T{p}, 1, optim.Fused()).StepScaled(tensor.Scalar(131072), tensor.Scalar(0))
	if g, x := p.Grad().Item(), p.Item(); g != 0.25 || x != 0.75 {
		t.Errorf("got gradient %v and parameter %v, want 0.25 and 0.75", g, x)
	}
}

func TestFusedErrors(t *testing.T) {
	p, q := tensor.Ones(1).RequireGrad(), tensor.Ones(1).RequireGrad()
	for want, f := range map[string]func(){
		"fused is not a setting of RMSprop":                                                 func() { optim.NewRMSprop([]T{p}, 1, optim.Fused()) },
		"adam: Fused cannot apply to one group; give it to the constructor, for all groups": func() { optim.NewAdam([]T{p}, 1).AddGroup([]T{q}, optim.Fused()) },
		"SetGradScale requires a fused optimizer":                                           func() { optim.NewAdam([]T{p}, 1).SetGradScale(2) },
		"StepScaled requires a fused optimizer":                                             func() { optim.NewAdam([]T{p}, 1).StepScaled(nil, tensor.Scalar(0)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
	if optim.NewSGD([]T{p}, 1).Fused() || !optim.NewAdamW([]T{p}, 1, optim.Fused()).AddGroup([]T{q}).Fused() {
		t.Error("Fused() differs from the constructor's option")
	}
}

// TestFollowSkips checks that a scheduler with FollowSkips does not count skipped steps of the optimizer, and
// that a scheduler without it counts them and reports them in String.
func TestFollowSkips(t *testing.T) {
	steps := []bool{true, false, true, true, false, false}
	for _, tt := range []struct {
		follow bool
		want   []float64
	}{{false, []float64{.5, .25, .125, .0625, .03125, .015625}}, {true, []float64{.5, .5, .25, .125, .125, .125}}} {
		p := tensor.Ones(1).RequireGrad()
		opt := optim.NewSGD([]T{p}, 1)
		s := optim.NewExponentialLR(opt, 0.5)
		if tt.follow {
			s.FollowSkips()
		}
		var got []float64
		for _, taken := range steps {
			if taken {
				opt.Step()
			}
			s.Step()
			got = append(got, opt.LR())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("follow %v: got %v, want %v", tt.follow, got, tt.want)
		}
		if s.StepsAlone() != 3 || strings.Contains(s.String(), "3 of its steps") == tt.follow {
			t.Errorf("follow %v: got %d steps alone and the string %q", tt.follow, s.StepsAlone(), s)
		}
	}
}

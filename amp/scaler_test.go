package amp_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// params is an optimizer that counts its steps.
type params struct {
	list  []*tensor.Tensor
	steps int
}

func (p *params) Params() []*tensor.Tensor { return p.list }
func (p *params) Step()                    { p.steps++ }
func (p *params) ZeroGrad() {
	for _, t := range p.list {
		t.SetGrad(nil)
	}
}

// weight returns a parameter whose gradient is g.
func weight(g ...float64) *tensor.Tensor {
	w := tensor.Ones(len(g)).RequireGrad()
	w.SetGrad(tensor.New(g, len(g)))
	return w
}

var inf = math.Inf(1)

// TestScaleTrajectories checks sequences of scales. Expected values are from test_torch.py's harness and
// from float32 arithmetic. Format: before>after/tracker, with "!" in place of ">" for an overflow.
func TestScaleTrajectories(t *testing.T) {
	tests := []struct {
		name            string
		init            float64
		growth, backoff float64
		interval        int
		overflow        []int
		want            string
	}{
		{"harness", 128, 2, 0.5, 1, []int{2}, "128>256/0 256>512/0 512!256/0 256>512/0"},
		{"update_scale", 4, 2, 0.25, 2, []int{2}, "4>4/1 4>8/0 8!2/0"},
		{"demo", 65536, 2, 0.5, 5, []int{7}, "65536>65536/1 65536>65536/2 65536>65536/3 65536>65536/4 65536>131072/0 " +
			"131072>131072/1 131072>131072/2 131072!65536/0 65536>65536/1 65536>65536/2 65536>65536/3 65536>65536/4 65536>131072/0 " +
			"131072>131072/1 131072>131072/2 131072>131072/3"},
		{"burn_in", 65536, 2, 0.5, 4, []int{0, 1, 2, 3, 9}, "65536!32768/0 32768!16384/0 16384!8192/0 8192!4096/0 " +
			"4096>4096/1 4096>4096/2 4096>4096/3 4096>8192/0 8192>8192/1 8192!4096/0 4096>4096/1 4096>4096/2 4096>4096/3 4096>8192/0"},
		{"will_not_overflow", 1e38, 16, 0.5, 1, nil, "9.99999968e+37>9.99999968e+37/0 9.99999968e+37>9.99999968e+37/0"},
		{"odd_factors", 3, 4, 0.8, 2, []int{1, 4}, "3>3/1 3!2.4000001/0 2.4000001>2.4000001/1 2.4000001>9.60000038/0 " +
			"9.60000038!7.68000031/0 7.68000031>7.68000031/1 7.68000031>30.7200012/0 30.7200012>30.7200012/1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := amp.NewGradScaler(amp.InitScale(tt.init), amp.GrowthFactor(tt.growth), amp.BackoffFactor(tt.backoff), amp.GrowthInterval(tt.interval))
			s.Scale(tensor.Scalar(1))
			var got []string
			for i := range strings.Fields(tt.want) {
				opt, sign := &params{list: []*tensor.Tensor{weight(1)}}, ">"
				if slices.Contains(tt.overflow, i) {
					opt.list[0].SetGrad(tensor.New([]float64{inf}, 1))
					sign = "!"
				}
				before := s.CurrentScale()
				r := s.Step(opt)
				if r.Skipped != (sign == "!") || (opt.steps == 0) != r.Skipped {
					t.Errorf("step %d: got skipped %v and %d steps of the optimizer", i, r.Skipped, opt.steps)
				}
				s.Update()
				got = append(got, fmt.Sprintf("%.9g%s%.9g/%d", before, sign, s.CurrentScale(), s.GrowthTracker()))
			}
			if g := strings.Join(got, " "); g != tt.want {
				t.Errorf("got  %s\nwant %s", g, tt.want)
			}
		})
	}
}

// TestScalerErrors checks errors that testdata/scripts.py cannot provoke in torch.
func TestScalerErrors(t *testing.T) {
	scaled := func() *amp.GradScaler {
		s := amp.NewGradScaler()
		s.Scale(tensor.Scalar(1))
		return s
	}
	tests := []struct {
		code string
		call func()
	}{
		{"bad_outputs", func() { amp.NewGradScaler().Scale(nil) }},
		{"bad_new_scale", func() { scaled().UpdateFrom(nil) }},
		{"bad_new_scale", func() { scaled().UpdateFrom(tensor.Zeros(0)) }},
		{"no_grads", func() { scaled().Step(&params{}) }},
		{"empty_state", func() { amp.NewGradScaler().LoadStateDict(nil) }},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			err := try(tt.call)
			var e *amp.Error
			if !errors.As(err, &e) || e.Code != tt.code {
				t.Fatalf("got %v, want an *amp.Error with code %s", err, tt.code)
			}
		})
	}
}

func try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			if e, ok := r.(error); ok {
				err = e
			}
		}
	}()
	f()
	return nil
}

func TestRejectedFloat16GradientChangesNothing(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(4))
	s.Scale(tensor.Scalar(1))
	half := tensor.Ones(1).To(tensor.Float16).Detach().RequireGrad()
	half.SetGrad(tensor.Ones(1).To(tensor.Float16))
	opt := &params{list: []*tensor.Tensor{weight(8), half}}
	if err := try(func() { s.Unscale(opt) }); err == nil {
		t.Fatal("a float16 gradient: got no error")
	}
	if got := opt.list[0].Grad().Item(); got != 8 {
		t.Errorf("the other gradient: got %v, want 8, unchanged", got)
	}
	opt.list = opt.list[:1]
	s.Unscale(opt) // the rejected call must not change the stage
	if got := opt.list[0].Grad().Item(); got != 2 {
		t.Errorf("after Unscale: got gradient %v, want 2", got)
	}
}

func TestUnscale(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(4))
	s.Scale(tensor.Scalar(1))
	opt := &params{list: []*tensor.Tensor{weight(4, 8), tensor.Ones(3).RequireGrad(), weight(1, inf), weight(math.NaN())}}
	s.Unscale(opt)
	if got := opt.list[0].Grad().Float64s(); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("got gradient %v, want [1 2]", got)
	}
	r := s.Step(opt)
	if !r.Skipped || !r.FoundInf || r.FirstBadParam != 2 || opt.steps != 0 {
		t.Errorf("got %+v and %d steps, want a skip for parameter 2", r, opt.steps)
	}
	if !strings.Contains(r.String(), "skipped") || !strings.Contains(r.String(), "(2,)") {
		t.Errorf("got %q, want it to report the skip and the shape", r)
	}
}

func TestDisabled(t *testing.T) {
	s := amp.NewGradScaler(amp.ScalerEnabled(false))
	loss, opt := tensor.Scalar(3), &params{list: []*tensor.Tensor{weight(inf)}}
	if s.Scale(loss) != loss {
		t.Error("Scale returned another tensor, want its argument")
	}
	s.Unscale(opt)
	if r := s.Step(opt); r.Skipped || opt.steps != 1 {
		t.Errorf("got %+v and %d steps, want a plain step", r, opt.steps)
	}
	s.Update()
	if s.CurrentScale() != 1 || len(s.StateDict()) != 0 {
		t.Errorf("got scale %v and state %v, want 1 and none", s.CurrentScale(), s.StateDict())
	}
}

// TestScaleOfFloat16Loss checks that a 0-dim float16 loss promotes to float32, and that one with a
// dimension overflows: the default scale exceeds float16's range. torch does the same.
func TestScaleOfFloat16Loss(t *testing.T) {
	s := amp.NewGradScaler()
	if got := s.Scale(tensor.Scalar(1e-3).To(tensor.Float16)); got.DType() != tensor.Float32 || got.Item() != 65.5625 {
		t.Errorf("0-dim: got %v %v, want float32 65.5625", got.DType(), got.Item())
	}
	if got := s.Scale(tensor.Ones(1).To(tensor.Float16)); got.DType() != tensor.Float16 || got.Item() != inf {
		t.Errorf("1-dim: got %v %v, want float16 +Inf", got.DType(), got.Item())
	}
}

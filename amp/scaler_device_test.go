//go:build cuda && linux && cgo

package amp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestNonBlockingOnGPU checks that training with StepNonBlocking gives the same bits, skips and
// scales as with Step, whether or not the scale is read in between.
func TestNonBlockingOnGPU(t *testing.T) {
	tensor.SetDefaultDevice(tensor.CUDA)
	defer tensor.SetDefaultDevice(tensor.CPU)
	x, y := tensor.NewGenerator(1).Randn(16, 8), tensor.NewGenerator(2).Randn(16, 8)
	const steps, overflows = 12, "!....!!...!."
	base := []amp.ScalerOption{amp.InitScale(1024), amp.GrowthInterval(3)}
	for _, c := range []struct {
		name      string
		optimizer string
		scaler    []amp.ScalerOption
		clip      bool
		fused     bool
	}{
		{name: "sgd", optimizer: "sgd"},
		{name: "momentum, clipping", optimizer: "momentum", clip: true},
		{name: "adam", optimizer: "adam"},
		{name: "fused adam", optimizer: "adam", fused: true},
		{name: "adamw with amsgrad", optimizer: "adamw"},
		{name: "static", optimizer: "sgd", scaler: []amp.ScalerOption{amp.StaticScale(64)}},
		{name: "limits", optimizer: "sgd", scaler: []amp.ScalerOption{amp.MinScale(600), amp.MaxScale(1500), amp.Hysteresis(2)}},
		{name: "the scale falls to 0", optimizer: "sgd", scaler: []amp.ScalerOption{amp.InitScale(1e-44)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// run takes steps with Step if blocking reports true, else with StepNonBlocking. It reads the
			// scale after the steps for which asks reports true.
			run := func(blocking, asks func(k int) bool) (trail []string, end string) {
				net := newModel(3)
				var options []optim.Option
				if c.fused {
					options = append(options, optim.Fused())
				}
				opt := optimizers[c.optimizer](nn.Parameters(net), options...)
				s := amp.NewGradScaler(slices.Concat(base, c.scaler)...)
				for k := range steps {
					opt.ZeroGrad()
					var loss *tensor.Tensor
					amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
					s.Scale(loss).Backward()
					if overflows[k] == '!' {
						poison(net)
					}
					if c.clip {
						s.Unscale(opt)
						nn.ClipGradNorm(nn.Parameters(net), 0.5)
					}
					if blocking(k) {
						s.Step(opt)
					} else {
						s.StepNonBlocking(opt)
					}
					s.Update()
					if asks(k) {
						trail = append(trail, fmt.Sprint(k, s.CurrentScale(), s.GrowthTracker()))
					}
				}
				return trail, fmt.Sprint(s.StateDict(), s, bits(net, opt))
			}
			always, never := func(int) bool { return true }, func(int) bool { return false }
			trail, end := run(always, always)
			for name, way := range map[string][2]func(k int) bool{
				"read after each step":  {never, always},
				"never read":            {never, never},
				"alternating with Step": {func(k int) bool { return k%2 == 1 }, always},
			} {
				got, at := run(way[0], way[1])
				if len(got) > 0 && !slices.Equal(got, trail) {
					t.Errorf("%s: step, scale and tracker: got %v, want %v as with Step", name, got, trail)
				}
				if at != end {
					t.Errorf("%s: final state: got %.300s, want %.300s as with Step", name, at, end)
				}
			}
		})
	}
}

// TestNonBlockingStateOnGPU checks that a scale that is set by hand takes effect while the GPU holds the
// scaler's state.
func TestNonBlockingStateOnGPU(t *testing.T) {
	tensor.SetDefaultDevice(tensor.CUDA)
	defer tensor.SetDefaultDevice(tensor.CPU)
	s := amp.NewGradScaler(amp.InitScale(8), amp.GrowthInterval(2))
	opt := optim.NewSGD([]*tensor.Tensor{weight(8)}, 0.5)
	p := opt.Params()[0]
	p.SetGrad(nil)
	step := func(grad float64) float64 {
		s.Scale(tensor.Scalar(1)).Item()
		p.SetGrad(tensor.New([]float64{grad}, 1))
		s.StepNonBlocking(opt)
		s.Update()
		return p.Detach().Item()
	}
	if got := step(8); got != 0.5 { // the gradient is 1
		t.Errorf("got %v, want 0.5", got)
	}
	s.UpdateTo(2)
	if got := step(2); got != 0 || s.CurrentScale() != 4 {
		t.Errorf("after UpdateTo: got %v at scale %v, want 0 at 4", got, s.CurrentScale())
	}
	saved := s.StateDict()
	step(inf)
	if got := s.CurrentScale(); got != 2 {
		t.Errorf("scale after an overflow: got %v, want 2", got)
	}
	s.LoadStateDict(saved)
	if got := step(4); got != -0.5 || s.CurrentScale() != 4 || s.GrowthTracker() != 1 {
		t.Errorf("after LoadStateDict: got %v at %v, want -0.5 at scale 4 with one clean step", got, s)
	}
	if got := s.Scale(tensor.Scalar(3)).Item(); got != 12 {
		t.Errorf("scaled loss of 3: got %v, want 12", got)
	}
}

// TestNonBlockingFallsBackOnGPU checks that StepNonBlocking calls Step if the GPU cannot skip steps itself,
// and that it has Step's errors.
func TestNonBlockingFallsBackOnGPU(t *testing.T) {
	tensor.SetDefaultDevice(tensor.CUDA)
	defer tensor.SetDefaultDevice(tensor.CPU)
	s := amp.NewGradScaler(amp.InitScale(4))
	opt := optim.NewSGD([]*tensor.Tensor{weight(8)}, 0.5)
	if err := try(func() { s.StepNonBlocking(opt) }); err == nil || !strings.Contains(err.Error(), "no loss has been scaled") {
		t.Errorf("before a loss: got error %v", err)
	}
	s.Scale(tensor.Scalar(1))
	var seen []amp.ScalerEvent
	stop := amp.ObserveScalers(func(e amp.ScalerEvent) { seen = append(seen, e) })
	opt.Params()[0].SetGrad(tensor.New([]float64{inf}, 1))
	s.StepNonBlocking(opt)
	s.Update()
	stop()
	if len(seen) != 3 || !seen[1].Result.Skipped || seen[2].After != 2 {
		t.Errorf("got events %v, want gradients unscaled, a step skipped and the scale updated to 2", seen)
	}
	own := &params{list: []*tensor.Tensor{weight(8)}}
	own.list[0].SetGrad(tensor.New([]float64{4}, 1))
	s.StepNonBlocking(own)
	if own.steps != 1 {
		t.Errorf("a user's optimizer: got %d steps, want 1", own.steps)
	}
	if err := try(func() { s.StepNonBlocking(own) }); err == nil || !strings.Contains(err.Error(), "has stepped since") {
		t.Errorf("a second step: got error %v", err)
	}
	s.Update()
	opt.ZeroGrad()
	if err := try(func() { s.StepNonBlocking(opt) }); err == nil || !strings.Contains(err.Error(), "no parameter of this optimizer has a gradient") {
		t.Errorf("without gradients: got error %v", err)
	}
}

package diagnose

import (
	"math"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

func TestScaleKnob(t *testing.T) {
	net := nn.NewLinear(4, 1)
	sgd, scaler := optim.NewSGD(nn.Parameters(net), .01), amp.NewGradScaler(amp.GrowthInterval(3))
	x := tensor.Ones(2, 4)
	step := func() amp.StepResult {
		sgd.ZeroGrad()
		scaler.Scale(net.Forward(x).Mean()).Backward()
		r := scaler.Step(sgd)
		scaler.Update()
		return r
	}
	k := ScaleKnob(scaler)
	step()
	k.slider.SetValue(1024) // as the reader does
	if got := scaler.CurrentScale(); got != 65536 {
		t.Errorf("got the scale %g before the next Update, want 65536", got)
	}
	if r := step(); r.Scale != 65536 || scaler.CurrentScale() != 1024 {
		t.Errorf("got a step with scale %g and then %g, want 65536 and 1024", r.Scale, scaler.CurrentScale())
	}
	for range 3 {
		step()
	}
	if scaler.CurrentScale() != 2048 || k.slider.Value() != 2048 {
		t.Errorf("got the scale %g and the slider at %g, want 2048, the scale after 3 clean steps", scaler.CurrentScale(), k.slider.Value())
	}
	x = tensor.Full(math.Inf(1), 2, 4)
	step()
	if text := k.String(); !strings.Contains(text, "loss scale: 1024") || !strings.Contains(text, "step 5 skipped; 1 of 6 skipped") {
		t.Errorf("got %q", text)
	}
	k.Stop()
	k.Stop()
	k.slider.SetValue(1)
	if step(); scaler.CurrentScale() == 1 {
		t.Error("a stopped knob changes the scale")
	}
}

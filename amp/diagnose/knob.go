package diagnose

import (
	"fmt"
	"math"
	"sync"

	"halfnote/amp"
	"halfnote/display/widget"
)

// ScaleKnob returns a slider for the loss scale of a scaler, which can be moved while a cell trains. The scale
// that the reader chooses takes effect at the next Update. The slider follows the scale that the scaler
// chooses, and the line below it says what the last step did. A page without a kernel shows the last state.
//
//	knob := diagnose.ScaleKnob(scaler)
//	display.Show(knob)
//	defer knob.Stop()
//	for range display.Track(1000, "training") { … }
//
// ScaleKnob panics if scaler is nil.
func ScaleKnob(scaler *amp.GradScaler) *Knob {
	if scaler == nil {
		panic(fmt.Errorf("diagnose: ScaleKnob: the scaler is nil; want one from amp.NewGradScaler"))
	}
	k := &Knob{scaler: scaler, last: scaler.CurrentScale()}
	k.slider = widget.NewFloatLogSlider(k.last, 0, knobMost, widget.Base(2), widget.Step(1), widget.Description("loss scale"), widget.Format(",.0f"), widget.Layout("width", "60%"))
	k.label = widget.NewLabel("no step yet")
	k.Box = widget.NewVBox(k.slider, k.label)
	k.slider.OnChange(k.turn)
	k.stop = amp.ObserveScalers(k.event)
	return k
}

// knobMost is the exponent of the largest scale of the slider.
const knobMost = 32

// Knob is the slider of [ScaleKnob].
type Knob struct {
	*widget.Box
	scaler *amp.GradScaler
	slider *widget.Float
	label  *widget.String
	stop   func()

	mu     sync.Mutex
	last   float64 // scale shown, as the scaler set it
	wanted float64 // scale that the reader has chosen and that has not taken effect; 0: none
	steps  int
	skips  int
}

// turn notes a scale that the reader chooses.
func (k *Knob) turn(scale float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if scale != k.last {
		k.wanted = scale
	}
}

// event follows the scaler, and sets its scale between two steps.
func (k *Knob) event(e amp.ScalerEvent) {
	if e.Scaler != k.scaler {
		return
	}
	switch e.Kind {
	case amp.EventStep:
		k.mu.Lock()
		k.steps++
		text := fmt.Sprintf("step %d", e.Step)
		if e.Result.Skipped {
			k.skips++
			text += " skipped"
		}
		text += fmt.Sprintf("; %d of %d skipped", k.skips, k.steps)
		k.mu.Unlock()
		k.label.SetValue(text)
	case amp.EventUpdate:
		k.mu.Lock()
		wanted := k.wanted
		k.wanted = 0
		if wanted == 0 {
			k.last = min(max(e.After, 1), math.Exp2(knobMost)) // as the slider shows it
		}
		scale := k.last
		k.mu.Unlock()
		if wanted > 0 {
			k.scaler.UpdateTo(wanted) // which causes an event
			return
		}
		k.slider.SetValue(scale)
	}
}

// Stop ends the connection of the slider with the scaler. Calling it again does nothing.
func (k *Knob) Stop() { k.stop() }

package trace

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// nothing is an output area that shows nothing.
type nothing struct{}

func (nothing) Display(display.Bundle) {}
func (nothing) Update(display.Bundle)  {}
func (nothing) Clear(bool)             {}

// loops are training steps: each returns the loss. Step 90 of the scaled one has an infinite input.
var loops = []struct {
	name    string
	samples bool // a recording may leave out operations
	loop    func() (step func() float64)
}{
	{"scaled", true, func() func() float64 {
		return training(nil, true)
	}},
	{"unscaled", true, func() func() float64 { return training(nil, false) }},
	{"by hand", false, func() func() float64 {
		return training(func(net nn.Module, forward func() *tensor.Tensor) float64 {
			loss := forward()
			loss.Backward()
			tensor.NoGrad(func() {
				for _, p := range nn.Parameters(net) {
					p.SubAssign(p.Grad().MulScalar(0.01))
					p.ZeroGrad()
				}
			})
			return loss.Item()
		}, false)
	}},
}

// training returns a step of a small network: own, or one with an optimizer, and with a scaler if scaled is set.
func training(own func(net nn.Module, forward func() *tensor.Tensor) float64, scaled bool) func() float64 {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 1))
	x, y := tensor.Randn(32, 8), tensor.Randn(32, 1)
	sgd, scaler := optim.NewSGD(nn.Parameters(net), .01), amp.NewGradScaler()
	n := 0
	forward := func() (loss *tensor.Tensor) {
		in := x
		if n++; n == 91 && scaled {
			in = x.MulScalar(math.Inf(1))
		}
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(in), y) })
		return loss
	}
	switch {
	case scaled:
		return func() float64 {
			loss := forward()
			scaler.Scale(loss).Backward()
			scaler.Step(sgd)
			scaler.Update()
			sgd.ZeroGrad()
			return loss.Item()
		}
	case own == nil:
		return func() float64 {
			loss := forward()
			sgd.ZeroGrad()
			loss.Backward()
			sgd.Step()
			return loss.Item()
		}
	}
	return func() float64 { return own(net, forward) }
}

// TestSampling checks that a recording with a dashboard leaves out operations when they take too long, and still knows
// every step's loss and scale; and that it leaves out none if only operations tell the steps apart, or if all are wanted.
func TestSampling(t *testing.T) {
	const steps = 200
	for _, tt := range loops {
		for _, always := range []bool{false, true} {
			name := fmt.Sprintf("%s, always %t", tt.name, always)
			options := []Option{LiveOn(display.NewScreen(func() display.Sink { return nothing{} }))}
			if always {
				options = append(options, CountAlways())
			}
			step := tt.loop()
			step() // an allowance must not depend on the time of the first step
			rec := Start(options...)
			rec.mu.Lock()
			rec.meter.begun = time.Now().Add(time.Hour) // only the free allowance is left
			rec.mu.Unlock()
			var want []float64
			for i := range steps {
				if i == steps/2 {
					rec.mu.Lock()
					rec.sampling.ops, rec.meter.spent = 0, 0 // there is time again
					rec.mu.Unlock()
				}
				want = append(want, step())
			}
			rec.Stop()
			if n := rec.sums.all; n != steps {
				t.Errorf("%s: got %d steps, want %d", name, n, steps)
			}
			if left := rec.sums.recorded < steps; left != (tt.samples && !always) {
				t.Errorf("%s: operations were recorded in %d of %d steps", name, rec.sums.recorded, steps)
			}
			if !tt.samples || always {
				continue
			}
			var got []float64
			for _, m := range rec.history.columns {
				got = append(got, m.loss)
			}
			same := func(a, b float64) bool { return a == b || a != a && b != b }
			if !slices.EqualFunc(got, want, same) {
				t.Errorf("%s: got losses %v, want %v", name, got, want)
			}
			ran := map[int]int{}
			for _, op := range rec.Ops() {
				ran[op.Step]++
			}
			if len(ran) != rec.sums.recorded || ran[0] == 0 || ran[steps/2+1] == 0 {
				t.Errorf("%s: operations of the steps %v, want those of %d, from 0 and from about %d on", name, ran, rec.sums.recorded, steps/2)
			}
			for s, n := range ran {
				if n != ran[0] && s != 90 && s != 89 {
					t.Errorf("%s: %d operations of step %d, want %d as of step 0", name, n, s, ran[0])
				}
			}
			if text := rec.String(); !strings.Contains(text, fmt.Sprintf("operations recorded in %d of %d steps", rec.sums.recorded, steps)) {
				t.Errorf("%s: got %q", name, text)
			}
			if rows := rec.By("step").Rows; len(rows) != rec.sums.recorded {
				t.Errorf("%s: got %d rows of steps, want %d", name, len(rows), rec.sums.recorded)
			}
			if tt.name == "scaled" && (len(rec.Steps()) != steps || !rec.Steps()[89].Skipped || len(rec.history.columns[89].skipped) != 1) {
				t.Errorf("%s: got %d scaled steps, want %d, of which 89 is skipped", name, len(rec.Steps()), steps)
			}
			func() {
				defer func() {
					if v := recover(); !strings.Contains(fmt.Sprint(v), "are not recorded") {
						t.Errorf("%s: a step without operations: got the panic %v", name, v)
					}
				}()
				rec.Step(steps / 4)
			}()
		}
	}
}

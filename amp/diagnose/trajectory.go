package diagnose

import (
	"fmt"

	"halfnote/amp"
	"halfnote/display/chart"
)

// Trajectory compares the loss scales of a run with those under other scaler settings.
type Trajectory struct {
	Steps []TrajectoryStep
	// Skipped and TakenSkipped are the numbers of steps skipped under the other settings and in
	// the run.
	Skipped, TakenSkipped int
	// Unknown is the number of steps recorded with an inf or NaN and replayed at a smaller
	// scale: whether they would still overflow is unknown, so they count as clean. It is 0 for
	// runs in float32 or bfloat16.
	Unknown int
	Static  float64 // static scale that would have skipped no step
}

// TrajectoryStep is one step of a [Trajectory].
type TrajectoryStep struct {
	Scale   float64
	Skipped bool
	Unknown bool
	Taken   float64 // scale of the run, 1 without a scaler
	Was     bool    // the run skipped the step
}

// Trajectory simulates a float16 run with a scaler made with options on the recorded gradients:
// its scale in each step, and the steps it would have skipped. Without options it simulates the
// default scaler.
func (r *Replay) Trajectory(options ...amp.ScalerOption) Trajectory {
	static := r.Band(Float16).Static
	r.mu.Lock()
	defer r.mu.Unlock()
	t := Trajectory{Static: static}
	unknown := map[int]bool{}
	results := amp.Simulate(len(r.steps), func(i int, scale float64) bool {
		over, known := r.steps[i].overflows(scale, Float16)
		if !known {
			unknown[i] = true
		}
		return over
	}, options...)
	for i, result := range results {
		s := r.steps[i]
		t.Steps = append(t.Steps, TrajectoryStep{Scale: result.Scale, Skipped: result.Skipped, Unknown: unknown[i], Taken: s.scale, Was: s.skipped})
		if result.Skipped {
			t.Skipped++
		}
		if s.skipped {
			t.TakenSkipped++
		}
	}
	t.Unknown = len(unknown)
	return t
}

// Scales returns the scale of each step.
func (t Trajectory) Scales() []float64 {
	list := make([]float64, len(t.Steps))
	for i, s := range t.Steps {
		list[i] = s.Scale
	}
	return list
}

// String returns a sentence on the skipped steps.
func (t Trajectory) String() string {
	if len(t.Steps) == 0 {
		return "no gradients recorded"
	}
	first, last := t.Steps[0], t.Steps[len(t.Steps)-1]
	text := fmt.Sprintf("Over %s: %d skipped, scale from %s to %s; the run skipped %d, scale from %s to %s", steps(len(t.Steps)),
		t.Skipped, scaleText(first.Scale), scaleText(last.Scale), t.TakenSkipped, scaleText(first.Taken), scaleText(last.Taken))
	if t.Unknown > 0 {
		text += fmt.Sprintf("; whether %s would still overflow at a smaller scale is unknown", steps(t.Unknown))
	}
	return text
}

// HTML returns the sentence and the chart.
func (t Trajectory) HTML() string { return page(t.String(), t.Chart()) }

// InTheme implements display.Themed.
func (t Trajectory) InTheme(name string) any {
	return themed(t, page(t.String(), inTheme(t.Chart(), name)))
}

// Chart shows both scales over the steps.
func (t Trajectory) Chart() *chart.Figure {
	taken := make([]float64, len(t.Steps))
	for i, s := range t.Steps {
		taken[i] = s.Taken
	}
	return chart.Lines("loss scale", []chart.Series{{Name: "taken", DType: "float32", Values: taken}, {Name: "what if", DType: "float16", Values: t.Scales()}})
}

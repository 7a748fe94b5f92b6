package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ScaleStep is one training step under a gradient scaler.
type ScaleStep struct {
	Scale   float64 // scale that the loss was multiplied by
	After   float64 // scale after the update; 0: that of the next step
	Skipped bool    // true if the optimizer did not step because a gradient was non-finite
	Why     string  // cause of the skip, for the table
}

// LossScale shows the loss scale over the steps of a run, a sawtooth: it halves at every skipped
// step, marked ✗, and grows after a number of clean steps, marked ▲. The scale axis is
// logarithmic with base 2.
func LossScale(steps []ScaleStep) *Figure {
	if len(steps) == 0 {
		return blank(words.scaleNone)
	}
	run := newScaleRun(steps)
	return &Figure{
		theme: Light, sentence: run.sentence(), height: 220, draw: run.draw, twin: run.twin,
		head: []string{words.headStep, words.headScale, words.headAfter, words.headEvent}, rows: run.events(), data: run.all,
	}
}

// scaleRun is a run with every After filled in, and the indices of its events.
type scaleRun struct {
	steps               []ScaleStep
	skips, grows, sinks []int // sinks: decreases without a skip
}

func newScaleRun(given []ScaleStep) *scaleRun {
	r := &scaleRun{steps: append([]ScaleStep(nil), given...)}
	for i := range r.steps {
		s := &r.steps[i]
		if s.After == 0 {
			if s.After = s.Scale; i+1 < len(r.steps) {
				s.After = r.steps[i+1].Scale
			}
		}
		switch {
		case s.Skipped:
			r.skips = append(r.skips, i)
		case s.After > s.Scale:
			r.grows = append(r.grows, i)
		case s.After < s.Scale:
			r.sinks = append(r.sinks, i)
		}
	}
	return r
}

func (r *scaleRun) sentence() string {
	first, last := r.steps[0].Scale, r.steps[len(r.steps)-1].After
	if len(r.skips)+len(r.grows)+len(r.sinks) == 0 {
		return fmt.Sprintf(words.scaleSteady, stepsText(len(r.steps)), scaleText(first))
	}
	skips := words.scaleSkips
	if n := len(r.skips); n > 0 {
		skips = fmt.Sprint(n)
	}
	return fmt.Sprintf(words.scaleMoved, stepsText(len(r.steps)), skips, scaleText(first), scaleText(last))
}

func stepsText(n int) string {
	return counted(n, words.scaleOneStep, words.scaleSteps)
}

// counted returns the text for one thing, or the one for n things.
func counted(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// events returns a row for each of the first dozen steps at which the scale changed or a step was
// skipped.
func (r *scaleRun) events() (rows [][]any) {
	for i, s := range r.steps {
		event := ""
		switch {
		case s.Skipped:
			event = words.skipped
		case s.After > s.Scale:
			event = words.grew
		case s.After < s.Scale:
			event = words.shrank
		default:
			continue
		}
		if s.Why != "" {
			event += ": " + s.Why
		}
		rows = append(rows, []any{i, scaleText(s.Scale), scaleText(s.After), event})
	}
	return cutRows(rows, 12)
}

func (r *scaleRun) all() (head []string, rows [][]any) {
	for i, s := range r.steps {
		rows = append(rows, []any{i, s.Scale, s.After, s.Skipped, s.Why})
	}
	return []string{words.headStep, words.headScale, words.headAfter, words.skipped, words.headWhy}, rows
}

func (r *scaleRun) draw(t Theme, c draw.Canvas) {
	var explain []key
	for _, k := range []struct {
		at []int
		key
	}{
		{r.skips, key{cross, t.Skip, words.legendSkip}},
		{r.grows, key{up, t.BFloat16, words.legendGrow}},
		{r.sinks, key{down, t.Neutral, words.legendShrink}},
	} {
		if len(k.at) > 0 {
			k.text = fmt.Sprintf("%s (%d)", k.text, len(k.at))
			explain = append(explain, k.key)
		}
	}
	c = keys(t, c, words.scale, explain)

	p := t.plot()
	p.X.Label.Text = words.step
	p.Y.Tick.Marker = powerTicks{2}
	line := make([]float64, 0, len(r.steps)+1)
	for _, s := range r.steps {
		line = append(line, math.Log2(s.Scale))
	}
	line = append(line, math.Log2(r.steps[len(r.steps)-1].After))
	p.Add(curve{y: line, style: draw.LineStyle{Color: t.Float32, Width: 2}, stairs: true, bad: t.Skip})
	p.X.Min, p.X.Max = 0, float64(len(r.steps))
	lo, hi := math.Floor(p.Y.Min), math.Ceil(p.Y.Max)
	if pad := 3 - (hi - lo); pad > 0 { // a constant scale is not drawn on the axis
		lo, hi = lo-math.Ceil(pad/2), hi+math.Ceil(pad/2)
	}
	p.Y.Min, p.Y.Max = lo-.25, hi+.5
	p.Add(marks{r.grows, line, up, t.BFloat16, true}, marks{r.sinks, line, down, t.Neutral, true}, marks{r.skips, line, cross, t.Skip, false})
	p.Draw(c)
}

// marks draws a shape at some steps of a line: on the step, or on the riser to the next step.
type marks struct {
	at    []int
	y     []float64
	mark  shape
	color colour
	riser bool
}

func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	last := vg.Length(math.Inf(-1))
	var size vg.Length = 4
	if len(m.at) > 50 {
		size = 2.5
	}
	for _, i := range m.at {
		from, to := m.y[i], m.y[i+1]
		at := vg.Point{X: x(float64(i) + .5), Y: y(from)}
		if m.riser {
			at = vg.Point{X: x(float64(i) + 1), Y: y((from + to) / 2)}
		}
		if !finite(from) || m.riser && !finite(to) {
			at.Y = c.Max.Y - 5
		}
		if at.X-last < 1 { // marks too close to tell apart
			continue
		}
		last = at.X
		m.mark(&c, at, size, m.color)
	}
}

package chart

import (
	"fmt"
	"image/color"
	"math"
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
	f := run.view().figure(run.sentence())
	f.head, f.rows, f.data = []string{words.headStep, words.headScale, words.headAfter, words.headEvent}, run.events(), run.all
	return f
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

// event returns the name of what happened at a step, "" if the scale stayed.
func (r *scaleRun) event(s ScaleStep) string {
	switch {
	case s.Skipped:
		return words.skipped
	case s.After > s.Scale:
		return words.grew
	case s.After < s.Scale:
		return words.shrank
	}
	return ""
}

// events returns a row for each of the first dozen steps at which the scale changed or a step was
// skipped.
func (r *scaleRun) events() (rows [][]any) {
	for i, s := range r.steps {
		event := r.event(s)
		if event == "" {
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

// view returns the scale as a step line and the events as marks on them.
func (r *scaleRun) view() view {
	n := len(r.steps)
	v := view{x: scale{title: words.step, lo: 0, hi: float64(n), whole: true}, y: scale{title: words.scale, base: 2}, height: 165, zoom: []string{"x"}, points: n,
		kinds: []kind{{name: words.scale, color: func(t Theme) color.NRGBA { return t.Float32 }, quiet: true}},
		facts: []fact{{"step", words.headStep}, {"event", words.headEvent}, {"scale", words.headScale}, {"after", words.headAfter}, {"why", words.headWhy}}}
	at := span{math.Inf(1), math.Inf(-1)}
	height := func(scale float64) float64 {
		y := exponent(scale, 2)
		at.hold(y)
		return y
	}
	line, keep := layer{mark: curves{steps: true, width: 2}}, r.kept()
	for i, s := range r.steps {
		if keep[i] {
			line.rows = append(line.rows, row{x: float64(i), y: height(s.Scale), facts: []any{i, r.event(s), s.Scale, s.After, s.Why}})
		}
	}
	last := r.steps[n-1].After
	line.rows = append(line.rows, row{x: float64(n), y: height(last), facts: []any{n, "", last, last, ""}})
	if at.lo > at.hi {
		at = span{0, 1}
	}
	lo, hi := math.Floor(at.lo), math.Ceil(at.hi)
	if pad := 3 - (hi - lo); pad > 0 { // a constant scale is not drawn on the axis
		lo, hi = lo-math.Ceil(pad/2), hi+math.Ceil(pad/2)
	}
	v.y.lo, v.y.hi = lo-.25, hi+.5
	dots, marks := points{width: 4}, layer{}
	for _, k := range []struct {
		kind
		at    []int
		riser bool // marks stand on the riser to the next step
	}{
		{kind{name: words.legendSkip, symbol: cross, color: skipInk}, r.skips, false},
		{kind{name: words.legendGrow, symbol: up, color: func(t Theme) color.NRGBA { return t.BFloat16 }}, r.grows, true},
		{kind{name: words.legendShrink, symbol: down, color: neutral}, r.sinks, true},
	} {
		if len(k.at) == 0 {
			continue
		}
		if k.name = fmt.Sprintf("%s (%d)", k.name, len(k.at)); len(k.at) > 50 {
			dots.width = 2.5
		}
		v.kinds = append(v.kinds, k.kind)
		for _, i := range evenly(k.at, eventsMost) {
			s := r.steps[i]
			mark := row{x: float64(i) + .5, y: exponent(s.Scale, 2), kind: len(v.kinds) - 1, facts: []any{i, r.event(s), s.Scale, s.After, s.Why}}
			if k.riser {
				mark.x, mark.y = float64(i+1), (exponent(s.Scale, 2)+exponent(s.After, 2))/2
			}
			if !finite(mark.y) {
				mark.y = v.y.hi - .2
			}
			marks.rows = append(marks.rows, mark)
		}
	}
	marks.mark = dots
	v.layers = []layer{line, marks}
	return v
}

// eventsMost is the maximum number of marks of a kind.
const eventsMost = mostPoints / 12

// kept reports the steps whose scale is drawn: all, or those with the extremes and those around the marks.
func (r *scaleRun) kept() []bool {
	scales := make([]float64, len(r.steps))
	for i, s := range r.steps {
		scales[i] = s.Scale
	}
	keep := make([]bool, len(scales)+1)
	for _, i := range decimate(scales, mostPoints/2) {
		keep[i] = true
	}
	for _, list := range [][]int{r.skips, r.grows, r.sinks} {
		for _, i := range evenly(list, eventsMost) {
			keep[i], keep[i+1] = true, true
		}
	}
	return keep
}

package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/display/chart"
	"halfnote/tensor"
)

// MaxOps is how many operations a recording keeps in order; later ones are
// counted only.
const MaxOps = 20000

// Recorder is a recording, under way or stopped. Its methods may be called while
// it runs; they show what there is.
type Recorder struct {
	names *Names
	stop  []func()

	mu     sync.Mutex
	clock  clock
	ops    []Op
	counts map[tensor.DType]int // of all operations, by the dtype they ran in
	steps  []Step
	begun  time.Time
	ended  time.Time
}

// Step is one step of an optimizer under a scaler.
type Step struct {
	amp.StepResult
	After float64 // the scale that Update left, 0 before Update
}

// Start begins a recording. Models, as structs with a Forward of their own, give the
// operations their module's path; none need be given.
func Start(models ...any) *Recorder {
	r := &Recorder{names: NewNames(models...), counts: map[tensor.DType]int{}, begun: time.Now()}
	r.stop = []func(){tensor.Observe(r.op), amp.Observe(r.scaler)}
	return r
}

// Stop ends the recording; what has been recorded stays. Stopping twice does
// nothing.
func (r *Recorder) Stop() {
	r.mu.Lock()
	stop := r.stop
	r.stop = nil
	if stop != nil {
		r.ended = time.Now()
	}
	r.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// op notes an operation. Views compute nothing, and a cast that autocast asks for
// belongs to the operation that it is made for.
func (r *Recorder) op(e tensor.Event) {
	place := r.names.Find(e)
	if e.View || e.InCast {
		return
	}
	op := newOp(e, place)
	r.mu.Lock()
	defer r.mu.Unlock()
	var restart bool
	op.Step, restart = r.clock.tick(e)
	if restart {
		for i := range r.ops {
			r.ops[i].Step = 0
		}
	}
	if len(r.ops) < MaxOps {
		r.ops = append(r.ops, op)
	}
	r.counts[op.ranIn()]++
}

// scaler notes what a gradient scaler did.
func (r *Recorder) scaler(e amp.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case amp.Stepped:
		if r.clock.optimized() {
			for i := range r.ops {
				r.ops[i].Step = 0
			}
		}
		r.steps = append(r.steps, Step{StepResult: e.Result})
	case amp.Updated:
		for i := len(r.steps) - 1; i >= 0 && r.steps[i].After == 0; i-- {
			r.steps[i].After = e.After
		}
	}
}

// Ops returns the operations in the order in which they ran, the first MaxOps of
// them.
func (r *Recorder) Ops() []Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Op(nil), r.ops...)
}

// Steps returns the steps of scaled optimizers in order.
func (r *Recorder) Steps() []Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Step(nil), r.steps...)
}

// LossScale shows the loss scale of each step, and which were skipped.
func (r *Recorder) LossScale() *chart.Figure {
	var list []chart.ScaleStep
	for _, s := range r.Steps() {
		c := chart.ScaleStep{Scale: s.Scale, After: s.After, Skipped: s.Skipped}
		if s.Skipped {
			c.Why = s.Param
		}
		list = append(list, c)
	}
	return chart.LossScale(list)
}

// DTypes shows which dtype each operation of a step ran in, forward and backward.
func (r *Recorder) DTypes() *chart.Figure {
	var list []chart.Op
	for _, op := range r.Ops() {
		list = append(list, chart.Op{
			Name: op.Name, Module: op.Module, Phase: op.phase(),
			DType: op.ranIn().String(), Casts: op.Casts, Cached: op.Cached, Why: op.why(),
		})
	}
	return chart.DTypes(list)
}

// Table lists the operations with what went in and came out.
func (r *Recorder) Table() display.Bundle {
	var rows [][]any
	for i, op := range r.Ops() {
		var in []string
		for _, d := range op.In {
			in = append(in, d.Short())
		}
		rows = append(rows, []any{
			i, op.phase(), op.Name, op.Module, op.why(), strings.Join(in, " "), op.Computed.Short(), op.Out.Short(),
			op.Casts, op.Cached, op.Duration.Round(time.Microsecond),
		})
	}
	return display.Table([]string{"#", "phase", "op", "module", "why", "in", "computed", "out", "casts", "cached", "time"}, rows)
}

// String says what has been recorded, in one sentence.
func (r *Recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := 0
	var parts []string
	for _, d := range slices.Sorted(maps.Keys(r.counts)) {
		total += r.counts[d]
		parts = append(parts, fmt.Sprintf("%d in %v", r.counts[d], d))
	}
	if total == 0 && len(r.steps) == 0 {
		return "nothing recorded"
	}
	text := fmt.Sprintf("%d operations (%s)", total, strings.Join(parts, ", "))
	skipped := 0
	for _, s := range r.steps {
		if s.Skipped {
			skipped++
		}
	}
	if len(r.steps) > 0 {
		text += fmt.Sprintf(", %d scaled steps, %d skipped", len(r.steps), skipped)
	}
	end := r.ended
	if end.IsZero() {
		end = time.Now()
	}
	return text + fmt.Sprintf(", in %v", end.Sub(r.begun).Round(time.Millisecond))
}

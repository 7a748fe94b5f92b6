package diagnose

import (
	"slices"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
)

// Birth is where inf or NaN came to be: an operation with finite operands whose result
// is not finite, or something that was not finite before the run.
type Birth struct {
	Op          string // torch's name, as "linear"; "" of what was there before
	Of          string // of a derivative, the operation that it derives
	Backward    bool
	For         string       // of a cast, the operation that it was made for
	trace.Place              // module and parameter
	Source      string       // line of the cell: "In[3], line 5"; "" outside cells
	In, Out     tensor.DType // that it was computed in, and of the result
	Shape       []int

	Infs, NaNs int     // elements of the result
	Largest    float64 // magnitude that the result has in float64, inf or NaN where that is not finite either
	Scale      float64 // loss scale that a gradient carried, 1 elsewhere

	Cause    string   // short and stable, as "product"
	What     string   // what happened, with its numbers
	Cure     string   // what to do
	Harmless bool     // a GradScaler is there for this, and has skipped the step
	Loss     bool     // it reached the loss
	Params   []string // parameters whose gradients it reached, in the order in which it did

	Grew   *Passage  // of a cast, the operation since which the value is too large; nil if that is unknown
	Before []Passage // the operations that led to it, the last one at the end
	Spread []Passage // where it went, the first operation of each module, forward and backward

	order    int             // operations looked at until then
	from     int             // ID of the first operand
	limit    float64         // the largest number of its dtype
	operands []tensor.Counts // of the operation
	intended bool            // an infinity that was asked for, as in a mask
	updated  bool            // a parameter became it
}

// Passage is an operation before or behind a birth, with the range of its result.
type Passage struct {
	Op       string
	Of       string
	Backward bool
	Module   string
	Source   string
	DType    tensor.DType // of the result
	Counts   tensor.Counts
}

// OverflowReport is what Overflow returns.
type OverflowReport struct {
	Culprit *Birth   // where it began, nil if everything that matters stayed finite
	Births  []*Birth // all, in order
	Steps   []amp.StepResult
	Looked  int // operations that were looked at
}

// Overflow runs step, which trains one step or a few, and returns where inf or NaN was
// born in it: the operation, forward or backward, the module and the line; the
// operations before it with their ranges, where it spread and whose gradients it
// reached; why, and what to do. A gradient that overflows only because the loss scale is
// large, in a step that the scaler skips, is told apart: it is harmless. net is the
// model that step trains, nil if its modules need no names. The step is taken; nothing
// in it need be changed for this.
//
// It is what Hugging Face's DebugUnderflowOverflow looks for, operation by operation and
// backward too.
func Overflow(net any, step func()) *OverflowReport {
	needStep("Overflow", step != nil)
	a := newAutopsy(net)
	defer a.watch()()
	step()
	return a.report()
}

// report chooses the culprit: the first birth that reached the loss or a gradient, those
// that something is to be done about before harmless ones.
func (a *autopsy) report() *OverflowReport {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finish()
	r := &OverflowReport{Births: a.births, Steps: a.steps, Looked: a.looked}
	rank := func(b *Birth) int {
		switch {
		case a.backwards > 0 && !b.Loss && len(b.Params) == 0 && !b.updated && !(b.Backward && len(a.params) == 0):
			return 3 // it went nowhere, as far as can be seen without a model
		case b.intended:
			return 2
		case b.Harmless:
			return 1
		}
		return 0
	}
	for _, b := range a.births {
		if rank(b) < 3 && (r.Culprit == nil || rank(b) < rank(r.Culprit)) {
			r.Culprit = b
		}
	}
	return r
}

// finish says in words what is known at the end.
func (a *autopsy) finish() {
	skipped := slices.ContainsFunc(a.steps, func(s amp.StepResult) bool { return s.Skipped })
	for _, b := range a.births {
		b.Harmless = skipped && b.Cause == "loss-scale"
		b.word()
	}
}

package diagnose

import (
	"slices"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
)

// NonFinite is the origin of an inf or NaN: an operation with finite operands whose result is not
// finite, or a tensor that was not finite before the run.
type NonFinite struct {
	Op          string // torch's name, such as "linear"; "" for a tensor from before the run
	Of          string // for a derivative, the operation that it differentiates
	Backward    bool
	For         string       // for a cast, the operation that it was made for
	trace.Place              // module and parameter
	Source      string       // line of the cell: "In[3], line 5"; "" outside cells
	In, Out     tensor.DType // dtypes of the computation and the result
	Shape       []int

	Infs, NaNs int     // elements of the result
	Largest    float64 // largest magnitude of the result in float64; inf or NaN if not finite there either
	Scale      float64 // loss scale of a gradient, 1 elsewhere

	Cause    string   // short, stable code, such as "product"
	What     string   // what happened, with its numbers
	Cure     string   // what to do
	Harmless bool     // a GradScaler handled it by skipping the step
	Loss     bool     // it reached the loss
	Params   []string // parameters whose gradients it reached, in order
	Change   Change   // what it changed where later operations returned finite numbers

	Grew   *Occurrence  // for a cast, the operation that made the value too large; nil if unknown
	Before []Occurrence // operations that led to it, oldest first
	Spread []Occurrence // where it spread: the first operation of each module, forward and backward

	order    int             // number of operations observed before it
	from     int             // ID of the first operand
	limit    float64         // largest number of its dtype
	operands []tensor.Counts // counts of each operand
	counts   tensor.Counts   // counts of the result
	factor   float64         // magnitude of a constant factor; 0 without one
	intended bool            // a requested infinity, as in a mask
	updated  bool            // it reached a parameter itself
}

// Occurrence is an operation before or after an origin of non-finite values, with the range of its result.
type Occurrence struct {
	Op       string
	Of       string
	Backward bool
	Module   string
	Source   string
	DType    tensor.DType // dtype of the result
	Counts   tensor.Counts
}

// OverflowReport is the result of Overflow.
type OverflowReport struct {
	Culprit *NonFinite   // the origin; nil if everything relevant stayed finite
	Origins []*NonFinite // all origins, in order
	Steps   []amp.StepResult
	Looked  int // number of operations observed
}

// Overflow runs step, which trains for one or a few steps, and reports the origin of inf or
// NaN: the operation, forward or backward, the module and the line; the operations before it
// with their ranges; where it spread and whose gradients it reached; the cause and the cure. A
// gradient that overflows only because the loss scale is large, in a step that the scaler
// skips, is reported as harmless. An inf that a later operation turns into finite numbers, as x/inf
// is 0, is an origin too if the loss or a gradient would be another one without it: what depends on
// it is computed a second time, in float64. net is the model that step trains, or nil if its modules need
// no names. The training step takes effect and needs no changes.
//
// It does for each operation, forward and backward, what Hugging Face's DebugUnderflowOverflow
// does for modules.
func Overflow(net any, step func()) *OverflowReport {
	needStep("Overflow", step != nil)
	needLayers("Overflow", net, "OverflowIn")
	a := newTracker(net)
	defer a.watch()()
	step()
	return a.report()
}

// report chooses the culprit: the first origin that reached the loss or a gradient, harmless
// ones last.
func (a *tracker) report() *OverflowReport {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finish()
	r := &OverflowReport{Origins: a.origins, Steps: a.steps, Looked: a.looked}
	rank := func(b *NonFinite) int {
		switch {
		case b.Change.matters():
			return 0
		case a.backwards > 0 && !b.Loss && len(b.Params) == 0 && !b.updated && !(b.Backward && len(a.params) == 0):
			return 3 // without a model it is unknown what it reached
		case b.intended:
			return 2
		case b.Harmless:
			return 1
		}
		return 0
	}
	for _, b := range a.origins {
		if rank(b) < 3 && (r.Culprit == nil || rank(b) < rank(r.Culprit)) {
			r.Culprit = b
		}
	}
	return r
}

// finish writes the sentences at the end of the run.
func (a *tracker) finish() {
	skipped := slices.ContainsFunc(a.steps, func(s amp.StepResult) bool { return s.Skipped })
	for _, b := range a.origins {
		b.Harmless = skipped && b.Cause == "loss-scale"
		b.word()
	}
}

package amp

import (
	"fmt"
	"math"
	"weak"

	"halfnote/tensor"
)

// StepResult says what a scaler's Step did.
type StepResult struct {
	Step     int     // number of the step, from 0
	Skipped  bool    // the optimizer did not step
	FoundInf bool    // a gradient held inf or NaN
	Scale    float64 // the loss scale that the gradients carried
	// FirstBadParam is the index, in the optimizer's Params, of the first
	// parameter whose gradient was not finite, or -1; Param is its name, which [Names]
	// tells, or "parameter 2", and its shape.
	FirstBadParam int
	Param         string
	Skips         int    // of this optimizer's in a row, with this one
	Hint          string // what is amiss beyond a skip now and then, and what to do
}

// String says in one sentence what happened and why.
func (r StepResult) String() string {
	text := fmt.Sprintf("step %d taken at loss scale %g", r.Step, r.Scale)
	if r.Skipped {
		text = fmt.Sprintf("step %d skipped: the gradient of %s holds inf or NaN at loss scale %g", r.Step, r.Param, r.Scale)
	}
	if r.Hint != "" {
		text += "; " + r.Hint
	}
	return text
}

// result says what Step did, or will do, with opt's gradients.
func (s *GradScaler) result(opt Optimizer, st *stage, step int) StepResult {
	r := StepResult{Step: step, Scale: float64(s.scale), FirstBadParam: -1}
	if i, bad := st.found.first(); bad {
		r.Skipped, r.FoundInf, r.FirstBadParam = true, true, i
		r.Param = s.describe(opt.Params()[i], i)
	}
	return r
}

// streak is steps of an optimizer that were skipped in a row.
type streak struct {
	length int
	last   weak.Pointer[tensor.Tensor] // the first bad gradient of the last of them
}

// manySkips in a row are more than it takes to find a scale that suits.
const manySkips = 10

// judge counts the skipped steps in a row, and says what is wrong if something other than
// the scale seems to be.
func (s *GradScaler) judge(opt Optimizer, st *stage, r StepResult) (skips int, hint string) {
	id := identity(opt)
	if !r.Skipped {
		delete(s.streaks, id)
		return 0, s.lowScale()
	}
	k := s.streaks[id]
	if k == nil {
		k = &streak{}
		s.streaks[id] = k
	}
	grad := opt.Params()[r.FirstBadParam].Grad()
	stale := grad != nil && k.last.Value() == grad
	k.length++
	k.last = weak.Make(grad)
	switch {
	case stale:
		hint = "it is the gradient of the step before, to which more was added: call ZeroGrad between steps, since inf and NaN stay"
	case s.badLoss:
		hint = "the loss itself is not finite, so no scale helps: the forward pass overflows or divides by 0; diagnose.Overflow finds where"
	case k.length >= manySkips:
		hint = fmt.Sprintf("%d steps in a row have been skipped with a finite loss: a derivative is inf or NaN at any scale; diagnose.Overflow finds where", k.length)
	default:
		hint = s.lowScale()
	}
	return k.length, hint
}

// lowScale says what is wrong with a scale below 1: it scales gradients up, by more than
// float32 may hold, after they have been looked at (pytorch issue 99640).
func (s *GradScaler) lowScale() string {
	switch inverse := s.inverse(); {
	case math.IsInf(inverse, 0) || math.IsNaN(inverse):
		return fmt.Sprintf("the loss scale %g has no finite inverse: every gradient becomes inf or NaN, unnoticed; begin with a new scaler, and amp.MinScale(1)", s.scale)
	case s.scale < 1:
		return "a loss scale below 1 makes gradients larger, and does not notice if they overflow then: it is not the scale that is too large; amp.MinScale(1) is a floor, diagnose.Overflow finds what overflows"
	}
	return ""
}

package amp

import (
	"fmt"
	"math"
	"weak"

	"halfnote/tensor"
)

// StepResult is the result of a scaler's Step.
type StepResult struct {
	Step     int     // number of the step, from 0
	Skipped  bool    // the optimizer did not step
	FoundInf bool    // a gradient held inf or NaN
	Scale    float64 // the loss scale that the gradients carried
	// FirstBadParam is the index, in the optimizer's Params, of the first parameter whose
	// gradient was not finite, or -1 if there is none or it is on another rank; Param is its name, if [ParamNames] is set, or "parameter 2",
	// and its shape.
	FirstBadParam int
	Param         string
	Skips         int    // consecutive skipped steps of this optimizer, this one included
	Hint          string // advice if more is wrong than an occasional skip
}

// String returns a sentence on what happened and why.
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

// result returns what Step did, or will do, with opt's gradients.
func (s *GradScaler) result(opt Optimizer, st *stage, step int) StepResult {
	r := StepResult{Step: step, Scale: float64(s.scale), FirstBadParam: -1}
	if i, bad := st.found.first(); bad {
		r.Skipped, r.FoundInf, r.FirstBadParam = true, true, i
		if r.Param = "a parameter on another rank"; i >= 0 {
			r.Param = s.describe(opt.Params()[i], i)
		}
	}
	return r
}

// streak is a run of consecutive skipped steps of an optimizer.
type streak struct {
	length int
	last   weak.Pointer[tensor.Tensor] // first non-finite gradient of the last skipped step
}

// manySkips is more consecutive skips than it takes to find a suitable scale.
const manySkips = 10

// judge counts consecutive skipped steps, and returns a hint if something other than the scale
// seems to be wrong.
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
	var grad *tensor.Tensor
	if r.FirstBadParam >= 0 {
		grad = opt.Params()[r.FirstBadParam].Grad()
	}
	stale := grad != nil && k.last.Value() == grad
	k.length++
	k.last = weak.Make(grad)
	switch {
	case stale:
		hint = "the gradient is left over from the previous step and was added to: call ZeroGrad between steps, because inf and NaN persist"
	case s.badLoss:
		hint = "the loss itself is not finite, so no scale helps: the forward pass overflows or divides by 0; run diagnose.Overflow to find where"
	case k.length >= manySkips:
		hint = fmt.Sprintf("%d consecutive steps were skipped with a finite loss: a derivative is inf or NaN at any scale; run diagnose.Overflow to find where", k.length)
	default:
		hint = s.lowScale()
	}
	return k.length, hint
}

// lowScale returns a hint about a scale below 1: it makes gradients larger, possibly beyond
// float32, after they have been checked (pytorch issue 99640).
func (s *GradScaler) lowScale() string {
	switch inverse := s.inverse(); {
	case math.IsInf(inverse, 0) || math.IsNaN(inverse):
		return fmt.Sprintf("the loss scale %g has no finite inverse: every gradient silently becomes inf or NaN; use a new scaler with amp.MinScale(1)", s.scale)
	case s.scale < 1:
		return "a loss scale below 1 makes gradients larger, and an overflow then goes undetected: the scale is not too large; set amp.MinScale(1) and run diagnose.Overflow to find what overflows"
	}
	return ""
}

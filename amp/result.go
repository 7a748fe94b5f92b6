package amp

import "fmt"

// StepResult says what a scaler's Step did.
type StepResult struct {
	Step     int     // number of the step, from 0
	Skipped  bool    // the optimizer did not step
	FoundInf bool    // a gradient held inf or NaN
	Scale    float64 // the loss scale that the gradients carried
	// FirstBadParam is the index, in the optimizer's Params, of the first
	// parameter whose gradient was not finite, or -1; Param is its name, or
	// "parameter 2" if it has none, and its shape.
	FirstBadParam int
	Param         string
}

// String says in one sentence what happened and why.
func (r StepResult) String() string {
	if r.Skipped {
		return fmt.Sprintf("step %d skipped: the gradient of %s holds inf or NaN at loss scale %g", r.Step, r.Param, r.Scale)
	}
	return fmt.Sprintf("step %d taken at loss scale %g", r.Step, r.Scale)
}

// verdict is what unscaling an optimizer's gradients found.
type verdict struct {
	checked int // gradients looked at
	bad     bool
	first   int // index of the first bad parameter
	param   string
}

func (v verdict) result(step int, scale float64) StepResult {
	r := StepResult{Step: step, Scale: scale, FirstBadParam: -1}
	if v.bad {
		r.Skipped, r.FoundInf, r.FirstBadParam, r.Param = true, true, v.first, v.param
	}
	return r
}

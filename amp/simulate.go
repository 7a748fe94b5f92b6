package amp

import "halfnote/tensor"

// Simulate returns what a scaler made with options would have done in a run of some
// steps, without one: overflows says whether a gradient of a step is not finite at a
// scale. It reports no [Event].
func Simulate(steps int, overflows func(step int, scale float64) bool, options ...ScalerOption) []StepResult {
	s := NewGradScaler(options...)
	s.ready, s.quiet = true, true
	results := make([]StepResult, steps)
	for i := range results {
		found := verdict{checked: 1, bad: overflows(i, s.CurrentScale()), param: "a parameter"}
		s.stage(noOptimizer{}).found, s.stage(noOptimizer{}).unscaled = found, true
		results[i] = s.Step(noOptimizer{})
		s.Update()
	}
	return results
}

// noOptimizer stands for an optimizer where nothing is trained.
type noOptimizer struct{}

func (noOptimizer) Params() []*tensor.Tensor { return nil }
func (noOptimizer) Step()                    {}
func (noOptimizer) ZeroGrad()                {}

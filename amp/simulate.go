package amp

// Simulate returns what a scaler made with options would have done in a run of some
// steps, without one: overflows says whether a gradient of a step is not finite at a
// scale. It reports no [Event].
func Simulate(steps int, overflows func(step int, scale float64) bool, options ...ScalerOption) []StepResult {
	s := NewGradScaler(options...)
	results := make([]StepResult, steps)
	skips := 0
	for i := range results {
		r := StepResult{Step: i, Scale: s.CurrentScale(), FirstBadParam: -1}
		if overflows(i, r.Scale) {
			skips++
			r.Skipped, r.FoundInf, r.FirstBadParam, r.Param = true, true, 0, "a parameter"
		} else {
			skips = 0
		}
		r.Skips = skips
		s.adjust(r.FoundInf)
		results[i] = r
	}
	return results
}

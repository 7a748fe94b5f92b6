package amp

import (
	"fmt"
	"unsafe"

	"halfnote/tensor/driver"
)

// Simulate returns the results of a scaler made with options over a number of steps, without a
// training run: overflows reports whether a gradient of a step is not finite at a scale. It
// emits no [ScalerEvent].
func Simulate(steps int, overflows func(step int, scale float64) bool, options ...ScalerOption) []StepResult {
	need("Simulate", "overflows", overflows != nil, "a function")
	if err := driver.Room(steps, int(unsafe.Sizeof(StepResult{}))); err != nil {
		panic(&Error{Code: "too_many_steps", Call: "Simulate", Why: fmt.Sprintf("%d steps", steps), Cure: err.Error()})
	}
	s := NewGradScaler(options...)
	results := make([]StepResult, steps)
	skips := 0
	for i := range results {
		driver.Poll()
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

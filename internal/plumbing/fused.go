package plumbing

import "math"

// Steps collects an optimizer's parameter updates to run them in one pass. It is not safe for
// concurrent use. It corresponds to the arguments foreach and fused of torch's optimizers.
type Steps[T any] interface {
	// SGD adds a step of torch.optim.SGD on p in place with the gradient g and the velocity v,
	// which is nil without momentum. All have the same shape and dtype.
	SGD(p, g, v T, s SGDSettings[T])

	// Adam adds a step of torch.optim.Adam on p in place with the gradient g. m and v are the
	// running means of the gradient and its square. largest, which may be nil, is the running
	// maximum of v, used in the denominator instead of v. All have the same shape and dtype.
	Adam(p, g, m, v, largest T, s AdamSettings[T])

	// Run performs the steps added since the last Run. It reports each to observers when all
	// are done, and divides the time among them in proportion to their memory traffic.
	Run()
}

// SGDSettings configures a step of SGD.
type SGDSettings[T any] struct {
	Rate      float64
	Momentum  float64
	Dampening float64 // dampening of the gradient in the velocity
	Decay     float64 // weight decay, added to the gradient
	Nesterov  bool
	First     bool // first step: sets the velocity to the gradient
	Guard     T    // row of StepCounts that replaces Rate and, if First is set, decides whether this is the first step; if nil, the step is unconditional
}

// AdamSettings configures a step of Adam.
type AdamSettings[T any] struct {
	Rate, Beta1, Beta2, Eps float64
	Decay                   float64 // amount subtracted from the parameter: learning rate times weight decay
	Step                    float64 // number of this step, from 1
	Guard                   T       // row of StepCounts that replaces Rate and Step; if nil, the step is unconditional
}

// StepCounts counts an optimizer's steps on the device of its parameters. The device itself
// decides whether to take a step, so the host does not wait for it. torch's optimizers do this
// in capturable steps with found_inf.
type StepCounts[T any] interface {
	// Set sets the number of steps taken, one per parameter. During graph capture, the graph
	// continues from those numbers.
	Set(steps []float64)

	// Counts returns the number of steps taken per parameter. It synchronises with the device.
	Counts() []float64

	// Advance counts a step of parameters first to last-1 and enables the steps guarded by
	// their rows, unless an element of found, a float32 vector, is nonzero. rate is the learning
	// rate; betas are Adam's, for bias correction, or zeros for SGD.
	Advance(first, last int, found T, rate float64, betas [2]float64)

	// Row returns the guard of parameter i's steps, a tensor on the device of the counts.
	Row(i int) T
}

// ScaleSettings configures UpdateScale: the settings of torch.amp.GradScaler, limits of the
// scale, and the number of overflows before backing off.
type ScaleSettings struct {
	Growth, Backoff float64
	Interval        int // consecutive clean steps before the scale grows
	Hysteresis      int // overflows since the last growth before the scale backs off
	Least, Most     float32
	Static          bool // keeps the scale constant
}

// Next returns the scale, the number of consecutive clean steps and the number of overflows
// since the scale grew, after a step that overflowed or did not.
func (s ScaleSettings) Next(scale float32, tracker, overflows int, found bool) (float32, int, int) {
	if s.Static {
		return scale, tracker, overflows
	}
	if found {
		if overflows++; overflows >= s.Hysteresis {
			scale = max(float32(float64(scale)*s.Backoff), min(scale, s.Least))
		}
		return scale, 0, overflows
	}
	// Equal, not at least: an Interval set below the tracker stops growth until the next
	// overflow, as in torch.
	if tracker++; tracker != s.Interval {
		return scale, tracker, overflows
	}
	if higher := min(float32(float64(scale)*s.Growth), max(scale, s.Most)); !math.IsInf(float64(higher), 0) {
		scale = higher
	}
	return scale, 0, 0
}

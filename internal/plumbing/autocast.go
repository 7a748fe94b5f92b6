package plumbing

import "halfnote/tensor/driver"

// Regions is the group of functions for programs that run user code under autocast.
type Regions struct {
	// Close closes the regions that the calling goroutine has entered but not exited, and returns a
	// line about each. Programs that run user code call it at the end of each goroutine.
	Close func() (lines []string)
}

// Autocast is the group of functions for packages that extend autocast: P is amp.Policy and C is
// plumbing.Caster.
type Autocast[P, C any] struct {
	// ApexPolicy returns the policy by Apex's lists with a low-precision dtype.
	ApexPolicy func(dtype driver.DType) P

	// NewCache returns a cache of weight casts that outlasts regions. under runs body in a region
	// of p that uses the cache; clear drops the casts.
	NewCache func() (under func(p P, body func()), clear func())

	// NewRegion returns the caster of a region of p that shares the casts of weights with the
	// enclosing region. It implements all optional interfaces of plumbing.Caster and has a method
	// Policy() P. A caster that handles some operations itself embeds it, and hands it out by a
	// method Autocast() C, so that package amp finds it.
	NewRegion func(p P) C
}

// Scaling is the group of functions for packages that schedule a loss scale themselves: S is
// *amp.GradScaler, E is amp.ScalerEvent and T is *tensor.Tensor.
type Scaling[S, E, T any] struct {
	// Adjust updates the scale after a step with or without an overflow, as GradScaler.Update does,
	// but without an event.
	Adjust func(s S, found bool)

	// Set sets the scale and the number of consecutive clean steps.
	Set func(s S, scale float64, tracker int)

	// Describe names parameter i of an optimizer: "encoder.0.weight (512, 10)".
	Describe func(s S, p T, i int) string

	// Notify sends an event to observers.
	Notify func(e E)
}

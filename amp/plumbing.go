package amp

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	inner     = tensor.Internal(plumbing.Token{})
	capture   = inner.Capture
	casting   = inner.Casting
	fused     = inner.Fused
	gradients = inner.Gradients
)

type operandCaster = plumbing.Caster[tensor.Info, *tensor.Tensor]

// Internal returns methods for the other packages of this module. Cells and other modules cannot make a Token.
func Internal(plumbing.Token) internals { return internals{} }

// internals are methods for programs that run user code under autocast, and for packages that extend autocast or schedule a loss scale
// themselves.
type internals struct{}

// ApexPolicy returns the policy by Apex's lists with a low-precision dtype.
func (internals) ApexPolicy(dtype tensor.DType) Policy {
	return Policy{lower: dtype, on: true, apex: true, cache: true}
}

// NewCache returns a cache of weight casts that outlasts regions. under runs body in a region of p that uses the cache; clear drops the
// casts.
func (internals) NewCache() (under func(p Policy, body func()), clear func()) {
	kept := newCache()
	return func(p Policy, body func()) { casting.With(&caster{replaced(p), kept}, body) }, kept.clear
}

// NewRegion returns the caster of a region of p that shares the casts of weights with the enclosing region. It implements all optional
// interfaces of plumbing.Caster and has a method Policy. A caster that handles some operations itself embeds it, and
// hands it out by a method Autocast, which returns a plumbing.Caster, so that this package finds it.
func (internals) NewRegion(p Policy) operandCaster { return open(newCaster(p)) }

// AdjustScale updates the scale after a step with or without an overflow, as GradScaler.Update does, but without an event.
func (internals) AdjustScale(s *GradScaler, found bool) { s.adjust(found) }

// SetScale sets the scale and the number of consecutive clean steps.
func (internals) SetScale(s *GradScaler, scale float64, tracker int) {
	s.scale, s.tracker = float32(scale), tracker
}

// Describe names parameter i of an optimizer: "encoder.0.weight (512, 10)".
func (internals) Describe(s *GradScaler, p *tensor.Tensor, i int) string { return s.describe(p, i) }

// Notify sends an event to observers.
func (internals) Notify(e ScalerEvent) { notify(e) }

package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// shadow is the half-precision copy of a weight. Autocast requests it, and the next optimizer
// step writes it while it updates the weight. A shadow is immutable; it is only replaced.
type shadow struct {
	wanted DType // dtype of the first cast since the last step; Invalid if there was none

	copy    *Tensor     // nil if there is none or it has been taken
	of      driver.View // weight without its memory
	version int64
	replays uint64
}

// fresh reports whether the copy matches the current t.
func (s *shadow) fresh(t *Tensor) bool {
	return s.copy != nil && s.version == t.mem.version.Load() && s.replays == driver.Replays() &&
		s.of.Offset == t.offset && slices.Equal(s.of.Shape, t.shape) && slices.Equal(s.of.Stride, t.stride)
}

// CastWeight is To for a weight that an optimizer steps. d is float16 or bfloat16. If the device supports it, the next step writes such a
// copy together with the weight, and the first CastWeight after it returns the copy without computing anything. Observers see a cast,
// with the time that is left of it.
func (fused) CastWeight(t *Tensor, d DType) *Tensor {
	given("cast_weight", t)
	if t.dtype != Float32 || t.isView || !t.mem.backend.Offers(driver.SGD, Float32, Float32, d) || capturing() {
		return t.To(d)
	}
	held := &t.mem.shadow
	old := held.Load()
	if old == nil {
		held.Store(&shadow{wanted: d})
		return t.To(d)
	}
	next := *old
	if next.wanted == driver.Invalid {
		next.wanted = d
	}
	fresh := old.fresh(t)
	if !fresh || old.copy.dtype == d {
		next.copy = nil
	}
	if !held.CompareAndSwap(old, &next) {
		return t.To(d) // another goroutine has taken it
	}
	switch {
	case fresh && next.copy == nil:
		return apply(&shadowCast{cast{d}, old.copy}, t)
	case old.copy != nil && next.copy == nil:
		release(old.copy)
	}
	return t.To(d)
}

// shadowCast is a cast whose result already exists, once.
type shadowCast struct {
	cast
	copy *Tensor
}

func (c *shadowCast) Forward(in []*Tensor) *Tensor {
	y := c.copy
	if y == nil {
		return c.cast.Forward(in)
	}
	c.copy = nil      // the tape holds c and must not keep memory alive
	y.id = ids.Add(1) // observers take a tensor older than a call of the caster for a cached one
	return y
}

// shadowed returns a copy for a step, a kernel of code k with operands src, to write together
// with t, whose change has already been counted. It returns nil if there was no cast since the
// last step, or if the device does not support it.
func (t *Tensor) shadowed(k driver.Code, src []*Tensor) *Tensor {
	old := t.mem.shadow.Swap(nil)
	if old == nil || t.isView || capturing() { // replays would write memory that only a graph writes
		return nil
	}
	if old.copy != nil {
		release(old.copy)
	}
	if old.wanted == driver.Invalid {
		return nil
	}
	dtypes := make([]DType, len(src), len(src)+1)
	for i, s := range src {
		dtypes[i] = s.dtype
	}
	if !t.mem.backend.Offers(k, t.dtype, append(dtypes, old.wanted)...) {
		return nil
	}
	var c *Tensor
	if Try(func() { c = unsetTensor(t.mem.backend, old.wanted, t.shape) }) != nil {
		return nil // if memory is short, the step runs without it
	}
	t.mem.shadow.Store(&shadow{copy: c, of: driver.View{Offset: t.offset, Shape: t.shape, Stride: t.stride}, version: t.mem.version.Load(), replays: driver.Replays()})
	return c
}

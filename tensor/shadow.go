package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// shadow is what the memory of a weight knows of its copies in half precision, which
// autocast asks for and the next step of an optimizer writes while it has the weight at
// hand. It is never changed, but replaced.
type shadow struct {
	wanted DType // by the first who cast since the last step, Invalid: nobody

	copy    *Tensor     // nil: none, or somebody has taken it
	of      driver.View // the weight, without its memory
	version int64
	replays uint64
}

// fresh reports whether there is a copy of t as it is now.
func (s *shadow) fresh(t *Tensor) bool {
	return s.copy != nil && s.version == t.mem.version.Load() && s.replays == driver.Replays() &&
		s.of.Offset == t.offset && slices.Equal(s.of.Shape, t.shape) && slices.Equal(s.of.Stride, t.stride)
}

// CastWeight is To for a weight that an optimizer steps, to float16 or bfloat16: where the
// device can do so the next step writes such a copy beside the weight, and the first
// CastWeight after that returns it without computing anything.
func CastWeight(t *Tensor, d DType) *Tensor {
	given("cast_weight", t)
	if t.dtype != Float32 || t.isView || !t.mem.backend.Offers(driver.SGD, Float32, Float32, d) || Capturing() {
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
		return t.To(d) // somebody else was faster
	}
	switch {
	case fresh && next.copy == nil:
		return apply(&shadowCast{cast{d}, old.copy}, t)
	case old.copy != nil && next.copy == nil:
		release(old.copy)
	}
	return t.To(d)
}

// shadowCast is a cast whose result is there, once.
type shadowCast struct {
	cast
	copy *Tensor
}

func (c *shadowCast) Forward(in []*Tensor) *Tensor {
	y := c.copy
	if y == nil {
		return c.cast.Forward(in)
	}
	c.copy = nil // the tape, which holds c, shall not hold memory
	return y
}

// shadowed returns a copy that a step, a kernel of code k with operands src, is to write
// beside t, which counts as changed already; nil if nobody has asked since the last step, or
// the device cannot.
func (t *Tensor) shadowed(k driver.Code, src []*Tensor) *Tensor {
	old := t.mem.shadow.Swap(nil)
	if old == nil || t.isView || Capturing() { // replays would write where a graph writes alone
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
		return nil // the step does without, where memory is short
	}
	t.mem.shadow.Store(&shadow{copy: c, of: driver.View{Offset: t.offset, Shape: t.shape, Stride: t.stride}, version: t.mem.version.Load(), replays: driver.Replays()})
	return c
}

package tensor

// A program that knows where it uses a result for the last time, such as the front end of cells,
// releases the result's memory there, so that the next result is written to memory that is still in
// a cache. The program refers to the result by a slot. What refers to the memory otherwise marks it
// as shared, and shared memory is left to the garbage collector: views, derivatives that need the
// values, gradients, events. Operations do not keep their operands in other places.
//
// The gradient of a leaf is released when the leaf gets another or none, unless Grad has returned it. The optimizers, the clipping of
// gradients and the scaler, which do not keep gradients, look at them by other means.

// The owners of a storage.
const (
	ownTensor int32 = iota // one tensor
	ownSlot                // one tensor that is in one slot
	ownLeaf                // the gradient of one leaf, which has not been handed out
	ownMany                // the garbage collector finds out
)

// leastEarly is the size in bytes of the smallest memory that is released early. The allocator does
// not use smaller memory again.
const leastEarly = 32 << 10

// share marks the memory of t as shared.
func (t *Tensor) share() {
	if t.mem.owner.Load() != ownMany {
		t.mem.owner.Store(ownMany)
	}
}

// Share is asShared.
func (lifetimes) Share(t *Tensor) *Tensor { return asShared(t) }

// asShared returns t, to which other code may refer. Its memory will not be released, even if t is in a slot.
func asShared(t *Tensor) *Tensor {
	if t != nil && t.mem != nil {
		t.share()
	}
	return t
}

// replaceGrad sets t's gradient and releases the memory of the last one if only t refers to it.
func (t *Tensor) replaceGrad(g *Tensor) {
	last := t.grad
	t.grad = g
	if last != nil && last != g && last.mem.owner.CompareAndSwap(ownLeaf, ownMany) {
		release(last)
	}
}

// Peek returns t's Grad for a caller that does not keep it. The memory of a gradient that only such callers have seen is released when the
// gradient is dropped.
func (gradients) Peek(t *Tensor) *Tensor {
	t.given("grad")
	return t.grad
}

// giveGrad makes g, which the walk has computed, the gradient of a leaf. alone reports whether nothing else refers to g's memory.
func (leaf *Tensor) giveGrad(g *Tensor, alone bool) {
	if !alone || g.mem.backend.Name() != string(CPU) || !g.mem.owner.CompareAndSwap(ownTensor, ownLeaf) {
		g.share()
	}
	leaf.grad = &Tensor{mem: g.mem, dtype: g.dtype, offset: g.offset, shape: g.shape, stride: g.stride, id: ids.Add(1)}
}

// Begin releases the tensor in slot, which must not be used any more. It returns the number of the latest tensor.
func (lifetimes) Begin(slot **Tensor) (since uint64) {
	if t := *slot; t != nil {
		*slot = nil
		if t.mem.owner.CompareAndSwap(ownSlot, ownMany) {
			release(t)
		}
	}
	return ids.Load()
}

// Hold releases the tensor in slot, puts t there if it is newer than since and nothing else refers to its memory, and returns t.
func (l lifetimes) Hold(slot **Tensor, since uint64, t *Tensor) *Tensor {
	if t == nil || t == *slot {
		return t
	}
	l.Begin(slot)
	if t.newSince(since) && t.early() {
		*slot = t
		return t
	}
	return asShared(t)
}

// Free releases t, which must not be used any more, on the same condition. It returns nil.
func (l lifetimes) Free(since uint64, t *Tensor) *Tensor {
	var slot *Tensor
	if t.newSince(since) && t.early() {
		slot = t
	}
	l.Begin(&slot)
	return nil
}

// newSince reports whether t's memory was allocated after since.
func (t *Tensor) newSince(since uint64) bool { return t != nil && t.mem != nil && t.mem.id > since }

// early makes a slot the owner of t's memory. It reports false if the memory is shared, small, or on
// a device.
func (t *Tensor) early() bool {
	return t.mem.buffer.Bytes() >= leastEarly && t.mem.backend.Name() == string(CPU) && t.mem.owner.CompareAndSwap(ownTensor, ownSlot)
}

// During the backward walk, a gradient's memory is released as soon as the gradient has been
// passed on, before the garbage collector would find it. The walk counts references, because
// views and several operands share memory. Memory that hooks and user-defined operations may
// have kept is not released; observers must not keep any.

// hold adds a reference of the walk to g.
func (b *backprop) hold(g *Tensor) {
	if b.owns(g) {
		g.mem.holders.Add(1)
	}
}

// drop removes a reference to g, and releases its memory when none is left.
func (b *backprop) drop(g *Tensor) {
	if b.owns(g) && g.mem.holders.Add(-1) == 0 {
		release(g)
	}
}

// owns reports whether g's memory is newer than the walk.
func (b *backprop) owns(g *Tensor) bool { return g.mem.id > b.start && !b.o.CreateGraph }

// lent prevents the release of the tensors' memory, because user code may keep them.
func lent(gs ...*Tensor) {
	for _, g := range gs {
		if g != nil {
			g.mem.holders.Add(1 << 40)
		}
	}
}

// vjp returns the derivative of n's operation.
func (b *backprop) vjp(n *node, in []*Tensor) []*Tensor {
	defer inDerivative(n.v.of)
	_, own := n.v.op.(custom)
	if own {
		lent(n.grad)
	}
	out := n.v.op.VJP(n.grad, n.v.out, in)
	if own {
		lent(out...)
	}
	for _, dx := range out {
		if dx != nil {
			b.hold(dx)
		}
	}
	return out
}

// become replaces the gradient from by to, which may be the same.
func (b *backprop) become(from, to *Tensor) *Tensor {
	if to != from {
		b.hold(to)
		b.drop(from)
	}
	return to
}

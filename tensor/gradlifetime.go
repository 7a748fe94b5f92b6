package tensor

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

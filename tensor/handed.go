package tensor

// A gradient on its way back is memory that only the walk knows: once it has been handed
// on it is released, before the garbage collector would find it. The walk counts who holds
// such memory, for views and several operands share it. What others may have kept stays,
// as hooks and operations of users; observers must not keep anything.

// hold counts g as held by the walk.
func (b *backprop) hold(g *Tensor) {
	if b.owns(g) {
		g.mem.holders.Add(1)
	}
}

// drop takes back a hold on g, and releases memory that nothing holds any more.
func (b *backprop) drop(g *Tensor) {
	if b.owns(g) && g.mem.holders.Add(-1) == 0 {
		release(g)
	}
}

// owns reports whether g's memory is younger than the walk.
func (b *backprop) owns(g *Tensor) bool { return g.mem.id > b.start && !b.o.CreateGraph }

// lent has the memory of tensors stay, for others may keep them.
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

package tensor

import (
	"cmp"
	"fmt"
	"slices"

	"halfnote/tensor/internal/scope"
)

// BackwardOptions are what Backward may be told. The zero value is the default.
type BackwardOptions struct {
	// Gradient is the gradient of the tensor to start from, in its shape; nil
	// stands for 1, for a tensor of one element.
	Gradient *Tensor
	// RetainGraph keeps the tape for another call.
	RetainGraph bool
	// CreateGraph records the derivative itself, and keeps the tape.
	CreateGraph bool
	// AllowUnused makes GradWith return nil for what t does not depend on,
	// where it would panic.
	AllowUnused bool

	floor uint64           // the walk leaves out vertices up to this number
	ends  map[*vertex]bool // the walk does not go past these
}

// Backward adds the gradient of t, a tensor of one element, to every leaf that it
// depends on, and frees the tape. It panics if t has no history or its tape has
// been freed. It is torch.Tensor.backward.
func (t *Tensor) Backward() { t.BackwardWith(BackwardOptions{}) }

// BackwardWith is Backward with options.
func (t *Tensor) BackwardWith(o BackwardOptions) {
	mark := Mark{Name: "backward", Tensors: []*Tensor{t}}
	if o.RetainGraph || o.CreateGraph {
		mark.Number = 1
	}
	Note(mark)
	b := newBackprop("backward", t, o)
	for _, n := range b.order {
		n.wanted = n.v.leaf != nil || n.v.retain != nil
	}
	b.run()
	for _, n := range slices.Backward(b.order) {
		v := n.v
		if u := v.retain; u != nil && n.grad != nil {
			u.grad = n.grad
		}
		if v.leaf != nil && n.grad != nil {
			b.collect(v.leaf, n.grad)
			for _, f := range v.hooks.accumulated {
				(*f)(v.leaf)
			}
		}
	}
}

// Grad returns the gradients of y, a tensor of one element, with respect to xs, and
// frees the tape. Gradients of leaves stay as they are. It is torch.autograd.grad.
func Grad(y *Tensor, xs ...*Tensor) []*Tensor { return GradWith(y, xs, BackwardOptions{}) }

// GradGraph is Grad with a result that can be differentiated, as a gradient
// penalty needs. The tape stays. It is torch.autograd.grad with create_graph.
func GradGraph(y *Tensor, xs ...*Tensor) []*Tensor {
	return GradWith(y, xs, BackwardOptions{CreateGraph: true})
}

// GradWith is Grad with options.
func GradWith(y *Tensor, xs []*Tensor, o BackwardOptions) []*Tensor {
	Note(Mark{Name: "grad", Tensors: []*Tensor{y}})
	b := newBackprop("grad", y, o)
	for i, x := range xs {
		if x.v == nil {
			fail("grad", []*Tensor{x}, "operand %d does not require a gradient; expected RequireGrad before its use", i)
		}
		if n := b.nodes[x.v]; n != nil {
			n.wanted = true
		}
	}
	b.run()
	out := make([]*Tensor, len(xs))
	for i, x := range xs {
		if n := b.nodes[x.v]; n != nil {
			out[i] = n.grad
		}
		if out[i] == nil && !o.AllowUnused {
			fail("grad", []*Tensor{y, x}, "the first does not depend on operand %d; allow it with AllowUnused", i)
		}
	}
	return out
}

// backprop is one walk back along the tape.
type backprop struct {
	op    string
	o     BackwardOptions
	nodes map[*vertex]*node // what the start depends on
	order []*node           // the same, newest first
	start uint64            // storages with smaller numbers are older than the walk
	owned map[*storage]bool
	check bool // gradients are to be numbers
}

// node is a vertex in a walk.
type node struct {
	v      *vertex
	in     []*node // of the operands; nil for what the walk leaves out
	grad   *Tensor
	wanted bool // the gradient is asked for
	leads  bool // wanted, or on the way to one that is
	sum    bool // the gradient is memory of its own, to add to in place
}

func newBackprop(op string, y *Tensor, o BackwardOptions) *backprop {
	given(op, y)
	if y.v == nil {
		fail(op, []*Tensor{y}, "it does not require a gradient; expected a result that depends on a tensor with RequireGrad, computed outside NoGrad")
	}
	b := &backprop{op: op, o: o, nodes: map[*vertex]*node{}, start: ids.Load(), owned: map[*storage]bool{}}
	b.reach(y.v)
	switch g := o.Gradient; {
	case g == nil && y.Numel() != 1:
		fail(op, []*Tensor{y}, "it has %d elements; expected one, or a Gradient to start from", y.Numel())
	case g == nil:
		b.nodes[y.v].grad = constantLike(y, 1)
	case !slices.Equal(g.shape, y.shape):
		fail(op, []*Tensor{y, g}, "the Gradient to start from has another shape than the tensor")
	default:
		b.nodes[y.v].grad = g.To(y.dtype)
	}
	b.hold(b.nodes[y.v].grad)
	return b
}

// reach finds v and what it depends on within the options' bounds.
func (b *backprop) reach(v *vertex) {
	var room []node
	add := func(v *vertex) *node {
		if len(room) == 0 {
			room = make([]node, 32)
		}
		n := &room[0]
		room = room[1:]
		n.v, b.nodes[v] = v, n
		b.order = append(b.order, n)
		return n
	}
	add(v)
	for i := 0; i < len(b.order); i++ {
		n := b.order[i]
		if n.v.freed {
			panic(&Error{Op: b.op, Why: fmt.Sprintf("the tape of %s has been freed by an earlier Backward; compute the result again, or keep the tape with BackwardOptions{RetainGraph: true} there", n.v.of)})
		}
		if b.o.ends[n.v] {
			continue
		}
		n.in = make([]*node, len(n.v.in))
		for j, t := range n.v.in {
			if t.v == nil || t.v.seq <= b.o.floor {
				continue
			}
			u := b.nodes[t.v]
			if u == nil {
				u = add(t.v)
			}
			n.in[j] = u
		}
	}
	slices.SortFunc(b.order, func(x, y *node) int { return cmp.Compare(y.v.seq, x.v.seq) })
}

func leading(n *node) bool { return n != nil && n.leads }

// run computes the gradients of all wanted nodes.
func (b *backprop) run() {
	for _, n := range slices.Backward(b.order) {
		n.leads = n.wanted || slices.ContainsFunc(n.in, leading)
	}
	// No caster: derivatives run in the dtypes of forward.
	outer := current()
	b.check = outer.anomaly && outer.of == "" // not inside derive, which is part of an operation
	s := &state{nograd: !b.o.CreateGraph, backward: true, anomaly: outer.anomaly, suspended: EnclosingCaster()}
	scope.Do(s, func() {
		for _, n := range b.order {
			v := n.v
			if b.o.ends[v] {
				continue
			}
			if n.grad != nil && len(v.hooks.grad) > 0 {
				lent(n.grad)
				n.grad = b.become(n.grad, v.hooks.through(n.grad))
				lent(n.grad)
			}
			if n.grad == nil || v.op == nil || !slices.ContainsFunc(n.in, leading) {
				continue
			}
			if outer.of != "" { // inside derive
				s.of, s.ofID, s.module, s.source = outer.of, outer.ofID, outer.module, outer.source
			} else {
				s.of, s.ofID, s.module, s.source = v.of, v.out.id, v.module, v.source
			}
			b.step(n)
			if !n.wanted {
				b.drop(n.grad)
				n.grad = nil
			}
			if !b.o.RetainGraph && !b.o.CreateGraph {
				v.free()
			}
		}
	})
}

// step hands the gradient of n's result on to its operands.
func (b *backprop) step(n *node) {
	v, dy := n.v, n.grad
	v.unchanged(b.op)
	in := v.in
	if !b.o.CreateGraph {
		for i, t := range v.in {
			if t.v == nil || leading(n.in[i]) {
				continue
			}
			if &in[0] == &v.in[0] {
				in = slices.Clone(in)
			}
			u := *t
			u.v = nil
			in[i] = &u
		}
	}
	part := partOf(v.op)
	cut := part != nil
	if cut && b.addPart(n.in[0], part, dy) {
		return
	}
	for i, dx := range b.vjp(n, in) {
		if dx == nil {
			continue
		}
		u := n.in[i]
		if !leading(u) {
			b.drop(dx)
			continue
		}
		if !slices.Equal(dx.shape, v.in[i].shape) {
			fail(v.of, []*Tensor{dx, v.in[i]}, "its VJP gave a gradient of the first shape for an operand of the second")
		}
		if b.check {
			v.expectNumber(b.op, dx, i)
		}
		dx = b.become(dx, dx.To(v.in[i].dtype))
		more := u.grad != nil
		if more {
			dx = b.become(dx, u.grad.Add(dx))
			b.drop(u.grad)
		}
		u.grad, u.sum = dx, cut || more
	}
}

// partOf returns what shows the part of an operand that a view is of, nil if op makes
// no such view. The VJP fills a tensor of the operand's size with zeros; when many parts
// of one tensor are used, as the steps of a sequence, all but the first are added in
// place.
func partOf(op Op) func(x *Tensor) *Tensor {
	switch op := op.(type) {
	case slice:
		return func(x *Tensor) *Tensor { return sliced(x, op) }
	case sliceStep:
		return func(x *Tensor) *Tensor { return op.Forward([]*Tensor{x}) }
	}
	return nil
}

// addPart adds dy to the part of u's gradient, if that is possible.
func (b *backprop) addPart(u *node, part func(x *Tensor) *Tensor, dy *Tensor) bool {
	if b.o.CreateGraph || u == nil || !u.sum || u.grad == nil {
		return false
	}
	part(u.grad).AddAssign(dy)
	return true
}

// collect adds g to a leaf's gradient.
func (b *backprop) collect(leaf, g *Tensor) {
	switch {
	case b.o.CreateGraph:
		if leaf.grad != nil {
			g = leaf.grad.Add(g)
		}
		leaf.grad = g
	case leaf.grad != nil:
		NoGrad(func() { leaf.grad.AddAssign(g) })
		b.drop(g)
	default:
		// The leaf's gradient may be changed in place later, so it must be
		// nobody else's memory.
		if g.mem.id <= b.start || b.owned[g.mem] || !g.IsContiguous() || g.isView && g.mem.buffer.Bytes() != g.Bytes() {
			g = duplicate(g)
		}
		b.owned[g.mem] = true
		leaf.grad = &Tensor{mem: g.mem, dtype: g.dtype, offset: g.offset, shape: g.shape, stride: g.stride, id: ids.Add(1)}
	}
}

// constantLike returns value in t's shape and dtype, t's values not being looked at.
func constantLike(t *Tensor, value float64) *Tensor {
	return constant(t, t.dtype, value).expandTo(t.shape)
}

package tensor

import (
	"cmp"
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/scope"
)

// BackwardOptions configures Backward and Grad. The zero value is the default.
type BackwardOptions struct {
	// Gradient is the gradient to start from, in the tensor's shape. Nil means 1, for a tensor
	// of one element.
	Gradient *Tensor
	// RetainGraph keeps the tape for another call.
	RetainGraph bool
	// CreateGraph records the derivative itself and keeps the tape.
	CreateGraph bool
	// AllowUnused makes GradWith return nil, instead of panicking, for a tensor that the result
	// does not depend on.
	AllowUnused bool

	floor uint64           // vertices up to this number are left out of the walk
	ends  map[*vertex]bool // vertices where the walk stops
}

// Backward adds the gradient of t, a tensor of one element, to every leaf that it depends on,
// and frees the tape. It panics if t has no history or its tape has been freed. It is
// torch.Tensor.backward.
func (t *Tensor) Backward() { t.BackwardWith(BackwardOptions{}) }

// BackwardWith is Backward with options.
func (t *Tensor) BackwardWith(o BackwardOptions) {
	m := call{Name: "backward", Tensors: []*Tensor{t}}
	if o.RetainGraph || o.CreateGraph {
		m.Number = 1
	}
	note(m)
	b := newBackprop("backward", t, o)
	for _, n := range b.order {
		n.wanted = n.v.leaf != nil || n.v.retain != nil
	}
	b.schedule()
	b.run()
	for _, n := range slices.Backward(b.order) {
		v := n.v
		if u := v.retain; u != nil && n.grad != nil {
			u.grad = asShared(n.grad)
		}
		if v.leaf != nil && n.grad != nil {
			b.collect(v.leaf, n.grad)
			for _, f := range v.hooks.accumulated {
				(*f)(v.leaf)
			}
		}
	}
	for _, f := range b.after {
		f()
	}
}

// Grad returns the gradients of y, a tensor of one element, with respect to xs, and frees the
// tape. The Grad of leaves does not change. It is torch.autograd.grad.
func Grad(y *Tensor, xs ...*Tensor) []*Tensor { return GradWith(y, xs, BackwardOptions{}) }

// GradGraph is Grad with differentiable results, for example for a gradient penalty. It keeps
// the tape. It is torch.autograd.grad with create_graph.
func GradGraph(y *Tensor, xs ...*Tensor) []*Tensor {
	return GradWith(y, xs, BackwardOptions{CreateGraph: true})
}

// GradWith is Grad with options.
func GradWith(y *Tensor, xs []*Tensor, o BackwardOptions) []*Tensor {
	note(call{Name: "grad", Tensors: []*Tensor{y}})
	b := newBackprop("grad", y, o)
	for i, x := range xs {
		if x.v == nil {
			fail("grad", []*Tensor{x}, "input %d does not require a gradient; call RequireGrad before using it", i)
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
			fail("grad", []*Tensor{y, x}, "the output does not depend on input %d; set BackwardOptions.AllowUnused to get nil instead", i)
		}
	}
	return out
}

// backprop is one walk back along the tape.
type backprop struct {
	op    string
	o     BackwardOptions
	nodes map[*vertex]*node // vertices that the start depends on
	order []*node           // the same vertices, newest first
	start uint64            // older storages have smaller numbers
	owned map[*storage]bool
	check bool // anomaly detection: gradients must not be NaN
	after []func()
}

// node is a vertex in a walk.
type node struct {
	v      *vertex
	in     []*node // nodes of the operands; nil for those outside the walk
	grad   *Tensor
	wanted bool    // the caller requested this gradient
	leads  bool    // wanted, or on the path to a wanted node
	sum    bool    // grad is a private buffer that can be added to in place
	hooked bool    // the gradient is complete and its hooks have run
	ready  []*node // leaves with ready hooks whose gradients are complete after this node
}

func newBackprop(op string, y *Tensor, o BackwardOptions) *backprop {
	given(op, y)
	if y.v == nil {
		fail(op, []*Tensor{y}, "the tensor does not require a gradient; want a result computed, outside NoGrad, from a tensor with RequireGrad")
	}
	b := &backprop{op: op, o: o, nodes: map[*vertex]*node{}, start: ids.Load(), owned: map[*storage]bool{}}
	b.reach(y.v)
	switch g := o.Gradient; {
	case g == nil && y.Numel() != 1:
		fail(op, []*Tensor{y}, "the tensor has %d elements; want 1, or a BackwardOptions.Gradient to start from", y.Numel())
	case g == nil:
		b.nodes[y.v].grad = constantLike(y, 1)
	case !slices.Equal(g.shape, y.shape):
		fail(op, []*Tensor{y, g}, "BackwardOptions.Gradient must have the tensor's shape")
	default:
		b.nodes[y.v].grad = g.To(y.dtype)
	}
	b.hold(b.nodes[y.v].grad)
	return b
}

// reach finds v and its dependencies, within the bounds of the options.
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
			panic(named(&Error{Op: b.op, Why: fmt.Sprintf("the tape of %s has been freed by an earlier Backward; recompute the result, or pass BackwardOptions{RetainGraph: true} to that Backward", n.v.of)}))
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
	// No caster: derivatives run in the dtypes of the forward pass.
	outer := current()
	b.check = outer.anomaly && outer.of == "" // not inside derive, which is part of an operation
	s := &state{nograd: !b.o.CreateGraph, backward: true, anomaly: outer.anomaly, suspended: casting{}.Enclosing()}
	scope.Do(s, func() {
		for i, n := range b.order {
			v := n.v
			if i > 0 {
				b.announce(b.order[i-1])
			}
			if b.o.ends[v] {
				continue
			}
			b.hook(n)
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

// hook passes n's gradient through its hooks, once.
func (b *backprop) hook(n *node) {
	if n.grad != nil && !n.hooked && len(n.v.hooks.grad) > 0 {
		n.hooked = true
		lent(n.grad)
		n.grad = b.become(n.grad, n.v.hooks.through(n.grad))
		lent(n.grad)
	}
}

// schedule finds, for each leaf with ready hooks, the node that completes its gradient: the oldest that has it as an operand.
func (b *backprop) schedule() {
	last := map[*node]*node{}
	for _, n := range b.order {
		for _, u := range n.in {
			if u != nil && u.v.leaf != nil && len(u.v.hooks.ready) > 0 {
				last[u] = n
			}
		}
	}
	for _, u := range b.order {
		if n := last[u]; n != nil {
			n.ready = append(n.ready, u)
		}
	}
}

// announce calls the ready hooks of the leaves whose gradients n has completed.
func (b *backprop) announce(n *node) {
	for _, u := range n.ready {
		b.hook(u)
		if u.grad == nil {
			continue
		}
		lent(u.grad)
		for _, f := range u.v.hooks.ready {
			(*f)(u.grad, func(f func()) { b.after = append(b.after, f) })
		}
	}
}

// step passes the gradient of n's result to its operands.
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
			fail(v.of, []*Tensor{dx, v.in[i]}, "the VJP returned a gradient whose shape differs from its operand's")
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

// partOf returns the function that views the part of an operand selected by op, or nil if op
// does not make such a view. Its VJP fills a tensor of the operand's size with zeros. When many
// parts of one tensor are used, for example the steps of a sequence, all gradients but the
// first are added in place.
func partOf(op Op) func(x *Tensor) *Tensor {
	switch op := op.(type) {
	case slice:
		return func(x *Tensor) *Tensor { return sliced(x, op) }
	case sliceStep:
		return func(x *Tensor) *Tensor { return op.Forward([]*Tensor{x}) }
	}
	return nil
}

// addPart adds dy to the selected part of u's gradient, if possible.
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
		leaf.grad = asShared(g)
	case leaf.grad != nil:
		NoGrad(func() { leaf.grad.AddAssign(g) })
		b.drop(g)
	default:
		// The leaf's gradient may later be changed in place, so its memory must not be shared.
		alone := g.mem.holders.Load() == 1
		if g.mem.id <= b.start || b.owned[g.mem] || !g.IsContiguous() || g.isView && g.mem.buffer.Bytes() != g.Bytes() {
			g, alone = duplicate(g), true
		}
		b.owned[g.mem] = true
		leaf.giveGrad(g, alone)
	}
}

// constantLike returns value in t's shape and dtype, without reading t's values.
func constantLike(t *Tensor, value float64) *Tensor {
	return constant(t, t.dtype, value).expandTo(t.shape)
}

// DetectAnomaly runs body; within it, Backward and Grad panic at the first operation whose
// derivative produces a NaN. The panic names the operation, the cell line and module that
// called it, the operand and the element. Record the operations inside body too, or their lines
// are unknown. Checking every gradient is slow: use it to find a fault, not to train. It is
// torch.autograd.detect_anomaly.
func DetectAnomaly(body func()) {
	driver.SetTracing(true)
	defer driver.SetTracing(false)
	s := current()
	s.anomaly = true
	s.do(body)
}

// expectNumber panics if the gradient dx of operand i of v contains a NaN.
func (v *vertex) expectNumber(op string, dx *Tensor, i int) {
	var at []int
	Unobserved(func() {
		if dx.Counts().NaNs > 0 {
			at = unravel(int(dx.IsNaN().Reshape(-1).To(Uint8).Argmax().Item()), dx.shape)
		}
	})
	if at == nil {
		return
	}
	why := text.Sprintf("the derivative of %s is NaN for operand %d at element %v", v.of, i, at)
	if x := v.in[i]; x.mem != nil {
		why += fmt.Sprintf(", where the operand is %v", x.Detach().At(at...))
	}
	if v.source != "" {
		why += ", in " + v.source
	}
	if v.module != "" {
		why += fmt.Sprintf(", in module %q", v.module)
	}
	panic(named(&Error{Op: op, Why: why + "; look for 0/0, inf-inf or 0*inf there"}))
}

// unravel returns the index of element n, in row-major order, of a tensor of the given shape.
func unravel(n int, shape []int) []int {
	at := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		at[i], n = n%shape[i], n/shape[i]
	}
	return at
}

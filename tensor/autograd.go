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
	for _, v := range b.order {
		b.wanted[v] = v.leaf != nil || v.retain != nil
	}
	b.run()
	for _, v := range slices.Backward(b.order) {
		if u := v.retain; u != nil && b.grads[v] != nil {
			u.grad = b.grads[v]
		}
		if v.leaf != nil && b.grads[v] != nil {
			b.collect(v.leaf, b.grads[v])
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
		b.wanted[x.v] = true
	}
	b.run()
	out := make([]*Tensor, len(xs))
	for i, x := range xs {
		out[i] = b.grads[x.v]
		if out[i] == nil && !o.AllowUnused {
			fail("grad", []*Tensor{y, x}, "the first does not depend on operand %d; allow it with AllowUnused", i)
		}
	}
	return out
}

// backprop is one walk back along the tape.
type backprop struct {
	op     string
	o      BackwardOptions
	order  []*vertex        // what the start depends on, newest first
	wanted map[*vertex]bool // whose gradients are asked for
	leads  map[*vertex]bool // wanted, or on the way to one
	grads  map[*vertex]*Tensor
	start  uint64 // storages with smaller numbers are older than the walk
	owned  map[*storage]bool
	sums   map[*vertex]bool // whose gradient is memory of its own, to add to in place
}

func newBackprop(op string, y *Tensor, o BackwardOptions) *backprop {
	if y.v == nil {
		fail(op, []*Tensor{y}, "it does not require a gradient; expected a result that depends on a tensor with RequireGrad, computed outside NoGrad")
	}
	b := &backprop{
		op: op, o: o, order: reachable(op, y.v, o), start: ids.Load(),
		wanted: map[*vertex]bool{}, leads: map[*vertex]bool{}, grads: map[*vertex]*Tensor{}, owned: map[*storage]bool{}, sums: map[*vertex]bool{},
	}
	switch g := o.Gradient; {
	case g == nil && y.Numel() != 1:
		fail(op, []*Tensor{y}, "it has %d elements; expected one, or a Gradient to start from", y.Numel())
	case g == nil:
		b.grads[y.v] = constantLike(y, 1)
	case !slices.Equal(g.shape, y.shape):
		fail(op, []*Tensor{y, g}, "the Gradient to start from has another shape than the tensor")
	default:
		b.grads[y.v] = g.To(y.dtype)
	}
	return b
}

// reachable returns v and what it depends on within o's bounds, newest first.
func reachable(op string, v *vertex, o BackwardOptions) []*vertex {
	seen := map[*vertex]bool{v: true}
	order := []*vertex{v}
	for i := 0; i < len(order); i++ {
		u := order[i]
		if u.freed {
			panic(&Error{Op: op, Why: fmt.Sprintf("the tape of %s has been freed by an earlier Backward; compute the result again, or keep the tape with BackwardOptions{RetainGraph: true} there", u.of)})
		}
		if o.ends[u] {
			continue
		}
		for _, t := range u.in {
			if t.v != nil && t.v.seq > o.floor && !seen[t.v] {
				seen[t.v] = true
				order = append(order, t.v)
			}
		}
	}
	slices.SortFunc(order, func(a, b *vertex) int { return cmp.Compare(b.seq, a.seq) })
	return order
}

// run computes the gradients of all wanted vertices.
func (b *backprop) run() {
	for _, v := range slices.Backward(b.order) {
		b.leads[v] = b.wanted[v] || slices.ContainsFunc(v.in, func(t *Tensor) bool { return b.leads[t.v] })
	}
	// No caster: derivatives run in the dtypes of forward.
	outer := current()
	s := state{nograd: !b.o.CreateGraph, backward: true, suspended: EnclosingCaster()}
	scope.Do(s, func() {
		for _, v := range b.order {
			dy := b.grads[v]
			if b.o.ends[v] {
				continue
			}
			if dy != nil && len(v.hooks.grad) > 0 {
				dy = v.hooks.through(dy)
				b.grads[v] = dy
			}
			if dy == nil || v.op == nil || !slices.ContainsFunc(v.in, func(t *Tensor) bool { return b.leads[t.v] }) {
				continue
			}
			if observers.load() == nil {
				b.step(v, dy)
			} else {
				s.of, s.ofID, s.module, s.source = v.of, v.out.id, v.module, v.source
				if outer.of != "" {
					s.of, s.ofID, s.module, s.source = outer.of, outer.ofID, outer.module, outer.source // inside derive
				}
				scope.Do(s, func() { b.step(v, dy) })
			}
			if !b.wanted[v] {
				delete(b.grads, v)
			}
			if !b.o.RetainGraph && !b.o.CreateGraph {
				v.free()
			}
		}
	})
}

// step hands the gradient dy of v's result on to its operands.
func (b *backprop) step(v *vertex, dy *Tensor) {
	v.unchanged(b.op)
	in := v.in
	if !b.o.CreateGraph {
		in = slices.Clone(in)
		for i, t := range in {
			if t.v != nil && !b.leads[t.v] {
				u := *t
				u.v = nil
				in[i] = &u
			}
		}
	}
	part := partOf(v.op)
	cut := part != nil
	if cut && b.addPart(v.in[0].v, part, dy) {
		return
	}
	for i, dx := range v.op.VJP(dy, v.out, in) {
		u := v.in[i].v
		if dx == nil || u == nil || !b.leads[u] {
			continue
		}
		if !slices.Equal(dx.shape, v.in[i].shape) {
			fail(v.of, []*Tensor{dx, v.in[i]}, "its VJP gave a gradient of the first shape for an operand of the second")
		}
		dx = dx.To(v.in[i].dtype)
		g := b.grads[u]
		if g != nil {
			dx = g.Add(dx)
		}
		b.grads[u], b.sums[u] = dx, cut || g != nil
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
func (b *backprop) addPart(u *vertex, part func(x *Tensor) *Tensor, dy *Tensor) bool {
	if b.o.CreateGraph || !b.sums[u] || b.grads[u] == nil {
		return false
	}
	part(b.grads[u]).AddAssign(dy)
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

package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// A composite operation has no kernel: its function f calls other operations. Its Forward is
// compose(f, in) and its VJP derive(f, dy, in).

// compose returns f of in. Half-precision operands are widened to float32 and the result is
// rounded once. The operations of f are neither recorded nor observed.
func compose(f func(in []*Tensor) *Tensor, in []*Tensor) *Tensor { return composeFrom(0, f, in) }

// composeFrom is compose with the first operands as they are, not widened.
func composeFrom(first int, f func(in []*Tensor) *Tensor, in []*Tensor) *Tensor {
	s := current()
	s.caster, s.nograd, s.hidden = nil, true, true
	var y *Tensor
	s.do(func() {
		x := make([]*Tensor, len(in))
		for i, t := range in {
			if x[i] = t.Detach(); i >= first && t.dtype.IsFloat() {
				x[i] = wide(x[i])
			}
		}
		y = f(x)
	})
	if d := floating(in); d != driver.Invalid && y.dtype == wideOf(d) {
		y = forward(cast{d}, []*Tensor{y})
	}
	return y.alias(y.offset, y.shape, y.stride) // y may be an operand
}

// derive returns the gradients of in, given the gradient dy of compose(f, in), by running f
// again.
func derive(f func(in []*Tensor) *Tensor, dy *Tensor, in []*Tensor) []*Tensor {
	graph := IsGradEnabled()
	x := make([]*Tensor, len(in))
	for i, t := range in {
		if x[i] = t; t.dtype.IsFloat() {
			x[i] = t.To(wideOf(t.dtype))
		}
	}
	floor := ids.Load() // the walk stops at older vertices
	var to []*Tensor
	s := current()
	s.caster, s.nograd, s.hidden = nil, false, true
	var y *Tensor
	s.do(func() {
		for i, t := range x {
			switch {
			case !in[i].RequiresGrad():
				x[i] = t.Detach()
				continue
			case graph:
				x[i] = apply(same{}, t)
			default:
				x[i] = t.Detach().RequireGrad()
			}
			to = append(to, x[i])
		}
		y = f(x)
	})
	out := make([]*Tensor, len(in))
	if !y.RequiresGrad() {
		return out
	}
	o := BackwardOptions{Gradient: dy.To(y.dtype), CreateGraph: graph, AllowUnused: true, floor: floor}
	grads := GradWith(y, to, o)
	for i, t := range in {
		if t.RequiresGrad() {
			out[i], grads = grads[0], grads[1:]
		}
	}
	return out
}

// floating returns the dtype that the floating-point operands promote to, or Invalid if there
// are none.
func floating(in []*Tensor) DType {
	d := driver.Invalid
	for _, t := range in {
		switch {
		case !t.dtype.IsFloat():
		case d == driver.Invalid:
			d = t.dtype
		default:
			d = promote(d, t.dtype)
		}
	}
	return d
}

// same gives its operand another place on the tape.
type same struct{}

func (same) Info() Info                               { return info("alias", "torch.ops.aten.alias", SavesNothing) }
func (same) fixed()                                   {}
func (same) Forward(in []*Tensor) *Tensor             { return in[0].Detach() }
func (same) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy} }

// widely returns the gradient f(dy, x) of a function of one operand, computed in float32 for
// halves and rounded once.
func widely(dy, x *Tensor, f func(dy, x *Tensor) *Tensor) []*Tensor {
	w := wideOf(dy.dtype)
	return []*Tensor{f(dy.To(w), x.To(w)).To(dy.dtype)}
}

// both returns the gradients of two operands, each given by its function: computed in
// float32 for halves, summed over broadcast dimensions, and rounded once.
func both(dy *Tensor, in []*Tensor, first, second func(dy, x, y *Tensor) *Tensor) []*Tensor {
	w := wideOf(dy.dtype)
	g, x, y := dy.To(w), in[0].To(w), in[1].To(w)
	out := make([]*Tensor, 2)
	for i, f := range []func(dy, x, y *Tensor) *Tensor{first, second} {
		if in[i].RequiresGrad() {
			out[i] = f(g, x, y).sumTo(in[i]).To(dy.dtype)
		}
	}
	return out
}

// sumTo sums a gradient over the dimensions in which x was broadcast.
func (t *Tensor) sumTo(x *Tensor) *Tensor {
	if slices.Equal(t.shape, x.shape) {
		return t
	}
	shift := len(t.shape) - len(x.shape)
	var dims []int
	for i, s := range t.shape {
		if i < shift || s != x.shape[i-shift] {
			dims = append(dims, i)
		}
	}
	return t.KeepDim().Sum(dims...).Reshape(x.shape...)
}

// decomposed is an operation that torch composes of others on some device.
type decomposed interface {
	Op
	// parts computes the result with the operations that torch uses.
	parts(in []*Tensor) *Tensor
}

// takesApart returns op as a composition of other operations, or nil if it runs as a
// whole.
func (s state) takesApart(op Op) decomposed {
	c, ok := op.(decomposed)
	if !ok {
		return nil
	}
	if d, ok := s.caster.(decomposer); !ok || !d.Decomposes(op.Info()) {
		return nil
	}
	return c
}

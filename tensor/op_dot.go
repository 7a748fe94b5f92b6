package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type dot struct{}

func (dot) Info() Info                           { return info("dot", "torch.dot", SavesOperands) }
func (dot) products(in []*Tensor, y *Tensor) int { return in[0].shape[0] }
func (d dot) Forward(in []*Tensor) *Tensor       { return dotted("dot", in) }
func (dot) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Mul(in[1]), dy.Mul(in[0])}
}

func dotted(op string, in []*Tensor) *Tensor {
	y := multiply(op, []*Tensor{row(in[0]), column(in[1])})
	return shaped(y, []int{})
}

// Dot returns the sum of the products of the vectors t (k) and o (k): a scalar. It
// is torch.dot.
func (t *Tensor) Dot(o *Tensor) *Tensor {
	vectors("dot", t, o)
	return apply(dot{}, t, o)
}

type vdot struct{ dot }

func (vdot) Info() Info                   { return info("vdot", "torch.vdot", SavesOperands) }
func (vdot) Forward(in []*Tensor) *Tensor { return dotted("vdot", in) }

// VDot is Dot, because the elements are real. It is torch.vdot.
func (t *Tensor) VDot(o *Tensor) *Tensor {
	vectors("vdot", t, o)
	return apply(vdot{}, t, o)
}

func vectors(op string, x, y *Tensor) {
	given(op, x, y)
	if len(x.shape) != 1 || len(y.shape) != 1 || x.shape[0] != y.shape[0] {
		fail(op, []*Tensor{x, y}, "the operands are not vectors of equal length; want (k,) and (k,)")
	}
}

type vecdot struct{}

func (vecdot) Info() Info {
	return info("linalg_vecdot", "torch.linalg.vecdot", SavesOperands)
}
func (vecdot) products(in []*Tensor, _ *Tensor) int { return in[0].Numel() }
func (vecdot) Forward(in []*Tensor) *Tensor {
	y := multiply("linalg_vecdot", []*Tensor{row(in[0]), column(in[1])})
	return squeezed(squeezed(y, len(y.shape)-1), len(y.shape)-2)
}
func (vecdot) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	dy = dy.Unsqueeze(-1)
	return []*Tensor{dy.Mul(in[1]).sumTo(in[0]), dy.Mul(in[0]).sumTo(in[1])}
}

// VecDot returns the sum of the products of t and o along dim, which is removed. The other
// dimensions broadcast. It is torch.linalg.vecdot.
func (t *Tensor) VecDot(o *Tensor, dim int) *Tensor {
	shape := broadcast("linalg_vecdot", []*Tensor{t, o})
	if len(shape) == 0 {
		fail("linalg_vecdot", []*Tensor{t, o}, "an operand is a scalar; want at least 1 dimension")
	}
	x, y := t.expandTo(shape), o.expandTo(shape)
	d := axis("linalg_vecdot", x, dim, len(shape))
	order := append(slices.Delete(seq(len(shape)), d, d+1), d)
	return apply(vecdot{}, x.Permute(order...), y.Permute(order...))
}

type outer struct{}

func (outer) Info() Info { return info("outer", "torch.outer", SavesOperands) }
func (outer) promotes()  {}
func (outer) Forward(in []*Tensor) *Tensor {
	return pairwise("outer", driver.Mul, column(in[0]), row(in[1]))
}
func (outer) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.MV(in[1])
	}
	if in[1].RequiresGrad() {
		out[1] = dy.T().MV(in[0])
	}
	return out
}

// Outer returns the products of each element of t (m) with each of o (n): (m, n). It is
// torch.outer and torch.ger.
func (t *Tensor) Outer(o *Tensor) *Tensor {
	given("outer", t, o)
	if len(t.shape) != 1 || len(o.shape) != 1 {
		fail("outer", []*Tensor{t, o}, "the operands are not vectors; want (m,) and (n,)")
	}
	return apply(outer{}, t, o)
}

// row and column return vectors (…, k) as matrices (…, 1, k) and (…, k, 1), and squeezed
// removes a dimension of size 1. All return views that are not recorded.
func row(x *Tensor) *Tensor    { return inserted(x, len(x.shape)-1) }
func column(x *Tensor) *Tensor { return inserted(x, len(x.shape)) }

func inserted(x *Tensor, dim int) *Tensor {
	return x.alias(x.offset, slices.Insert(slices.Clone(x.shape), dim, 1), slices.Insert(slices.Clone(x.stride), dim, 0))
}

func squeezed(x *Tensor, dim int) *Tensor {
	return x.alias(x.offset, slices.Delete(slices.Clone(x.shape), dim, dim+1), slices.Delete(slices.Clone(x.stride), dim, dim+1))
}

// crossProduct is the cross product of vectors of three elements along a dimension.
type crossProduct struct{ dim int }

func (crossProduct) Info() Info { return info("cross", "torch.cross", SavesOperands) }
func (crossProduct) promotes()  {}
func (c crossProduct) f(in []*Tensor) *Tensor {
	shape, _ := broadcastShapes(in[0].shape, in[1].shape)
	x, y := in[0].expandTo(shape), in[1].expandTo(shape)
	turned := func(t *Tensor, first int) *Tensor { // t[first:] and t[:first]
		return Cat(c.dim, t.Slice(c.dim, first, 3), t.Slice(c.dim, 0, first))
	}
	return turned(x, 1).Mul(turned(y, 2)).Sub(turned(x, 2).Mul(turned(y, 1)))
}
func (c crossProduct) Forward(in []*Tensor) *Tensor              { return compose(c.f, in) }
func (c crossProduct) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// Cross returns the cross products of the vectors of size 3 along dim of t and o, broadcast.
// It is torch.linalg.cross and torch.cross.
func (t *Tensor) Cross(o *Tensor, dim int) *Tensor {
	in := []*Tensor{t, o}
	shape := broadcast("cross", in)
	d := axis("cross", t.expandTo(shape), dim, len(shape))
	if shape[d] != 3 {
		fail("cross", in, "dimension %d has size %d; want 3", dim, shape[d])
	}
	return apply(crossProduct{d}, in...)
}

// bilinear is x w y + b. Its operands are x (n, i), y (n, j), w (o, i, j) and perhaps b
// (o).
type bilinear struct{}

func (bilinear) Info() Info {
	return info("bilinear", "torch.nn.functional.bilinear", SavesOperands)
}
func (bilinear) products(in []*Tensor, y *Tensor) int {
	w := in[2]
	return in[0].shape[0]*w.Numel() + y.Numel()*w.shape[2]
}
func (bilinear) f(in []*Tensor) *Tensor {
	y := Einsum("ni,oij,nj->no", in[0], in[2], in[1])
	if len(in) == 4 {
		y = y.Add(in[3])
	}
	return y
}
func (b bilinear) Forward(in []*Tensor) *Tensor {
	sameDType("bilinear", in)
	return compose(b.f, in)
}
func (b bilinear) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(b.f, dy, in) }

// Bilinear returns the sums of t w y over i and j, plus b, for t (…, i), y (…, j),
// w (out, i, j) and b (out), which may be nil: (…, out). It computes in float32 and rounds
// once. It is torch.nn.functional.bilinear.
func Bilinear(t, y, w, b *Tensor) *Tensor {
	given("bilinear", t, y, w)
	in := []*Tensor{t, y, w}
	if b != nil {
		in = append(in, b)
	}
	n := len(t.shape)
	switch {
	case n == 0 || len(y.shape) != n || len(w.shape) != 3 || !slices.Equal(t.shape[:n-1], y.shape[:n-1]) || t.shape[n-1] != w.shape[1] || y.shape[n-1] != w.shape[2]:
		fail("bilinear", in, "inputs and weight do not match; want (…, i), (…, j) and (out, i, j)")
	case b != nil && !slices.Equal(b.shape, w.shape[:1]):
		fail("bilinear", in, "weight and bias do not match; want (out, i, j) and (out,)")
	}
	to := append(slices.Clone(t.shape[:n-1]), w.shape[0])
	rows := size(t.shape[:n-1])
	in[0], in[1] = t.Reshape(rows, t.shape[n-1]), y.Reshape(rows, y.shape[n-1])
	return apply(bilinear{}, in...).Reshape(to...)
}

// Kron returns the Kronecker product: each element of t times the whole of o. Sizes multiply;
// missing leading sizes are 1. It is torch.kron.
func (t *Tensor) Kron(o *Tensor) *Tensor {
	given("kron", t, o)
	n := max(len(t.shape), len(o.shape))
	var first, second, to []int
	size := func(x *Tensor, i int) int {
		if i += len(x.shape) - n; i >= 0 {
			return x.shape[i]
		}
		return 1
	}
	for i := range n {
		a, b := size(t, i), size(o, i)
		first, second, to = append(first, a, 1), append(second, 1, b), append(to, a*b)
	}
	return t.Reshape(first...).Mul(o.Reshape(second...)).Reshape(to...)
}

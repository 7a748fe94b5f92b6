package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// Products of matrices and vectors of fixed rank, under torch's names, which autocast's lists
// use. They compute as matmul does.

type mm struct{ matmul }

func (mm) Info() Info                   { return info("mm", "torch.mm", SavesOperands) }
func (mm) Forward(in []*Tensor) *Tensor { return multiply("mm", in) }

// MM returns the product of the matrices t (m, k) and o (k, n): (m, n). It is
// torch.mm.
func (t *Tensor) MM(o *Tensor) *Tensor {
	given("mm", t, o)
	if len(t.shape) != 2 || len(o.shape) != 2 || t.shape[1] != o.shape[0] {
		fail("mm", []*Tensor{t, o}, "cannot multiply the matrices; want (m, k) times (k, n)")
	}
	return apply(mm{}, t, o)
}

type bmm struct{ matmul }

func (bmm) Info() Info                   { return info("bmm", "torch.bmm", SavesOperands) }
func (bmm) Forward(in []*Tensor) *Tensor { return multiply("bmm", in) }

// BMM returns the products of batches of matrices t (b, m, k) and o (b, k, n): (b, m, n). It
// is torch.bmm.
func (t *Tensor) BMM(o *Tensor) *Tensor {
	t.given("bmm")
	if len(t.shape) != 3 || len(o.shape) != 3 || t.shape[0] != o.shape[0] || t.shape[2] != o.shape[1] {
		fail("bmm", []*Tensor{t, o}, "cannot multiply the batches of matrices; want (b, m, k) times (b, k, n)")
	}
	return apply(bmm{}, t, o)
}

type mv struct{ matmul }

func (mv) Info() Info { return info("mv", "torch.mv", SavesOperands) }
func (mv) Forward(in []*Tensor) *Tensor {
	return squeezed(multiply("mv", []*Tensor{in[0], column(in[1])}), 1)
}
func (mv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.Outer(in[1])
	}
	if in[1].RequiresGrad() {
		out[1] = in[0].T().MV(dy)
	}
	return out
}

// MV returns the product of the matrix t (m, k) and the vector o (k): (m). It is
// torch.mv.
func (t *Tensor) MV(o *Tensor) *Tensor {
	given("mv", t, o)
	if len(t.shape) != 2 || len(o.shape) != 1 || t.shape[1] != o.shape[0] {
		fail("mv", []*Tensor{t, o}, "cannot multiply the matrix and the vector; want (m, k) times (k,)")
	}
	return apply(mv{}, t, o)
}

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

package tensor

import "halfnote/tensor/driver"

type amax struct{ over }

func (amax) Info() Info { return info("amax", "torch.amax", SavesAll) }
func (a amax) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ReduceMax, in[0], a.dims, in[0].dtype))
}
func (a amax) VJP(dy, y *Tensor, in []*Tensor) []*Tensor { return a.ties(dy, y, in[0]) }

// Amax returns the largest element along dims, which are removed, or of all elements if none is
// given. A NaN gives NaN. Equal elements share the gradient. It is torch.amax.
func (t *Tensor) Amax(dims ...int) *Tensor {
	return apply(amax{overDims("amax", t, dims).nonEmpty("amax", t)}, t)
}

type amin struct{ over }

func (amin) Info() Info { return info("amin", "torch.amin", SavesAll) }
func (a amin) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ReduceMin, in[0], a.dims, in[0].dtype))
}
func (a amin) VJP(dy, y *Tensor, in []*Tensor) []*Tensor { return a.ties(dy, y, in[0]) }

// Amin returns the smallest element along dims, which are removed, or of all elements if none
// is given. A NaN gives NaN. Equal elements share the gradient. It is torch.amin.
func (t *Tensor) Amin(dims ...int) *Tensor {
	return apply(amin{overDims("amin", t, dims).nonEmpty("amin", t)}, t)
}

// nonEmpty returns o. It panics if a dimension to reduce is empty.
func (o over) nonEmpty(op string, t *Tensor) over {
	if o.count(t) == 0 {
		fail(op, []*Tensor{t}, "the reduction is empty; want sizes of at least 1 along dimensions %v", o.dims)
	}
	return o
}

// ties divides dy among the elements of x that equal y.
func (o over) ties(dy, y, x *Tensor) []*Tensor {
	equal := equalMask(x, o.spread(y, x))
	return []*Tensor{o.spread(dy, x).Mul(equal.Div(equal.KeepDim().Sum(o.dims...)))}
}

// Aminmax returns Amin and Amax over dims. It is torch.aminmax.
func (t *Tensor) Aminmax(dims ...int) (smallest, largest *Tensor) {
	return t.Amin(dims...), t.Amax(dims...)
}

type argmax struct{ over }

func (argmax) Info() Info { return info("argmax", "torch.argmax", NoDerivative) }
func (a argmax) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ArgMax, in[0], a.dims, Int64))
}
func (argmax) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Argmax returns the int64 index of the largest element along dim, which is removed. Of equal
// elements it is the first, and a NaN counts as largest. Without a dim the index counts through
// all elements in row-major order; with several, through the elements along them. It has no
// gradient. It is torch.argmax.
func (t *Tensor) Argmax(dims ...int) *Tensor {
	return apply(argmax{overDims("argmax", t, dims).nonEmpty("argmax", t)}, t)
}

type argmin struct{ over }

func (argmin) Info() Info { return info("argmin", "torch.argmin", NoDerivative) }
func (a argmin) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ArgMin, in[0], a.dims, Int64))
}
func (argmin) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Argmin is Argmax for the smallest element. It is torch.argmin.
func (t *Tensor) Argmin(dims ...int) *Tensor {
	return apply(argmin{overDims("argmin", t, dims).nonEmpty("argmin", t)}, t)
}

// Max returns the largest element along dim, which is removed, and its int64 index. Of equal
// elements it is the first, which also gets the gradient. NaN counts as largest. It is torch.max
// with dim.
func (t *Tensor) Max(dim int) (values, indices *Tensor) {
	t.given("max")
	return dropped(dim).both(t.KeepDim().Max(dim))
}

// Min returns the smallest element along dim, which is removed, and its int64 index. Of equal
// elements it is the first, which also gets the gradient. NaN counts as smallest. It is
// torch.min with dim.
func (t *Tensor) Min(dim int) (values, indices *Tensor) {
	t.given("min")
	return dropped(dim).both(t.KeepDim().Min(dim))
}

// chosen returns the elements at the positions at, which has size 1 along dim, and at itself.
func (t *Tensor) chosen(at *Tensor, dim int) (values, indices *Tensor) {
	if len(t.shape) == 0 {
		return t.Clone(), at
	}
	return t.Gather(dim, at), at
}

// extreme is the larger or the smaller operand; if one is NaN, it is the other.
type extreme struct {
	name string
	cmp  func(x, y *Tensor) *Tensor
}

func (e extreme) Info() Info { return info(e.name, "torch."+e.name, SavesOperands) }
func (extreme) promotes()    {}
func (e extreme) f(in []*Tensor) *Tensor {
	x, y := in[0], in[1]
	return e.cmp(x, y).Or(y.IsNaN()).Where(x, y)
}
func (e extreme) Forward(in []*Tensor) *Tensor { return compose(e.f, in).To(promoteAll(in)) }
func (e extreme) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	taken := func(x, y *Tensor) *Tensor { return e.cmp(x, y).Or(y.IsNaN()) }
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.shared(x.Eq(y), taken(x, y).Not()) },
		func(dy, x, y *Tensor) *Tensor { return dy.shared(x.Eq(y), taken(x, y)) })
}

// Fmax returns the larger of t and o, broadcast, or the other operand where one is NaN. If
// they are equal each gets half of the gradient. It is torch.fmax.
func (t *Tensor) Fmax(o *Tensor) *Tensor { return apply(extreme{"fmax", (*Tensor).Ge}, t, o) }

// Fmin returns the smaller of t and o, broadcast, or the other operand where one is NaN. If
// they are equal each gets half of the gradient. It is torch.fmin.
func (t *Tensor) Fmin(o *Tensor) *Tensor { return apply(extreme{"fmin", (*Tensor).Le}, t, o) }

type maximum struct{}

func (maximum) Info() Info { return info("maximum", "torch.maximum", SavesOperands) }
func (maximum) promotes()  {}
func (maximum) Forward(in []*Tensor) *Tensor {
	return pairwise("maximum", driver.Max, in[0], in[1])
}
func (maximum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return shareOut(dy, in, (*Tensor).Gt)
}

// Maximum returns the larger of t and o, broadcast, or NaN if either is NaN. Equal operands
// get half the gradient each. It is torch.maximum.
func (t *Tensor) Maximum(o *Tensor) *Tensor { return apply(maximum{}, t, o) }

type minimum struct{}

func (minimum) Info() Info { return info("minimum", "torch.minimum", SavesOperands) }
func (minimum) promotes()  {}
func (minimum) Forward(in []*Tensor) *Tensor {
	return pairwise("minimum", driver.Min, in[0], in[1])
}
func (minimum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return shareOut(dy, in, (*Tensor).Lt)
}

// Minimum returns the smaller of t and o, broadcast, or NaN if either is NaN. Equal operands
// get half the gradient each. It is torch.minimum.
func (t *Tensor) Minimum(o *Tensor) *Tensor { return apply(minimum{}, t, o) }

// shareOut gives dy to the operand that leads, half of it to each where both are equal, and all of it to both where one is NaN: torch's
// derivative.
func shareOut(dy *Tensor, in []*Tensor, leads func(x, y *Tensor) *Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.shared(x.Eq(y), leads(y, x)) },
		func(dy, x, y *Tensor) *Tensor { return dy.shared(x.Eq(y), leads(x, y)) })
}

// shared returns half of the gradient t where operands are equal, 0 where the other one leads, and t elsewhere.
func (t *Tensor) shared(equal, other *Tensor) *Tensor {
	return equal.Where(t.MulScalar(0.5), other.Where(constant(t, t.dtype, 0), t))
}

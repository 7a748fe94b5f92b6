package tensor

import "halfnote/tensor/driver"

// over is the dimensions of a reduction.
type over struct {
	dims []int // sorted
	keep bool  // keep dims with size 1
}

// overDims returns a reduction of t over dims, which are removed, or over all if none is given.
func overDims(op string, t *Tensor, dims []int) over { return over{dims: axes(op, t, dims)} }

// finish reshapes a result with kept dimensions to the requested shape.
func (o over) finish(y *Tensor) *Tensor {
	if o.keep {
		return y
	}
	y.shape = dropDims(y.shape, o.dims)
	y.stride = rowMajor(y.shape)
	return y
}

// spread broadcasts dy, a reduction's gradient, to the shape of its operand x.
func (o over) spread(dy, x *Tensor) *Tensor {
	return dy.Reshape(keepDims(x.shape, o.dims)...).expandTo(x.shape)
}

// total returns the sum or product of x, computed in int64 for integers and bool. If the caller
// chose the dtype, the result is converted to x's dtype; integers wrap around.
func (o over) total(c driver.Code, x *Tensor, given bool) *Tensor {
	if x.dtype.IsFloat() {
		return o.finish(reduce(c, x, o.dims, x.dtype))
	}
	y := reduce(c, x, o.dims, Int64)
	if given {
		y = narrow(y, x.dtype)
	}
	return o.finish(y)
}

// count returns the number of elements of x in one result.
func (o over) count(x *Tensor) int {
	n := 1
	for _, d := range o.dims {
		n *= x.shape[d]
	}
	return n
}

type sum struct {
	over
	given bool // dtype chosen by the caller, so neither autocast nor Forward chooses it
}

func (s sum) Info() Info {
	return info("sum", "torch.sum", SavesNothing).given(s.given)
}
func (s sum) Forward(in []*Tensor) *Tensor              { return s.total(driver.Sum, in[0], s.given) }
func (s sum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{s.spread(dy, in[0])} }

// Sum returns the sum over dims, which are removed, or over all dimensions if none is given. It
// adds in float32 and rounds once: the sum of 65536 ones in float16 is +Inf. Integers and bool
// give int64. It is torch.sum.
func (t *Tensor) Sum(dims ...int) *Tensor {
	return apply(sum{over: overDims("sum", t, dims)}, t)
}

// SumAs returns the Sum of t, computed and returned in dtype d, also under autocast. Integers
// wrap around. It is torch.sum with dtype.
func (t *Tensor) SumAs(d DType, dims ...int) *Tensor {
	return apply(sum{overDims("sum", t, dims), true}, t.To(d))
}

type mean struct{ over }

func (mean) Info() Info { return info("mean", "torch.mean", SavesNothing) }
func (m mean) Forward(in []*Tensor) *Tensor {
	return m.finish(reduce(driver.Mean, in[0], m.dims, in[0].dtype))
}
func (m mean) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{m.spread(dy.MulScalar(1/float64(m.count(in[0]))), in[0])}
}

// Mean returns the mean over dims, which are removed, or over all dimensions if none is given.
// It adds and divides in float32 and rounds once. It is torch.mean.
func (t *Tensor) Mean(dims ...int) *Tensor { return apply(mean{overDims("mean", t, dims)}, t) }

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

// equalMask returns 1 where x equals y and 0 elsewhere, without a gradient.
func equalMask(x, y *Tensor) *Tensor { return pairwise("eq", driver.Equal, x, y) }

// seq returns 0, 1, … n-1.
func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

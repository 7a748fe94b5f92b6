package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
)

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

type prod struct {
	over
	given bool // dtype chosen by the caller, so neither autocast nor Forward chooses it
}

func (p prod) Info() Info { return info("prod", "torch.prod", SavesOperands).given(p.given) }
func (p prod) Forward(in []*Tensor) *Tensor {
	if in[0].dtype != Float32 {
		return p.total(driver.Prod, in[0], p.given)
	}
	x := convert(in[0], Float64)
	y := reduce(driver.Prod, x, p.dims, Float64)
	release(x)
	return p.finish(narrow(y, Float32))
}

// VJP multiplies the products before and after each element, which is correct for zeros.
func (p prod) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	x := in[0]
	return widely(dy, x, func(dy, x *Tensor) *Tensor {
		order := make([]int, 0, len(x.shape))
		for i := range x.shape {
			if !slices.Contains(p.dims, i) {
				order = append(order, i)
			}
		}
		order = append(order, p.dims...)
		moved := x.Permute(order...)
		rows := moved.Reshape(p.rows(x), p.count(x))
		rest := running{1, false}.others(rows).Mul(running{1, true}.others(rows))
		return p.spread(dy, x).Mul(rest.Reshape(moved.shape...).Permute(undone(order)...))
	})
}

// rows returns the number of results.
func (o over) rows(x *Tensor) int {
	n := 1
	for i, s := range x.shape {
		if !slices.Contains(o.dims, i) {
			n *= s
		}
	}
	return n
}

// Prod returns the product over dims, which are removed, or over all dimensions if none is
// given. It multiplies halves in float32 and float32 in float64, and rounds once. Integers and
// bool give int64. It is torch.prod.
func (t *Tensor) Prod(dims ...int) *Tensor {
	return apply(prod{over: overDims("prod", t, dims)}, t)
}

// ProdAs returns the Prod of t, computed and returned in dtype d, also under autocast. Integers
// wrap around. It is torch.prod with dtype.
func (t *Tensor) ProdAs(d DType, dims ...int) *Tensor {
	return apply(prod{overDims("prod", t, dims), true}, t.To(d))
}

// variance is the sum of squared differences from the mean, divided by the number of elements
// less correction, or its root.
type variance struct {
	over
	correction float64
	root       bool
}

func (v variance) Info() Info {
	if v.root {
		return info("std", "torch.std", SavesOperands)
	}
	return info("var", "torch.var", SavesOperands)
}

func (v variance) divisor(x *Tensor) float64 {
	return math.Max(0, float64(v.count(x))-v.correction)
}

func (v variance) Forward(in []*Tensor) *Tensor {
	notWhole(v.Info().Name, in)
	x := wide(in[0])
	m := reduce(driver.Mean, x, v.dims, x.dtype)
	d := pairwise("var", driver.Sub, x, m)
	var scale *Tensor
	if v.root {
		scale = v.scale(d)
		runBroadcast(driver.Kernel{Code: driver.Mul}, d, d, scale)
	}
	y := reduce(driver.SumSquares, d, v.dims, x.dtype)
	runBroadcast(driver.Kernel{Code: driver.Div}, y, y, constant(y, y.dtype, v.divisor(x)))
	if v.root {
		run(driver.Kernel{Code: driver.Sqrt}, y, y)
		run(driver.Kernel{Code: driver.Div}, y, y, scale)
		release(scale)
	}
	release(m, d)
	if x != in[0] {
		release(x)
	}
	return v.finish(narrow(y, in[0].dtype))
}

// scale returns the powers of 2 by which differences d are multiplied so that their squares neither overflow nor become subnormal, with size
// 1 along the reduced dimensions. Between the limits they are 1, and no bit of a result depends on them.
func (v variance) scale(d *Tensor) *Tensor {
	limit, up, down := 0x1p50, 0x1p100, 0x1p-75
	if d.dtype == Float64 {
		limit, up, down = 0x1p400, 0x1p700, 0x1p-600
	}
	magnitudes := unary(driver.Abs, d)
	m := reduce(driver.ReduceMax, magnitudes, v.dims, d.dtype)
	number := func(x float64) *Tensor { return constant(m, m.dtype, x) }
	choose := func(cond, then, otherwise *Tensor) *Tensor {
		return elementwise("", driver.Kernel{Code: driver.Where}, cond, then, otherwise)
	}
	small, large := pairwise("", driver.Less, m, number(1/limit)), pairwise("", driver.Less, number(limit), m)
	s := choose(large, number(down), choose(small, number(up), number(1)))
	release(magnitudes, m, small, large)
	return s
}

func (v variance) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor {
		d := x.Sub(x.KeepDim().Mean(v.dims...))
		if v.root {
			// A deviation of 0 has the gradient 0.
			y := apply(variance{v.over, v.correction, true}, x)
			flat := y.EqScalar(0)
			dy = flat.Where(constant(dy, dy.dtype, 0), dy.Div(flat.Where(constant(y, y.dtype, 1), y).MulScalar(2)))
		}
		return v.spread(dy, x).Mul(d).MulScalar(2 / v.divisor(x))
	})
}

// Var returns the variance over dims, which are removed, or over all dimensions if none is
// given: the sum of squared differences from the mean, divided by the number of elements less 1.
// It computes in float32 and rounds once. It is torch.var.
func (t *Tensor) Var(dims ...int) *Tensor { return t.VarWith(1, dims...) }

// VarWith is Var with the sum divided by the number of elements less correction. It is
// torch.var with correction.
func (t *Tensor) VarWith(correction float64, dims ...int) *Tensor {
	return apply(variance{overDims("var", t, dims), correction, false}, t)
}

// Std returns the square root of Var. It is torch.std.
func (t *Tensor) Std(dims ...int) *Tensor { return t.StdWith(1, dims...) }

// StdWith returns the square root of VarWith. It is torch.std with correction.
func (t *Tensor) StdWith(correction float64, dims ...int) *Tensor {
	return apply(variance{overDims("std", t, dims), correction, true}, t)
}

// VarMean returns Var and Mean over dims. It is torch.var_mean.
func (t *Tensor) VarMean(dims ...int) (variance, mean *Tensor) {
	return t.Var(dims...), t.Mean(dims...)
}

// StdMean returns Std and Mean over dims. It is torch.std_mean.
func (t *Tensor) StdMean(dims ...int) (std, mean *Tensor) {
	return t.Std(dims...), t.Mean(dims...)
}

// counting counts the elements that are not 0; all and any compare the count.
type counting struct {
	over
	name string
	of   func(y *Tensor, count int) *Tensor // result for a count; nil for the count itself
}

func (c counting) Info() Info { return info(c.name, "torch."+c.name, NoDerivative) }
func (c counting) Forward(in []*Tensor) *Tensor {
	y := c.finish(reduce(driver.Sum, convert(in[0], Bool), c.dims, Int64))
	if c.of == nil {
		return y
	}
	y = c.of(y, c.count(in[0]))
	if in[0].dtype == Uint8 {
		return narrow(y, Uint8)
	}
	return y
}
func (counting) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{nil} }

func everyOne(y *Tensor, count int) *Tensor { return y.EqScalar(float64(count)) }
func atLeastOne(y *Tensor, _ int) *Tensor   { return y.GtScalar(0) }

// All returns a tensor that is true where all elements over dims, which are removed, are not
// 0, or over all dimensions if none is given. It is bool, or uint8 if t is. It is torch.all.
func (t *Tensor) All(dims ...int) *Tensor {
	return apply(counting{overDims("all", t, dims), "all", everyOne}, t.Detach())
}

// Any returns a tensor that is true where at least one element over dims, which are removed,
// is not 0, or over all dimensions if none is given. It is bool, or uint8 if t is. It is
// torch.any.
func (t *Tensor) Any(dims ...int) *Tensor {
	return apply(counting{overDims("any", t, dims), "any", atLeastOne}, t.Detach())
}

// CountNonzero returns the int64 number of elements over dims, which are removed, that are
// not 0, or over all dimensions if none is given. It is torch.count_nonzero.
func (t *Tensor) CountNonzero(dims ...int) *Tensor {
	return apply(counting{overDims("count_nonzero", t, dims), "count_nonzero", nil}, t.Detach())
}

type nansum struct {
	over
	given bool // the caller chose the dtype
}

func (nansum) Info() Info { return info("nansum", "torch.nansum", SavesOperands) }
func (n nansum) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor {
		x := in[0]
		return apply(sum{n.over, n.given}, x.IsNaN().Where(constant(x, x.dtype, 0), x))
	}, in)
}
func (n nansum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{in[0].IsNaN().Where(constant(dy, dy.dtype, 0), n.spread(dy, in[0]))}
}

// NanSum returns the sum over dims, which are removed, or over all dimensions if none is
// given. NaN counts as 0. It is torch.nansum.
func (t *Tensor) NanSum(dims ...int) *Tensor {
	return apply(nansum{over: overDims("nansum", t, dims)}, t)
}

// NanSumAs returns the NanSum of t, computed and returned in dtype d. Integers wrap around.
// It is torch.nansum with dtype.
func (t *Tensor) NanSumAs(d DType, dims ...int) *Tensor {
	return apply(nansum{overDims("nansum", t, dims), true}, t.countable(d))
}

// countable returns t in dtype d, with 0 for each NaN if d cannot represent NaN.
func (t *Tensor) countable(d DType) *Tensor {
	if t.dtype.IsFloat() && !d.IsFloat() {
		t = t.MaskedFill(t.IsNaN(), 0)
	}
	return t.To(d)
}

// NanMean returns the mean of the elements that are not NaN over dims, which are removed, or
// over all dimensions if none is given. It is torch.nanmean.
func (t *Tensor) NanMean(dims ...int) *Tensor {
	return overDims("nanmean", t, dims).nanMean(t)
}

func (o over) nanMean(t *Tensor) *Tensor {
	notWhole("nanmean", []*Tensor{t})
	return apply(nansum{over: o}, t).Div(apply(sum{over: o}, t.IsNaN().Not()))
}

// NanMeanAs is NanMean of t in dtype d. It is torch.nanmean with dtype.
func (t *Tensor) NanMeanAs(d DType, dims ...int) *Tensor { return t.To(d).NanMean(dims...) }

// MeanAs is Mean of t in dtype d. It is torch.mean with dtype.
func (t *Tensor) MeanAs(d DType, dims ...int) *Tensor { return t.To(d).Mean(dims...) }

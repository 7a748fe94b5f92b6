package tensor

import (
	"fmt"
	"math"

	"halfnote/tensor/driver"
)

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

// Aminmax returns Amin and Amax over dims. It is torch.aminmax.
func (t *Tensor) Aminmax(dims ...int) (smallest, largest *Tensor) {
	return t.Amin(dims...), t.Amax(dims...)
}

// Bincount returns the int64 counts of the values 0, 1, … in t, a vector of non-negative
// integers. The result has at least minlength elements. It is torch.bincount.
func (t *Tensor) Bincount(minlength int) *Tensor {
	t.given("bincount")
	if t.dtype.IsFloat() || len(t.shape) != 1 {
		failDType("bincount", []*Tensor{t}, "t has shape %s; want a vector of integers", shapeString(t.shape))
	}
	checkLeast("bincount", "minlength", minlength, 0)
	data, most := t.Int64s(), int64(minlength)-1
	for i, x := range data {
		pollAt(i)
		if x < 0 || x == math.MaxInt64 {
			fail("bincount", []*Tensor{t}, "element %d is %d; want 0 or more, and small enough to allocate that many counts", i, x)
		}
		most = max(most, x)
	}
	counts := hostSlice[int64]("bincount", int(most)+1)
	for i, x := range data {
		pollAt(i)
		counts[x]++
	}
	return FromInt64s(counts, len(counts))
}

// Histc returns the number of elements in each of bins bins of equal width from lo to hi, in
// t's dtype. If lo equals hi the smallest and the largest element are the bounds. Elements
// outside the bounds and NaN are not counted. It is torch.histc.
func (t *Tensor) Histc(bins int, lo, hi float64) *Tensor {
	notWhole("histc", []*Tensor{t})
	if bins < 1 || lo > hi {
		panic(&Error{Op: "histc", Why: fmt.Sprintf("%d bins from %v to %v; want at least 1 bin, and lo at most hi", bins, lo, hi)})
	}
	data := t.Float64s()
	if lo == hi && len(data) > 0 {
		lo, hi = t.Amin().Item(), t.Amax().Item()
	}
	if math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo) {
		fail("histc", []*Tensor{t}, "bounds are %v and %v; want finite numbers", lo, hi)
	}
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	counts := hostSlice[float64]("histc", bins)
	for i, x := range data {
		pollAt(i)
		if x >= lo && x <= hi {
			counts[min(int((x-lo)/(hi-lo)*float64(bins)), bins-1)]++
		}
	}
	return NewAs(t.dtype, counts, bins)
}

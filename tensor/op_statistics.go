package tensor

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Cov returns the covariance matrix of the rows of t (variables, observations): (variables,
// variables), divided by the number of observations less 1. A vector is one variable, and its
// result a scalar. It is torch.cov.
func (t *Tensor) Cov() *Tensor { return t.CovWith(1, nil, nil) }

// CovWith is Cov divided by the number of observations less correction. counts is an integer
// vector of the frequencies of the observations, and weights a floating-point vector of their
// importance; nil means ones. It is torch.cov with correction, fweights and aweights.
func (t *Tensor) CovWith(correction float64, counts, weights *Tensor) *Tensor {
	t.given("cov")
	if len(t.shape) > 2 {
		fail("cov", []*Tensor{t}, "input has %d dimensions; want at most 2: (variables, observations)", len(t.shape))
	}
	x := t.floats()
	if len(t.shape) < 2 {
		x = x.Reshape(1, -1)
	}
	n := x.shape[1]
	w := observationWeights(x, counts, weights)
	total, by := constant(x, x.dtype, float64(n)), constant(x, x.dtype, float64(n)-correction)
	weighed := x
	if w != nil {
		total, weighed = w.Sum(), x.Mul(w)
		by = total.AddScalar(-correction)
		if weights != nil && correction != 0 {
			by = total.Sub(w.Mul(weights).Sum().Div(total).MulScalar(correction))
		}
	}
	mean := weighed.Sum(1).Div(total)
	x = x.Sub(mean.Unsqueeze(1))
	weighed = x
	if w != nil {
		weighed = x.Mul(w)
	}
	return x.MM(weighed.T()).Div(by.ClampMin(0)).Squeeze()
}

// observationWeights returns the products of counts and weights in x's dtype, or nil if both
// are nil. Each is nil or a vector with one number per column of x.
func observationWeights(x, counts, weights *Tensor) *Tensor {
	var w *Tensor
	for i, v := range []*Tensor{counts, weights} {
		if v == nil {
			continue
		}
		if !slices.Equal(v.shape, x.shape[1:]) || v.dtype.IsFloat() != (i == 1) {
			fail("cov", []*Tensor{x, v}, "%s has dtype %v; want one element per observation, integer counts and floating-point weights", []string{"counts", "weights"}[i], v.dtype)
		}
		if v.Detach().LtScalar(0).Any().Item() != 0 {
			fail("cov", []*Tensor{x, v}, "%s has a negative element; want at least 0", []string{"counts", "weights"}[i])
		}
		if v = v.To(x.dtype); w != nil {
			v = w.Mul(v)
		}
		w = v
	}
	return w
}

// Corrcoef returns the matrix of correlation coefficients of the rows of t (variables,
// observations), from -1 to 1: (variables, variables). A vector is one variable, and its result
// a scalar. It is torch.corrcoef.
func (t *Tensor) Corrcoef() *Tensor {
	c := t.Cov()
	if len(c.shape) == 0 {
		return c.Div(c)
	}
	deviation := c.Diagonal(0, 0, 1).Sqrt()
	return c.Div(deviation.Unsqueeze(1)).Div(deviation.Unsqueeze(0)).Clamp(-1, 1)
}

// HistogramOptions configures Histogram.
type HistogramOptions struct {
	Low, High float64 // outer edges; if equal, the smallest and largest element
	Weight    *Tensor // weight of each element, in t's shape; nil for ones
	Density   bool    // divide by the total and the bin widths, so that the integral is 1
}

// Histogram returns the number of elements in each of bins bins of equal width, and the bins+1
// edges, in t's dtype. Elements out of range and NaN do not count; an element at an inner edge
// falls into the bin above it. It has no gradient. It is torch.histogram.
func (t *Tensor) Histogram(bins int, o HistogramOptions) (hist, edges *Tensor) {
	notWhole("histogram", []*Tensor{t})
	in := []*Tensor{t}
	if bins < 1 || o.Low > o.High {
		fail("histogram", in, "bins is %d, Low is %v and High is %v; want at least 1 bin, and Low <= High", bins, o.Low, o.High)
	}
	data := t.Detach().Float64s()
	weight := func(int) float64 { return 1 }
	if o.Weight != nil {
		if !slices.Equal(o.Weight.shape, t.shape) {
			fail("histogram", append(in, o.Weight), "Weight must have the input's shape")
		}
		weights := o.Weight.Detach().Float64s()
		weight = func(i int) float64 { return weights[i] }
	}
	lo, hi := o.Low, o.High
	if lo == hi && len(data) > 0 {
		lo, hi = t.Detach().Amin().Item(), t.Detach().Amax().Item()
	}
	if math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo) {
		fail("histogram", in, "the outer edges are %v and %v; want finite numbers", lo, hi)
	}
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	edges = ZerosAs(Float64, bins+1) // panics if memory is short
	edges = NewAs(t.dtype, bounds(lo, hi, edges.Float64s()), bins+1)
	sums := binned(data, edges.Float64s(), weight)
	if o.Density {
		total, width := 0.0, (hi-lo)/float64(bins)
		for _, s := range sums {
			total += s
		}
		for i := range sums {
			sums[i] /= total * width
		}
	}
	device := t.Device()
	return NewAs(t.dtype, sums, bins).ToDevice(device), edges.ToDevice(device)
}

// bounds fills edges with the edges of bins from lo to hi.
func bounds(lo, hi float64, edges []float64) []float64 {
	bins := len(edges) - 1
	for i := range edges {
		pollAt(i)
		edges[i] = lo + float64((hi-lo)*(float64(i)/float64(bins)))
	}
	edges[bins] = hi
	return edges
}

// binned returns the sums of the weights of the data between adjacent edges.
func binned(data, edges []float64, weight func(i int) float64) []float64 {
	sums := hostSlice[float64]("histogram", len(edges)-1)
	for i, x := range data {
		pollAt(i)
		if x >= edges[0] && x <= edges[len(sums)] {
			bin := sort.Search(len(sums), func(j int) bool { return edges[j+1] > x })
			sums[min(bin, len(sums)-1)] += weight(i)
		}
	}
	return sums
}

// QuantileOptions configures Quantiles and NanQuantiles.
type QuantileOptions struct {
	Interpolation string // value between two elements: "linear" (default), "lower", "higher", "midpoint" or "nearest"
}

// Quantile returns the q-quantile, q from 0 to 1, along dim, which is dropped. Between two
// elements it interpolates linearly. It is NaN if an element is. t must be float32 or float64.
// It is torch.quantile with one q.
func (t *Tensor) Quantile(q float64, dim int) *Tensor {
	return t.quantiles("quantile", []float64{q}, dim, QuantileOptions{}, false).Select(0, 0)
}

// Quantiles is Quantile for several q, along a new first dimension. It is torch.quantile.
func (t *Tensor) Quantiles(q []float64, dim int, o QuantileOptions) *Tensor {
	return t.quantiles("quantile", q, dim, o, false)
}

// NanQuantile is Quantile ignoring NaN elements. It is NaN if all elements are. It is
// torch.nanquantile with one q.
func (t *Tensor) NanQuantile(q float64, dim int) *Tensor {
	return t.quantiles("nanquantile", []float64{q}, dim, QuantileOptions{}, true).Select(0, 0)
}

// NanQuantiles is NanQuantile for several q, along a new first dimension. It is
// torch.nanquantile.
func (t *Tensor) NanQuantiles(q []float64, dim int, o QuantileOptions) *Tensor {
	return t.quantiles("nanquantile", q, dim, o, true)
}

func (t *Tensor) quantiles(op string, q []float64, dim int, o QuantileOptions, ignoreNaN bool) *Tensor {
	t.given(op)
	t = raised(offered(Info{Name: op}, t)[0])
	if t.dtype != Float32 && t.dtype != Float64 {
		failDType(op, []*Tensor{t}, "want float32 or float64: convert with To")
	}
	for _, share := range q {
		if !(share >= 0 && share <= 1) {
			fail(op, []*Tensor{t}, "q is %v; want a number from 0 to 1", share)
		}
	}
	modes := []string{"", "linear", "lower", "higher", "midpoint", "nearest"}
	if !slices.Contains(modes, o.Interpolation) {
		fail(op, []*Tensor{t}, "unknown interpolation %q; want one of %q", o.Interpolation, modes[1:])
	}
	d := axis(op, t, dim, len(t.shape))
	if t.shape[d] == 0 {
		fail(op, []*Tensor{t}, "dimension %d is empty; want at least one element", d)
	}
	sorted, _ := t.Movedim(d, -1).Sort(-1)
	return sorted.between(sorted.ranks(q, ignoreNaN), o.Interpolation).Movedim(-1, 0)
}

// ranks returns the positions of the quantiles q, rounded to t's dtype, in sorted rows (…, n),
// as float64: (…, len(q)). For rows with NaN it is the last position, unless ignoreNaN is set.
func (t *Tensor) ranks(q []float64, ignoreNaN bool) *Tensor {
	x := t.Detach()
	n := x.shape[len(x.shape)-1]
	shares := NewAs(x.dtype, q, len(q)).ToDevice(x.Device()).Double()
	nan := x.IsNaN()
	if ignoreNaN {
		last := nan.Not().Sum(-1).Double().AddScalar(-1).ClampMin(0)
		return last.Unsqueeze(-1).Mul(shares)
	}
	last := constant(x, Float64, float64(n-1))
	return nan.Slice(-1, n-1, n).Where(last, shares.MulScalar(float64(n-1)))
}

// between returns the elements of the rows t (…, n) at ranks (…, len(q)).
func (t *Tensor) between(ranks *Tensor, interpolation string) *Tensor {
	at := func(ranks *Tensor) *Tensor { return t.Gather(-1, ranks.Long()) }
	switch interpolation {
	case "lower":
		return at(ranks.Floor())
	case "higher":
		return at(ranks.Ceil())
	case "nearest":
		return at(ranks.Round())
	}
	floor := ranks.Floor()
	weight := ranks.Sub(floor).To(t.dtype)
	if interpolation == "midpoint" {
		weight = constantLike(weight, 0.5)
	}
	return at(floor).LerpTensor(at(ranks.Ceil()), weight)
}

// NanMedian returns the lower median along dim, which is dropped, ignoring NaN elements, and
// its position. It is NaN if all elements are. It is torch.nanmedian.
func (t *Tensor) NanMedian(dim int) (values, indices *Tensor) {
	t.given("nanmedian")
	return dropped(dim).both(t.nanMedian(dim))
}

func (t *Tensor) nanMedian(dim int) (values, indices *Tensor) {
	x := raised(t)
	d := axis("nanmedian", x, dim, len(x.shape))
	over{dims: []int{d}}.nonEmpty("nanmedian", x)
	order := x.Detach().argsort("nanmedian", d, false) // NaN last
	count := newTensor(x.mem.backend, Int64, keepDims(x.shape, []int{d})).AddScalar(float64(x.shape[d]))
	if x.dtype.IsFloat() {
		count = x.Detach().IsNaN().Not().Sum(d).Unsqueeze(d)
	}
	middle := count.AddScalar(-1).ClampMin(0).RightShift(constantLike(count, 1))
	return x.ranked(d, order.Gather(d, middle), t)
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
		panic(named(&Error{Op: "histc", Why: fmt.Sprintf("%d bins from %v to %v; want at least 1 bin, and lo at most hi", bins, lo, hi)}))
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

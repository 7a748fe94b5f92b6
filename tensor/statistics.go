package tensor

import (
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

// CumulativeTrapezoid integrates t along dim by the trapezoidal rule with spacing dx. It
// returns the integrals up to each element from the second on. It is
// torch.cumulative_trapezoid.
func (t *Tensor) CumulativeTrapezoid(dx float64, dim int) *Tensor {
	t.given("cumulative_trapezoid")
	d := axis("cumulative_trapezoid", t, dim, len(t.shape))
	size := t.shape[d]
	return t.Slice(d, min(1, size), size).Add(t.Slice(d, 0, max(size-1, 0))).Cumsum(d).MulScalar(dx / 2)
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

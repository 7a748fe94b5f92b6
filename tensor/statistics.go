package tensor

import (
	"math"
	"slices"
	"sort"
)

// Cov returns the covariances of variables, the rows of t (variables, observations), each
// with each: (variables, variables), divided by the number of observations less 1. A vector
// is one variable, and the result a number. It is torch.cov.
func (t *Tensor) Cov() *Tensor { return t.CovWith(1, nil, nil) }

// CovWith is Cov divided by the number of observations less correction. counts, a vector of
// integers, has how often each observation occurs, and weights, a vector of floating-point
// numbers, how much it matters; nil stands for ones. It is torch.cov with correction, fweights
// and aweights.
func (t *Tensor) CovWith(correction float64, counts, weights *Tensor) *Tensor {
	t.given("cov")
	if len(t.shape) > 2 {
		fail("cov", []*Tensor{t}, "it has %d dimensions; expected 2 or fewer, (variables, observations)", len(t.shape))
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
			by = total.Sub(w.Mul(weights).Sum().Div(total).Scale(correction))
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

// observationWeights returns the products of counts and weights, vectors of as many numbers
// as x has columns, or nil, in x's dtype; nil if both are.
func observationWeights(x, counts, weights *Tensor) *Tensor {
	var w *Tensor
	for i, v := range []*Tensor{counts, weights} {
		if v == nil {
			continue
		}
		if !slices.Equal(v.shape, x.shape[1:]) || v.dtype.IsFloat() != (i == 1) {
			fail("cov", []*Tensor{x, v}, "the second has %s of %v; expected one for each observation, counts of integers and weights of floating point", []string{"counts", "weights"}[i], v.dtype)
		}
		if v.Detach().LtScalar(0).Any().Item() != 0 {
			fail("cov", []*Tensor{x, v}, "one of the %s is negative; expected 0 or more", []string{"counts", "weights"}[i])
		}
		if v = v.To(x.dtype); w != nil {
			v = w.Mul(v)
		}
		w = v
	}
	return w
}

// Corrcoef returns the correlation coefficients of variables, the rows of t (variables,
// observations), each with each, from -1 to 1: (variables, variables). A vector is one
// variable, and the result a number. It is torch.corrcoef.
func (t *Tensor) Corrcoef() *Tensor {
	c := t.Cov()
	if len(c.shape) == 0 {
		return c.Div(c)
	}
	deviation := c.Diagonal(0, 0, 1).Sqrt()
	return c.Div(deviation.Unsqueeze(1)).Div(deviation.Unsqueeze(0)).Clamp(-1, 1)
}

// CumulativeTrapezoid returns the integrals along dim of a function with these values dx
// apart, by straight pieces, up to each one from the second on. It is
// torch.cumulative_trapezoid.
func (t *Tensor) CumulativeTrapezoid(dx float64, dim int) *Tensor {
	t.given("cumulative_trapezoid")
	d := axis("cumulative_trapezoid", t, dim, len(t.shape))
	size := t.shape[d]
	return t.Slice(d, min(1, size), size).Add(t.Slice(d, 0, max(size-1, 0))).Cumsum(d).Scale(dx / 2)
}

// HistogramOptions are those of torch.histogram.
type HistogramOptions struct {
	Low, High float64 // the outer edges; equal ones stand for the least and the largest element
	Weight    *Tensor // what each element counts for, in t's shape; nil for ones
	Density   bool    // divide by the sum and the bins' widths, so that the integral is 1
}

// Histogram returns how many elements are in each of that many bins of one width, and the
// bins' edges, one more, as t's dtype. Elements outside and NaN do not count; an element at
// an inner edge is in the bin above. It has no gradient. It is torch.histogram.
func (t *Tensor) Histogram(bins int, o HistogramOptions) (hist, edges *Tensor) {
	notWhole("histogram", []*Tensor{t})
	in := []*Tensor{t}
	if bins < 1 || o.Low > o.High {
		fail("histogram", in, "%d bins from %v to %v; expected 1 or more, and bounds in order", bins, o.Low, o.High)
	}
	data := t.Detach().Float64s()
	weight := func(int) float64 { return 1 }
	if o.Weight != nil {
		if !slices.Equal(o.Weight.shape, t.shape) {
			fail("histogram", append(in, o.Weight), "the weights do not fit; expected the elements' shape")
		}
		weights := o.Weight.Detach().Float64s()
		weight = func(i int) float64 { return weights[i] }
	}
	lo, hi := o.Low, o.High
	if lo == hi && len(data) > 0 {
		lo, hi = t.Detach().Amin().Item(), t.Detach().Amax().Item()
	}
	if math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo) {
		fail("histogram", in, "bounds are %v and %v; expected finite ones", lo, hi)
	}
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	edges = ZerosAs(Float64, bins+1) // refuses what memory does not hold
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

// bounds fills edges of bins from lo to hi.
func bounds(lo, hi float64, edges []float64) []float64 {
	bins := len(edges) - 1
	for i := range edges {
		pollAt(i)
		edges[i] = lo + float64((hi-lo)*(float64(i)/float64(bins)))
	}
	edges[bins] = hi
	return edges
}

// binned returns the sums of the weights of the data between neighbouring edges.
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

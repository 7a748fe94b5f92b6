package tensor

import "slices"

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

package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// PNormOptions are the options of norms. The zero value is the default.
type PNormOptions struct {
	Dims  []int // dimensions to reduce, which are removed; none stands for all, or for a matrix norm the last two
	DType DType // dtype to convert to first, also under autocast
}

// norm is (Σ|x|^p)^(1/p); for p = 0 the number of elements that are not 0, and for p = ±Inf the
// largest or smallest |x|.
type norm struct {
	over
	p     float64
	given bool // dtype chosen by the caller
}

func (n norm) Info() Info { return info("norm", "torch.norm", SavesAll).given(n.given) }
func (norm) real()        {}
func (n norm) Forward(in []*Tensor) *Tensor {
	w := wideOf(in[0].dtype)
	if n.p == 2 {
		y := reduce(driver.SumSquares, in[0], n.dims, w)
		run(driver.Kernel{Code: driver.Sqrt}, y, y)
		return n.finish(narrow(y, in[0].dtype))
	}
	e, y := n.magnitudes(in[0], w), (*Tensor)(nil)
	switch n.p {
	case 0:
		run(driver.Kernel{Code: driver.Sign}, e, e)
		y = reduce(driver.Sum, e, n.dims, w)
	case 1:
		y = reduce(driver.Sum, e, n.dims, w)
	case math.Inf(1):
		y = reduce(driver.ReduceMax, e, n.dims, w)
	case math.Inf(-1):
		y = reduce(driver.ReduceMin, e, n.dims, w)
	default:
		run(driver.Kernel{Code: driver.Pow, Alpha: n.p}, e, e)
		y = reduce(driver.Sum, e, n.dims, w)
		run(driver.Kernel{Code: driver.Pow, Alpha: 1 / n.p}, y, y)
	}
	release(e)
	return n.finish(narrow(y, in[0].dtype))
}

// magnitudes returns |x| in dtype d, always in new memory.
func (norm) magnitudes(x *Tensor, d DType) *Tensor {
	if x.dtype == d {
		return unary(driver.Abs, x)
	}
	e := convert(x, d)
	run(driver.Kernel{Code: driver.Abs}, e, e)
	return e
}

// slope is VJP without a tape: the gradient of x for the gradient dy of its norms y, which keep
// size 1. It frees its temporaries.
func (n norm) slope(x, y, dy *Tensor) *Tensor {
	power := func(t *Tensor, p float64) *Tensor {
		return elementwise("", driver.Kernel{Code: driver.Pow, Alpha: p}, t)
	}
	times := func(dst, t *Tensor) { runBroadcast(driver.Kernel{Code: driver.Mul}, dst, dst, t); release(t) }
	zero, one := constant(x, x.dtype, 0), constant(x, x.dtype, 1)
	divisor := elementwise("", driver.Kernel{Code: driver.Where}, y, y, one) // x is 0 where y is 0
	over := func(p float64) *Tensor {
		d := power(divisor, p)
		runBroadcast(driver.Kernel{Code: driver.Div}, d, dy, d)
		return d
	}
	dx := unary(driver.Sign, x)
	switch {
	case n.p == 0:
		times(dx, zero)
	case n.p == 1:
		times(dx, duplicate(dy))
	case math.IsInf(n.p, 0):
		equal := unary(driver.Abs, x)
		runBroadcast(driver.Kernel{Code: driver.Equal}, equal, equal, y)
		count := reduce(driver.Sum, equal, n.dims, x.dtype)
		runBroadcast(driver.Kernel{Code: driver.Div}, equal, equal, count)
		times(dx, duplicate(dy))
		times(dx, equal)
		release(count)
	case n.p < 2:
		e := unary(driver.Abs, x)
		run(driver.Kernel{Code: driver.Pow, Alpha: n.p - 1}, e, e)
		runBroadcast(driver.Kernel{Code: driver.Where}, e, dx, e, zero)
		times(dx, e)
		if n.p < 1 {
			e = power(y, 1-n.p)
			run(driver.Kernel{Code: driver.Mul}, e, dy, e)
			times(dx, e)
		} else {
			times(dx, over(n.p-1))
		}
	default:
		run(driver.Kernel{Code: driver.Copy}, dx, x)
		if n.p > 2 {
			e := unary(driver.Abs, x)
			run(driver.Kernel{Code: driver.Pow, Alpha: n.p - 2}, e, e)
			times(dx, e)
		}
		times(dx, over(n.p-1))
	}
	release(divisor)
	return dx
}

// VJP follows torch's derivatives: 0 where the norm is 0, and an equal share for ties.
func (n norm) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := wideOf(in[0].dtype)
	x := in[0].To(d)
	if d != in[0].dtype {
		y = apply(n, x) // the unrounded norm
	}
	dy, y = n.spread(dy.To(d), x), n.spread(y, x)
	sign := func() *Tensor { return x.Step().Sub(x.Neg().Step()) }
	zero := constant(x, d, 0)
	divisor := equalMask(y, zero).Where(constant(x, d, 1), y) // x is 0 where y is 0
	var dx *Tensor
	switch {
	case n.p == 0:
		dx = zero.expandTo(x.shape)
	case n.p == 1:
		dx = sign().Mul(dy)
	case math.IsInf(n.p, 0):
		equal := equalMask(x.Abs(), y)
		dx = sign().Mul(dy).Mul(equal.Div(equal.KeepDim().Sum(n.dims...)))
	case n.p == 2:
		dx = x.Mul(dy.Div(divisor))
	case n.p < 1:
		dx = equalMask(x, zero).Where(zero, sign().Mul(x.Abs().Pow(n.p-1))).Mul(dy.Mul(y.Pow(1 - n.p)))
	case n.p < 2:
		dx = sign().Mul(x.Abs().Pow(n.p - 1)).Mul(dy.Div(divisor.Pow(n.p - 1)))
	default:
		dx = x.Mul(x.Abs().Pow(n.p - 2)).Mul(dy.Div(divisor.Pow(n.p - 1)))
	}
	return []*Tensor{dx}
}

// newNorm returns the norm described by o and the tensor to apply it to.
func newNorm(op string, t *Tensor, p float64, o PNormOptions) (norm, *Tensor) {
	n := norm{overDims(op, t, o.Dims), p, o.DType != driver.Invalid}
	if p != p {
		fail(op, []*Tensor{t}, "p is NaN; want a number or ±Inf")
	}
	if (p < 0 || math.IsInf(p, 1)) && n.count(t) == 0 {
		fail(op, []*Tensor{t}, "dimensions %v are empty, where the norm of order %v is undefined; want sizes of at least 1", n.dims, p)
	}
	if n.given {
		if !o.DType.IsFloat() {
			failDType(op, []*Tensor{t}, "DType is %v; want a floating-point dtype", o.DType)
		}
		t = t.To(o.DType)
	}
	return n, t
}

// Norm returns the square root of the sum of squares over dims, which are removed, or over all
// dimensions if none is given. It squares and adds in float32 and rounds once, so the norm of
// float16 [300, 400] is 500. It is torch.norm.
func (t *Tensor) Norm(dims ...int) *Tensor { return t.NormWith(2, PNormOptions{Dims: dims}) }

// NormWith returns (Σ|t|^p)^(1/p); for p = 0 the number of elements that are not 0, and for
// p = ±Inf the largest or smallest |t|. It computes in float32 and rounds once. It is
// torch.norm with p.
func (t *Tensor) NormWith(p float64, o PNormOptions) *Tensor {
	n, x := newNorm("norm", t, p, o)
	return apply(n, x)
}

type vectorNorm struct{ norm }

func (v vectorNorm) Info() Info {
	return info("linalg_vector_norm", "torch.linalg.vector_norm", SavesAll).given(v.given)
}

// VectorNorm is NormWith. It is torch.linalg.vector_norm.
func (t *Tensor) VectorNorm(p float64, o PNormOptions) *Tensor {
	n, x := newNorm("linalg_vector_norm", t, p, o)
	return apply(vectorNorm{n}, x)
}

// dist is the norm of a difference.
type dist struct{ p float64 }

func (dist) Info() Info { return info("dist", "torch.dist", SavesOperands) }
func (dist) promotes()  {}
func (d dist) f(in []*Tensor) *Tensor {
	return in[0].Sub(in[1]).VectorNorm(d.p, PNormOptions{})
}
func (d dist) Forward(in []*Tensor) *Tensor              { return compose(d.f, in) }
func (d dist) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(d.f, dy, in) }

// Dist returns the norm of order p of t - o, broadcast: a scalar. It is torch.dist.
func (t *Tensor) Dist(o *Tensor, p float64) *Tensor {
	broadcast("dist", []*Tensor{t, o})
	return apply(dist{p}, t, o)
}

// cdist is the distances of each row of one matrix to each row of another.
type cdist struct{ p float64 }

func (cdist) Info() Info { return info("cdist", "torch.cdist", SavesOperands) }
func (cdist) promotes()  {}
func (cdist) real()      {}
func (c cdist) f(in []*Tensor) *Tensor {
	return in[0].Unsqueeze(-2).Sub(in[1].Unsqueeze(-3)).VectorNorm(c.p, PNormOptions{Dims: []int{-1}})
}
func (c cdist) Forward(in []*Tensor) *Tensor { return c.blocks(in[0], in[1]) }
func (c cdist) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if IsGradEnabled() {
		return derive(c.f, dy, in)
	}
	return c.gradients(dy, in)
}

// CDist returns the norms of order p of the differences of each row of t (…, m, k) and
// each row of o (…, n, k): (…, m, n). It always computes the differences, in blocks, where
// torch may use a matrix product; second derivatives hold all differences at once. It is
// torch.cdist.
func (t *Tensor) CDist(o *Tensor, p float64) *Tensor {
	given("cdist", t, o)
	in := []*Tensor{t, o}
	n, m := len(t.shape), len(o.shape)
	if n < 2 || m < 2 || t.shape[n-1] != o.shape[m-1] {
		fail("cdist", in, "the rows of t and o do not match; want (…, m, k) and (…, n, k)")
	}
	if _, ok := broadcastShapes(t.shape[:n-2], o.shape[:m-2]); !ok {
		fail("cdist", in, "the leading dimensions do not broadcast; want (…, m, k) and (…, n, k)")
	}
	checkDistance("cdist", in, p)
	return apply(cdist{p}, t, o)
}

// checkDistance panics unless p is the order of a distance.
func checkDistance(op string, in []*Tensor, p float64) {
	if !(p >= 0) {
		fail(op, in, "p is %v; want at least 0", p)
	}
}

// pdist is the distances of the rows of a matrix.
type pdist struct{ p float64 }

func (pdist) Info() Info { return info("pdist", "torch.nn.functional.pdist", SavesOperands) }
func (pdist) real()      {}
func (d pdist) f(in []*Tensor) *Tensor {
	x := in[0]
	var first, second []int
	n := x.shape[0]
	first, second = hostSlice[int]("pdist", n*(n-1)/2)[:0], hostSlice[int]("pdist", n*(n-1)/2)[:0]
	for i := range n {
		driver.Poll()
		for j := i + 1; j < x.shape[0]; j++ {
			first, second = append(first, i), append(second, j)
		}
	}
	rows := func(index []int) *Tensor { return x.IndexSelect(0, FromInts(index).ToDevice(x.Device())) }
	return rows(first).Sub(rows(second)).VectorNorm(d.p, PNormOptions{Dims: []int{1}})
}
func (d pdist) Forward(in []*Tensor) *Tensor { return d.blocks(in[0]) }
func (d pdist) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if IsGradEnabled() {
		return derive(d.f, dy, in)
	}
	return []*Tensor{d.gradient(dy, in[0])}
}

// PDist returns the norms of order p of the differences of rows i < j of t (n, k), ordered by
// i, then j: (n(n-1)/2). It is torch.nn.functional.pdist.
func (t *Tensor) PDist(p float64) *Tensor {
	t.given("pdist")
	if len(t.shape) != 2 {
		fail("pdist", []*Tensor{t}, "t is %d-D; want (n, k)", len(t.shape))
	}
	checkDistance("pdist", []*Tensor{t}, p)
	return apply(pdist{p}, t)
}

// PairwiseDistance returns the norm of order p of t - o + eps along the last dimension,
// which is removed; torch's defaults are p = 2 and eps = 1e-6. It is
// torch.nn.functional.pairwise_distance.
func (t *Tensor) PairwiseDistance(o *Tensor, p, eps float64) *Tensor {
	broadcast("pairwise_distance", []*Tensor{t, o})
	return t.Sub(o).AddScalar(eps).NormWith(p, PNormOptions{Dims: []int{-1}})
}

type cosineSimilarity struct {
	dim int
	eps float64
}

func (cosineSimilarity) Info() Info {
	return info("cosine_similarity", "torch.nn.functional.cosine_similarity", SavesOperands)
}
func (cosineSimilarity) promotes() {}
func (c cosineSimilarity) f(in []*Tensor) *Tensor {
	shape, _ := broadcastShapes(in[0].shape, in[1].shape)
	direction := func(x *Tensor) *Tensor {
		n := x.expandTo(shape).KeepDim().VectorNorm(2, PNormOptions{Dims: []int{c.dim}})
		// As in torch, the derivative ignores the lower bound.
		low := n.Detach()
		return x.Div(n.Add(low.ClampMin(c.eps).Sub(low)))
	}
	return direction(in[0]).Mul(direction(in[1])).Sum(c.dim)
}
func (c cosineSimilarity) Forward(in []*Tensor) *Tensor              { return compose(c.f, in) }
func (c cosineSimilarity) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// CosineSimilarity returns the cosine of the angle between t and o along dim, which is removed,
// broadcast. Norms are at least eps. torch's defaults are dim = 1 and eps = 1e-8. It is
// torch.nn.functional.cosine_similarity.
func (t *Tensor) CosineSimilarity(o *Tensor, dim int, eps float64) *Tensor {
	shape := broadcast("cosine_similarity", []*Tensor{t, o})
	d := axis("cosine_similarity", t.expandTo(shape), dim, len(shape))
	return apply(cosineSimilarity{d, eps}, t, o)
}

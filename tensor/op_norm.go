package tensor

import (
	"fmt"
	"math"
	"slices"

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
	if n.count(in[0]) == 1 && n.p != 0 {
		n.p = 1 // powers may overflow
	}
	if n.p == 2 {
		y := reduce(driver.SumSquares, in[0], n.dims, w)
		run(driver.Kernel{Code: driver.Sqrt}, y, y)
		return n.finish(narrow(y, in[0].dtype))
	}
	e, y := n.magnitudes(in[0], w), (*Tensor)(nil)
	switch n.p {
	case 0:
		nonzero := convert(e, Bool)
		run(driver.Kernel{Code: driver.Copy}, e, nonzero)
		release(nonzero)
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

// matrixNorm is a norm of the matrices in two dimensions.
type matrixNorm struct {
	order      string
	rows, cols int
	keep       bool
	given      bool
}

func (m matrixNorm) Info() Info {
	return info("linalg_matrix_norm", "torch.linalg.matrix_norm", SavesOperands).given(m.given)
}
func (m matrixNorm) f(in []*Tensor) *Tensor {
	x := in[0]
	var order []int
	for i := range x.shape {
		if i != m.rows && i != m.cols {
			order = append(order, i)
		}
	}
	x = x.Permute(append(order, m.rows, m.cols)...)
	var y *Tensor
	switch m.order {
	case "fro":
		y = x.VectorNorm(2, PNormOptions{Dims: []int{-2, -1}})
	case "nuc":
		y = x.SVDVals().Sum(-1)
	case "2":
		y = x.SVDVals().Amax(-1)
	case "-2":
		y = x.SVDVals().Amin(-1)
	case "1":
		y = x.Abs().Sum(-2).Amax(-1)
	case "-1":
		y = x.Abs().Sum(-2).Amin(-1)
	case "inf":
		y = x.Abs().Sum(-1).Amax(-1)
	default:
		y = x.Abs().Sum(-1).Amin(-1)
	}
	if m.keep {
		y = y.Reshape(keepDims(in[0].shape, []int{m.rows, m.cols})...)
	}
	return y
}
func (m matrixNorm) Forward(in []*Tensor) *Tensor              { return compose(m.f, in) }
func (m matrixNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(m.f, dy, in) }

type frobeniusNorm struct{ matrixNorm }

func (f frobeniusNorm) Info() Info {
	return info("frobenius_norm", "torch.frobenius_norm", SavesOperands).given(f.given)
}

type nuclearNorm struct{ matrixNorm }

func (n nuclearNorm) Info() Info {
	return info("nuclear_norm", "torch.nuclear_norm", SavesOperands).given(n.given)
}

// orders are the orders of matrix norms.
var orders = []string{"fro", "nuc", "inf", "-inf", "1", "-1", "2", "-2"}

func newMatrixNorm(op string, t *Tensor, order string, o PNormOptions) (matrixNorm, *Tensor) {
	given(op, t)
	if len(o.Dims) == 0 {
		o.Dims = []int{-2, -1}
	}
	if len(o.Dims) != 2 || len(t.shape) < 2 {
		fail(op, []*Tensor{t}, "Dims is %v; want two dimensions", o.Dims)
	}
	m := matrixNorm{order, axis(op, t, o.Dims[0], len(t.shape)), axis(op, t, o.Dims[1], len(t.shape)), false, false}
	switch rows, cols := t.shape[m.rows], t.shape[m.cols]; {
	case m.rows == m.cols:
		fail(op, []*Tensor{t}, "dimensions %v are the same; want two different dimensions", o.Dims)
	case !slices.Contains(orders, order):
		fail(op, []*Tensor{t}, "unknown norm %q; want one of %q", order, orders)
	case (rows == 0 || cols == 0) && order != "fro" && order != "nuc":
		fail(op, []*Tensor{t}, "the matrices are empty, where the norm %q is undefined; want order \"fro\" or \"nuc\"", order)
	}
	n, x := newNorm(op, t, 2, PNormOptions{DType: o.DType})
	m.given = n.given
	return m, x
}

// MatrixNorm returns the norms of the matrices in two dimensions, the last two unless o has
// others. The orders are "fro", the root of the sum of squares; "nuc", the sum of singular values;
// "2" and "-2", the largest and smallest singular value; "1" and "-1", the largest and smallest
// sum of magnitudes of a column; "inf" and "-inf", those of a row. It computes in float32 and
// rounds once. It is torch.linalg.matrix_norm.
func (t *Tensor) MatrixNorm(order string, o PNormOptions) *Tensor {
	m, x := newMatrixNorm("linalg_matrix_norm", t, order, o)
	return apply(m, x)
}

// FrobeniusNorm is MatrixNorm "fro". It is torch.frobenius_norm.
func (t *Tensor) FrobeniusNorm(o PNormOptions) *Tensor {
	m, x := newMatrixNorm("frobenius_norm", t, "fro", o)
	return apply(frobeniusNorm{m}, x)
}

// NuclearNorm is MatrixNorm "nuc". It is torch.nuclear_norm.
func (t *Tensor) NuclearNorm(o PNormOptions) *Tensor {
	m, x := newMatrixNorm("nuclear_norm", t, "nuc", o)
	return apply(nuclearNorm{m}, x)
}

// renorm limits the p-norm of each slice along dim.
type renorm struct {
	p, most float64
	dim     int
}

func (renorm) Info() Info { return info("renorm", "torch.renorm", SavesOperands) }

// dims returns the dimensions of a slice.
func (r renorm) dims(x *Tensor) []int {
	return slices.Delete(seq(len(x.shape)), r.dim, r.dim+1)
}

// limit scales the slices of x whose norms n exceed the limit.
func (r renorm) limit(x, n *Tensor) *Tensor {
	one := constant(x, x.dtype, 1)
	return x.Mul(n.Detach().AddScalar(-r.most).Step().Where(n.AddScalar(1e-7).Reciprocal().MulScalar(r.most), one))
}
func (r renorm) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor {
		x := in[0]
		return r.limit(x, x.Abs().Pow(r.p).KeepDim().Sum(r.dims(x)...).Pow(1/r.p))
	}, in)
}

// VJP uses the derivative of norm, which is finite where powers have none: at zeros.
func (r renorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(func(in []*Tensor) *Tensor {
		x := in[0]
		return r.limit(x, apply(norm{over: over{r.dims(x), true}, p: r.p}, x))
	}, dy, in)
}

// Renorm scales each slice of t along dim whose p-norm exceeds maxNorm down to that norm. It is
// torch.renorm.
func (t *Tensor) Renorm(p float64, dim int, maxNorm float64) *Tensor {
	t.given("renorm")
	if p <= 0 || maxNorm < 0 {
		panic(named(&Error{Op: "renorm", Why: fmt.Sprintf("p is %v and the limit is %v; want a positive p and a limit of at least 0", p, maxNorm)}))
	}
	if len(t.shape) < 2 {
		fail("renorm", []*Tensor{t}, "input is %d-dimensional; want at least 2 dimensions", len(t.shape))
	}
	return apply(renorm{p, maxNorm, axis("renorm", t, dim, len(t.shape))}, t)
}

package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

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
	y := reduce(driver.SumSquares, d, v.dims, x.dtype)
	runBroadcast(driver.Kernel{Code: driver.Div}, y, y, constant(y, y.dtype, v.divisor(x)))
	if v.root {
		run(driver.Kernel{Code: driver.Sqrt}, y, y)
	}
	release(m, d)
	if x != in[0] {
		release(x)
	}
	return v.finish(narrow(y, in[0].dtype))
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

type logsumexp struct{ over }

func (logsumexp) Info() Info { return info("logsumexp", "torch.logsumexp", SavesOperands) }
func (logsumexp) real()      {}
func (l logsumexp) Forward(in []*Tensor) *Tensor {
	return l.finish(compose(func(in []*Tensor) *Tensor {
		x := in[0]
		if l.count(x) == 0 {
			return reduce(driver.ReduceMax, x, l.dims, x.dtype) // -Inf
		}
		m := reduce(driver.ReduceMax, x, l.dims, x.dtype)
		m = m.IsFinite().Where(m, constant(m, m.dtype, 0)) // the difference of equal infinities is NaN
		return x.Sub(m).Exp().KeepDim().Sum(l.dims...).Log().Add(m)
	}, in))
}
func (l logsumexp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor {
		y := apply(logsumexp{over{l.dims, true}}, x)
		y = y.IsFinite().Where(y, constant(y, y.dtype, 0))
		return l.spread(dy, x).Mul(x.Sub(y).Exp())
	})
}

// LogSumExp returns the logarithm of the sum of exp(t) over dims, which are removed, or over
// all dimensions if none is given, without intermediate overflow. It computes in float32 and
// rounds once. It is torch.logsumexp.
func (t *Tensor) LogSumExp(dims ...int) *Tensor {
	return apply(logsumexp{overDims("logsumexp", t, dims)}, t)
}

package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// Softmax and the related operations compute in float32 and round once.

type softmax struct {
	dim   int
	given bool
}

func (s softmax) Info() Info {
	return info("softmax", "torch.softmax", SavesResult).given(s.given)
}
func (s softmax) Forward(in []*Tensor) *Tensor {
	if y := alongRows(driver.Softmax, s.dim, in...); y != nil {
		return y
	}
	y, total := expShifted(in[0], s.dim)
	runBroadcast(driver.Kernel{Code: driver.Div}, y, y, total)
	release(total)
	return narrow(y, in[0].dtype)
}
func (s softmax) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(softmaxGrad{s.dim}, dy, y)}
}

// alongRows returns the result of a row kernel. It is nil if the backend does not offer the
// kernel, or elements along dim are not contiguous: columns are faster together.
func alongRows(c driver.Code, dim int, in ...*Tensor) *Tensor {
	var room [2]DType
	dtypes := room[:0]
	for _, t := range in {
		if dtypes = append(dtypes, t.dtype); t.stride[dim] != 1 && t.shape[dim] > 1 {
			return nil
		}
	}
	if !in[0].mem.backend.Offers(c, in[0].dtype, dtypes...) {
		return nil
	}
	y := unsetTensor(in[0].mem.backend, in[0].dtype, in[0].shape)
	run(driver.Kernel{Code: c, Axis: dim}, y, in...)
	return y
}

// expShifted returns exp(x - max) along dim and its sum.
func expShifted(x *Tensor, dim int) (e, total *Tensor) {
	e = shifted(x, dim)
	run(driver.Kernel{Code: driver.Exp}, e, e)
	return e, reduce(driver.Sum, e, []int{dim}, e.dtype)
}

// shifted returns x minus its largest element along dim, in a new tensor of the dtype of the
// arithmetic.
func shifted(x *Tensor, dim int) *Tensor {
	w := wide(x)
	if w == x {
		w = duplicate(x)
	}
	most := reduce(driver.ReduceMax, w, []int{dim}, w.dtype)
	runBroadcast(driver.Kernel{Code: driver.Sub}, w, w, most)
	release(most)
	return w
}

// Softmax returns exp(t) divided by its sum along dim. It is torch.softmax.
func (t *Tensor) Softmax(dim int) *Tensor {
	return t.scalarToo("softmax", dim, func(t *Tensor, dim int) *Tensor { return apply(softmax{dim: dim}, t) })
}

// SoftmaxAs is Softmax of t in dtype d, also under autocast: torch.softmax with dtype.
func (t *Tensor) SoftmaxAs(d DType, dim int) *Tensor {
	return t.scalarToo("softmax", dim, func(t *Tensor, dim int) *Tensor { return apply(softmax{dim, true}, t.To(d)) })
}

// scalarToo returns f of t and dim, counted from the front. A scalar becomes a vector of one
// element.
func (t *Tensor) scalarToo(op string, dim int, f func(t *Tensor, dim int) *Tensor) *Tensor {
	t.given(op)
	d := axis(op, t, dim, max(1, len(t.shape)))
	if len(t.shape) == 0 {
		return f(t.Reshape(1), d).Reshape()
	}
	return f(t, d)
}

// softmaxGrad is y (dy - Σ dy y). Its operands are dy and y.
type softmaxGrad struct{ dim int }

func (softmaxGrad) Info() Info {
	return info("softmax_backward", "torch.ops.aten._softmax_backward_data", SavesOperands)
}
func (s softmaxGrad) Forward(in []*Tensor) *Tensor {
	if y := alongRows(driver.SoftmaxGrad, s.dim, in...); y != nil {
		return y
	}
	dy, y := wide(in[0]), wide(in[1])
	p := pairwise("", driver.Mul, dy, y)
	total := reduce(driver.Sum, p, []int{s.dim}, p.dtype)
	runBroadcast(driver.Kernel{Code: driver.Sub}, p, dy, total)
	run(driver.Kernel{Code: driver.Mul}, p, p, y)
	release(total)
	return narrow(p, in[0].dtype)
}
func (s softmaxGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	dy, y := in[0], in[1]
	dot := func(a, b *Tensor) *Tensor { return a.Mul(b).KeepDim().Sum(s.dim) }
	return []*Tensor{
		apply(softmaxGrad{s.dim}, d, y),
		d.Mul(dy.Sub(dot(dy, y))).Sub(dy.Mul(dot(d, y))),
	}
}

type logSoftmax struct {
	dim   int
	given bool
}

func (l logSoftmax) Info() Info {
	return info("log_softmax", "torch.log_softmax", SavesResult).given(l.given)
}
func (l logSoftmax) Forward(in []*Tensor) *Tensor {
	if y := alongRows(driver.LogSoftmax, l.dim, in...); y != nil {
		return y
	}
	y := shifted(in[0], l.dim)
	e := unary(driver.Exp, y)
	total := reduce(driver.Sum, e, []int{l.dim}, e.dtype)
	run(driver.Kernel{Code: driver.Log}, total, total)
	runBroadcast(driver.Kernel{Code: driver.Sub}, y, y, total)
	release(e, total)
	return narrow(y, in[0].dtype)
}
func (l logSoftmax) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(logSoftmaxGrad{l.dim}, dy, y)}
}

// LogSoftmax returns the logarithm of the softmax along dim. It does not take logarithms of
// small numbers. It is torch.log_softmax.
func (t *Tensor) LogSoftmax(dim int) *Tensor {
	return t.scalarToo("log_softmax", dim, func(t *Tensor, dim int) *Tensor { return apply(logSoftmax{dim: dim}, t) })
}

// LogSoftmaxAs is LogSoftmax of t in dtype d, also under autocast: torch.log_softmax with
// dtype.
func (t *Tensor) LogSoftmaxAs(d DType, dim int) *Tensor {
	return t.scalarToo("log_softmax", dim, func(t *Tensor, dim int) *Tensor { return apply(logSoftmax{dim, true}, t.To(d)) })
}

// logSoftmaxGrad is dy - exp(y) Σ dy. Its operands are dy and y.
type logSoftmaxGrad struct{ dim int }

func (logSoftmaxGrad) Info() Info {
	return info("log_softmax_backward", "torch.ops.aten._log_softmax_backward_data", SavesOperands)
}
func (l logSoftmaxGrad) Forward(in []*Tensor) *Tensor {
	if y := alongRows(driver.LogSoftmaxGrad, l.dim, in...); y != nil {
		return y
	}
	dy, y := wide(in[0]), wide(in[1])
	p := unary(driver.Exp, y)
	total := reduce(driver.Sum, dy, []int{l.dim}, dy.dtype)
	runBroadcast(driver.Kernel{Code: driver.Mul}, p, p, total)
	run(driver.Kernel{Code: driver.Sub}, p, dy, p)
	release(total)
	return narrow(p, in[0].dtype)
}
func (l logSoftmaxGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	dy, y := in[0], in[1]
	p := y.Exp()
	dp := d.Mul(p)
	return []*Tensor{
		d.Sub(dp.KeepDim().Sum(l.dim).expandTo(d.shape)),
		dp.Mul(dy.KeepDim().Sum(l.dim)).Neg(),
	}
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
		y = y.EqScalar(math.Inf(-1)).Where(constant(y, y.dtype, 0), y) // the difference of equal infinities is NaN
		return l.spread(dy, x).Mul(x.Sub(y).Exp())
	})
}

// LogSumExp returns the logarithm of the sum of exp(t) over dims, which are removed, or over
// all dimensions if none is given, without intermediate overflow. It computes in float32 and
// rounds once. It is torch.logsumexp.
func (t *Tensor) LogSumExp(dims ...int) *Tensor {
	return apply(logsumexp{overDims("logsumexp", t, dims)}, t)
}

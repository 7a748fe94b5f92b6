package tensor

import "halfnote/tensor/driver"

// Running sums and products are recurrences s[i] = b[i] + a[i] s[i-1]. They are computed in
// order, in float32 for halves and in float64 for float32, and each element is rounded once. The
// derivative is a recurrence in the opposite direction.

// running is the dimension and direction of a scan.
type running struct {
	dim     int
	reverse bool
}

// view returns t as a kernel sees it, reversed along dim if the scan is reversed.
func (r running) view(t *Tensor) driver.View {
	v := t.view()
	if r.reverse && len(t.shape) > 0 && t.shape[r.dim] > 0 {
		v.Offset += (t.shape[r.dim] - 1) * t.stride[r.dim]
		v.Stride = append([]int(nil), t.stride...)
		v.Stride[r.dim] = -t.stride[r.dim]
	}
	return v
}

// scan runs a kernel along dim.
func (r running) scan(c driver.Code, d DType, in ...*Tensor) *Tensor {
	y := unsetTensor(in[0].mem.backend, d, in[0].shape)
	views := make([]driver.View, len(in))
	for i, t := range in {
		views[i] = r.view(t)
	}
	k := driver.Kernel{Code: c, Axis: r.dim}
	if !y.mem.backend.Offers(c, d, views[0].DType) {
		launch(k, y, views) // panics with the reason
	}
	y.mem.backend.Run(k, r.view(y), views...)
	return y
}

// chosen returns t in the dtype d that a caller of op chose, or t if none was chosen.
func chosen(op string, t *Tensor, d DType) *Tensor {
	switch {
	case d == driver.Invalid:
		return t
	case d.IsStorage():
		failDType(op, []*Tensor{t}, "the chosen dtype is %v, which is for storage only; compute in another and convert the result with To", d)
	}
	return convert(t, d)
}

type cumsum struct {
	running
	as DType // dtype chosen by the caller, so neither autocast nor Forward chooses it
}

func (c cumsum) Info() Info {
	return info("cumsum", "torch.cumsum", SavesNothing).given(c.as != driver.Invalid)
}
func (c cumsum) Forward(in []*Tensor) *Tensor {
	x := chosen("cumsum", in[0], c.as)
	if x.dtype.IsFloat() {
		return c.scan(driver.Recurrence, x.dtype, x)
	}
	y := c.scan(driver.Recurrence, Int64, convert(x, Int64))
	if c.as != driver.Invalid {
		return narrow(y, x.dtype) // wraps around
	}
	return y
}

// VJP computes in the operand's dtype, also if the caller chose another for the result.
func (c cumsum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	c.reverse, c.as = !c.reverse, in[0].dtype
	return []*Tensor{apply(c, dy.To(c.as))}
}

// Cumsum returns the running sums along dim. Halves are added in float32 and float32 in
// float64, in order, and each sum is rounded once. Integers and bool give int64. It is
// torch.cumsum.
func (t *Tensor) Cumsum(dim int) *Tensor {
	return apply(cumsum{running: scanOf("cumsum", t, dim)}, t)
}

// CumsumAs returns the Cumsum of t, computed and returned in dtype d, also under autocast.
// Integers wrap around. It is torch.cumsum with dtype.
func (t *Tensor) CumsumAs(d DType, dim int) *Tensor {
	return apply(cumsum{scanOf("cumsum", t, dim), d}, t)
}

// scanOf returns a scan along dim. A scalar has one dimension of size 1.
func scanOf(op string, t *Tensor, dim int) running {
	given(op, t)
	return running{dim: axis(op, t, dim, max(1, len(t.shape)))}
}

// recurrence is s[i] = b[i] + a[i] s[i-1]. Its operands are b and a.
type recurrence struct{ running }

func (recurrence) Info() Info {
	return info("cumprod_backward", "torch.ops.aten.cumprod_backward", SavesAll)
}
func (r recurrence) Forward(in []*Tensor) *Tensor {
	return r.scan(driver.Recurrence, in[0].dtype, in...)
}
func (r recurrence) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	back := running{r.dim, !r.reverse}
	g := apply(recurrence{back}, dy, back.shift(in[1]))
	return []*Tensor{g, g.Mul(r.shift(y))}
}

// shift moves t by one position along dim, in the direction of the scan, and fills with 0.
func (r running) shift(t *Tensor) *Tensor {
	n := t.shape[r.dim]
	if n == 0 {
		return t
	}
	from, to := slice{r.dim, 0, n - 1}, slice{r.dim, 1, n}
	if r.reverse {
		from, to = to, from
	}
	return apply(sliceGrad{to, t.shape}, apply(from, t))
}

// others returns the product of the elements before each element along dim, 1 for the first.
// It needs no quotient for the derivative of a product, so zeros are exact.
func (r running) others(t *Tensor) *Tensor {
	n := t.shape[r.dim]
	if n == 0 {
		return t
	}
	first := slice{r.dim, 0, 1}
	if r.reverse {
		first = slice{r.dim, n - 1, n}
	}
	one := apply(sliceGrad{first, t.shape}, constantLike(apply(first, t.Detach()), 1))
	return apply(recurrence{r}, one, r.shift(t))
}

type cumprod struct {
	running
	as DType // dtype chosen by the caller
}

func (c cumprod) Info() Info {
	return info("cumprod", "torch.cumprod", SavesOperands).given(c.as != driver.Invalid)
}
func (c cumprod) f(in []*Tensor) *Tensor {
	x := in[0]
	if !x.dtype.IsFloat() {
		x = x.Long()
	}
	if len(x.shape) == 0 || x.shape[c.dim] == 0 {
		return x
	}
	first := slice{c.dim, 0, 1}
	return apply(recurrence{c.running}, apply(sliceGrad{first, x.shape}, apply(first, x)), x)
}
func (c cumprod) Forward(in []*Tensor) *Tensor {
	x := chosen("cumprod", in[0], c.as)
	y := compose(c.f, []*Tensor{x})
	if c.as != driver.Invalid {
		return convert(y, c.as) // wraps around
	}
	return y
}

// VJP computes in the operand's dtype, also if the caller chose another for the result.
func (c cumprod) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(c.f, dy.To(in[0].dtype), in)
}

// Cumprod returns the running products along dim. Halves are multiplied in float32 and float32
// in float64, in order, and each product is rounded once. Integers and bool give int64. It is
// torch.cumprod.
func (t *Tensor) Cumprod(dim int) *Tensor {
	return apply(cumprod{running: scanOf("cumprod", t, dim)}, t)
}

// CumprodAs returns the Cumprod of t, computed and returned in dtype d, also under autocast.
// Integers wrap around. It is torch.cumprod with dtype.
func (t *Tensor) CumprodAs(d DType, dim int) *Tensor {
	return apply(cumprod{scanOf("cumprod", t, dim), d}, t)
}

// cumArg returns the int64 index of the extreme so far.
type cumArg struct {
	running
	name string
	code driver.Code
}

func (c cumArg) Info() Info { return info(c.name, "torch."+c.name, NoDerivative) }
func (c cumArg) Forward(in []*Tensor) *Tensor {
	return c.scan(c.code, Int64, in[0])
}
func (cumArg) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Cummax returns the running maximum along dim and its int64 index, the last of equal
// elements. NaN counts as largest, and gets the gradient of all following elements. It is
// torch.cummax.
func (t *Tensor) Cummax(dim int) (values, indices *Tensor) {
	return t.cumExtreme("cummax", driver.CumArgMax, dim)
}

// Cummin returns the running minimum along dim and its int64 index, the last of equal
// elements. NaN counts as smallest. It is
// torch.cummin.
func (t *Tensor) Cummin(dim int) (values, indices *Tensor) {
	return t.cumExtreme("cummin", driver.CumArgMin, dim)
}

func (t *Tensor) cumExtreme(name string, c driver.Code, dim int) (values, indices *Tensor) {
	r := scanOf(name, t, dim)
	indices = apply(cumArg{r, name, c}, t.Detach())
	if len(t.shape) == 0 {
		return t.Clone(), indices
	}
	return t.Gather(r.dim, indices), indices
}

// logcumsumexp scales the running sum by m, the largest element so far: the sum is the
// recurrence s[i] = exp(x[i] - m[i]) + exp(m[i-1] - m[i]) s[i-1].
type logcumsumexp struct{ running }

func (logcumsumexp) Info() Info {
	return info("logcumsumexp", "torch.logcumsumexp", SavesOperands)
}
func (l logcumsumexp) f(in []*Tensor) *Tensor {
	x := in[0]
	if len(x.shape) == 0 || x.shape[l.dim] == 0 {
		return x
	}
	m, _ := x.Detach().Cummax(l.dim)
	m = m.IsFinite().Where(m, constant(m, m.dtype, 0)) // the difference of equal infinities is NaN
	a := l.shift(m).Sub(m).Exp()
	return apply(recurrence{l.running}, x.Sub(m).Exp(), a).Log().Add(m)
}
func (l logcumsumexp) Forward(in []*Tensor) *Tensor {
	notWhole("logcumsumexp", in)
	return compose(l.f, in)
}
func (l logcumsumexp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// LogCumsumExp returns the logarithms of the running sums of exp(t) along dim, without
// intermediate overflow. It is torch.logcumsumexp.
func (t *Tensor) LogCumsumExp(dim int) *Tensor {
	return apply(logcumsumexp{scanOf("logcumsumexp", t, dim)}, t)
}

// Diff returns the differences of neighbours along dim, applied n times. It is torch.diff.
func (t *Tensor) Diff(n, dim int) *Tensor {
	t.given("diff")
	d := axis("diff", t, dim, len(t.shape))
	if n < 0 {
		fail("diff", []*Tensor{t}, "n is %d; want at least 0", n)
	}
	for range n {
		size := t.shape[d]
		last, first := t.Slice(d, min(1, size), size), t.Slice(d, 0, max(size-1, 0))
		if t.dtype == Bool {
			t = last.Xor(first)
		} else {
			t = last.Sub(first)
		}
	}
	return t
}

// Trapezoid returns the integral along dim of a function with values t at distance dx, by the
// trapezoidal rule. It is torch.trapezoid.
func (t *Tensor) Trapezoid(dx float64, dim int) *Tensor {
	t.given("trapezoid")
	d := axis("trapezoid", t, dim, len(t.shape))
	t = unwrapped(t)
	size := t.shape[d]
	return t.Slice(d, min(1, size), size).Add(t.Slice(d, 0, max(size-1, 0))).Sum(d).MulScalar(dx / 2)
}

// unwrapped returns t as the dtype of its sums, so that two integers of t do not wrap around.
func unwrapped(t *Tensor) *Tensor {
	if t.dtype.IsFloat() {
		return t
	}
	return t.Long()
}

// CumulativeTrapezoid integrates t along dim by the trapezoidal rule with spacing dx. It
// returns the integrals up to each element from the second on. It is
// torch.cumulative_trapezoid.
func (t *Tensor) CumulativeTrapezoid(dx float64, dim int) *Tensor {
	t.given("cumulative_trapezoid")
	d := axis("cumulative_trapezoid", t, dim, len(t.shape))
	t = unwrapped(t)
	size := t.shape[d]
	return t.Slice(d, min(1, size), size).Add(t.Slice(d, 0, max(size-1, 0))).Cumsum(d).MulScalar(dx / 2)
}

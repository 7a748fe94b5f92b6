package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// comparison is a bool function without a derivative: code of its operands, exchanged if
// swap is set, and negated if not is set.
type comparison struct {
	name      string
	code      driver.Code
	swap, not bool
}

var (
	eq = comparison{"eq", driver.Equal, false, false}
	ne = comparison{"ne", driver.Equal, false, true}
	lt = comparison{"lt", driver.Less, false, false}
	le = comparison{"le", driver.LessEqual, false, false}
	gt = comparison{"gt", driver.Less, true, false}
	ge = comparison{"ge", driver.LessEqual, true, false}
)

func (c comparison) Info() Info { return info(c.name, "torch."+c.name, NoDerivative) }
func (comparison) promotes()    {}
func (c comparison) Forward(in []*Tensor) *Tensor {
	y := unsetTensor(in[0].mem.backend, Bool, broadcast(c.name, in))
	a, b := in[0], in[1]
	if c.swap {
		a, b = b, a
	}
	runBroadcast(driver.Kernel{Code: c.code}, y, a, b)
	if c.not {
		invert(y)
	}
	return y
}
func (comparison) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// invert negates each element of the new bool tensor y.
func invert(y *Tensor) {
	runBroadcast(driver.Kernel{Code: driver.Equal}, y, y, constant(y, Bool, 0))
}

// compareNumber compares halves with a number in float32; the number is not rounded to
// float16 first.
type compareNumber struct {
	comparison
	number float64
}

func (c compareNumber) Forward(in []*Tensor) *Tensor {
	d := wideOf(in[0].dtype)
	if !d.IsFloat() && c.number != math.Trunc(c.number) || math.Abs(c.number) >= 0x1p63 {
		d = wideOf(promote(in[0].dtype, Float32))
	}
	x := convert(in[0], d)
	y := c.comparison.Forward([]*Tensor{x, constant(x, d, c.number)})
	if x.mem != in[0].mem {
		release(x)
	}
	return y
}

// Eq returns a bool tensor, true where t equals o, broadcast. NaN is not equal to
// itself. It is torch.eq.
func (t *Tensor) Eq(o *Tensor) *Tensor { return apply(eq, t, o) }

// Ne returns a bool tensor, true where t differs from o, broadcast. It is torch.ne.
func (t *Tensor) Ne(o *Tensor) *Tensor { return apply(ne, t, o) }

// Lt returns a bool tensor, true where t is below o, broadcast. It is torch.lt.
func (t *Tensor) Lt(o *Tensor) *Tensor { return apply(lt, t, o) }

// Le returns a bool tensor, true where t is at most o, broadcast. It is torch.le.
func (t *Tensor) Le(o *Tensor) *Tensor { return apply(le, t, o) }

// Gt returns a bool tensor, true where t is above o, broadcast. It is torch.gt.
func (t *Tensor) Gt(o *Tensor) *Tensor { return apply(gt, t, o) }

// Ge returns a bool tensor, true where t is at least o, broadcast. It is torch.ge.
func (t *Tensor) Ge(o *Tensor) *Tensor { return apply(ge, t, o) }

// EqScalar returns a bool tensor, true where t equals c. Halves are compared in float32, so
// float16 0.1 does not equal 0.1. It is torch.eq with a number.
func (t *Tensor) EqScalar(c float64) *Tensor { return apply(compareNumber{eq, c}, t) }

// NeScalar returns a bool tensor, true where t differs from c. It is torch.ne with a number.
func (t *Tensor) NeScalar(c float64) *Tensor { return apply(compareNumber{ne, c}, t) }

// LtScalar returns a bool tensor, true where t is below c. It is torch.lt with a number.
func (t *Tensor) LtScalar(c float64) *Tensor { return apply(compareNumber{lt, c}, t) }

// LeScalar returns a bool tensor, true where t is at most c. It is torch.le with a number.
func (t *Tensor) LeScalar(c float64) *Tensor { return apply(compareNumber{le, c}, t) }

// GtScalar returns a bool tensor, true where t is above c. It is torch.gt with a number.
func (t *Tensor) GtScalar(c float64) *Tensor { return apply(compareNumber{gt, c}, t) }

// GeScalar returns a bool tensor, true where t is at least c. It is torch.ge with a number.
func (t *Tensor) GeScalar(c float64) *Tensor { return apply(compareNumber{ge, c}, t) }

// IsNaN returns a bool tensor, true where t is NaN. It is torch.isnan.
func (t *Tensor) IsNaN() *Tensor {
	t = t.readable("isnan")
	return t.Ne(t)
}

// readable returns the operand of op in a dtype that can be compared: dtypes that are only stored become float32.
func (t *Tensor) readable(op string) *Tensor {
	if t.given(op).dtype.IsStorage() {
		return t.Float()
	}
	return t
}

// IsInf returns a bool tensor, true where t is infinite. It is torch.isinf.
func (t *Tensor) IsInf() *Tensor {
	t = t.readable("isinf")
	return t.IsPosInf().Or(t.IsNegInf())
}

// IsPosInf returns a bool tensor, true where t is +Inf. It is torch.isposinf.
func (t *Tensor) IsPosInf() *Tensor { return t.readable("isposinf").EqScalar(math.Inf(1)) }

// IsNegInf returns a bool tensor, true where t is -Inf. It is torch.isneginf.
func (t *Tensor) IsNegInf() *Tensor { return t.readable("isneginf").EqScalar(math.Inf(-1)) }

// IsFinite returns a bool tensor, true where t is neither infinite nor NaN. It is
// torch.isfinite.
func (t *Tensor) IsFinite() *Tensor {
	t = t.readable("isfinite")
	return t.LtScalar(math.Inf(1)).And(t.GtScalar(math.Inf(-1)))
}

// Signbit returns a bool tensor, true where t is negative or -0. It is torch.signbit.
func (t *Tensor) Signbit() *Tensor {
	t.given("signbit")
	t = t.Detach()
	if t.dtype.IsFloat() {
		t = constantLike(t, 1).Copysign(t)
	}
	return t.LtScalar(0)
}

// IsClose returns a bool tensor, true where t and o differ by at most atol + rtol |o|,
// broadcast. Equal infinities are close; NaN is not close to any number. torch's defaults
// are 1e-5 for rtol and 1e-8 for atol. It is torch.isclose.
func (t *Tensor) IsClose(o *Tensor, rtol, atol float64) *Tensor {
	t.given("isclose")
	t, o = t.Detach(), o.Detach()
	d := promoteAll([]*Tensor{t, o})
	t, o = t.To(d), o.To(d)
	same := t.Eq(o)
	if !d.IsFloat() {
		t, o = t.Double(), o.Double()
	}
	near := t.Sub(o).Abs().Le(o.Abs().MulScalar(rtol).AddScalar(atol))
	return same.Or(near.And(o.IsFinite()).And(t.IsFinite()))
}

// Equal reports whether x and y have the same shape and equal elements. NaN is not equal to
// itself. It is torch.equal.
func Equal(x, y *Tensor) bool {
	given("allclose", x, y)
	return AllClose(x, y, 0, 0)
}

// AllClose reports whether x and y have the same shape and |x - y| is at most atol + rtol |y|
// everywhere. NaN is not close to any number. It is torch.allclose, whose defaults are rtol
// 1e-5 and atol 1e-8.
func AllClose(x, y *Tensor, rtol, atol float64) bool {
	given("allclose", x, y)
	if !slices.Equal(x.shape, y.shape) {
		return false
	}
	a, b := x.Float64s(), y.Float64s()
	for i := range a {
		pollAt(i)
		if a[i] != b[i] && !(math.Abs(a[i]-b[i]) <= atol+float64(rtol*math.Abs(b[i])) && !math.IsInf(b[i], 0)) {
			return false
		}
	}
	return true
}

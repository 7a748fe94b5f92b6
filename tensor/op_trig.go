package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

type sin struct{}

func (sin) Info() Info                   { return info("sin", "torch.sin", SavesOperands) }
func (sin) real()                        {}
func (sin) Forward(in []*Tensor) *Tensor { return unary(driver.Sin, in[0]) }
func (sin) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Cos()) })
}

// Sin returns the sine of t, in radians. It is torch.sin.
func (t *Tensor) Sin() *Tensor { return apply(sin{}, t) }

type cos struct{}

func (cos) Info() Info                   { return info("cos", "torch.cos", SavesOperands) }
func (cos) real()                        {}
func (cos) Forward(in []*Tensor) *Tensor { return unary(driver.Cos, in[0]) }
func (cos) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Sin()).Neg() })
}

// Cos returns the cosine of t, in radians. It is torch.cos.
func (t *Tensor) Cos() *Tensor { return apply(cos{}, t) }

type tan struct{}

func (tan) Info() Info                   { return info("tan", "torch.tan", SavesResult) }
func (tan) real()                        {}
func (tan) Forward(in []*Tensor) *Tensor { return unary(driver.Tan, in[0]) }
func (tan) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return widely(dy, y, func(dy, y *Tensor) *Tensor { return dy.Mul(y.Mul(y).AddScalar(1)) })
}

// Tan returns the tangent of t, in radians. It is torch.tan.
func (t *Tensor) Tan() *Tensor { return apply(tan{}, t) }

type asin struct{}

func (asin) Info() Info                   { return info("asin", "torch.asin", SavesOperands) }
func (asin) real()                        {}
func (asin) Forward(in []*Tensor) *Tensor { return unary(driver.Asin, in[0]) }
func (asin) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Mul(x).RSubScalar(1).Rsqrt()) })
}

// Asin returns the angle in radians whose sine is t, NaN outside [-1, 1]. It is torch.asin.
func (t *Tensor) Asin() *Tensor { return apply(asin{}, t) }

type acos struct{}

func (acos) Info() Info                   { return info("acos", "torch.acos", SavesOperands) }
func (acos) real()                        {}
func (acos) Forward(in []*Tensor) *Tensor { return unary(driver.Acos, in[0]) }
func (acos) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Mul(x).RSubScalar(1).Rsqrt()).Neg() })
}

// Acos returns the angle in radians whose cosine is t, NaN outside [-1, 1]. It is torch.acos.
func (t *Tensor) Acos() *Tensor { return apply(acos{}, t) }

type atan struct{}

func (atan) Info() Info                   { return info("atan", "torch.atan", SavesOperands) }
func (atan) real()                        {}
func (atan) Forward(in []*Tensor) *Tensor { return unary(driver.Atan, in[0]) }
func (atan) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Div(x.Mul(x).AddScalar(1)) })
}

// Atan returns the angle in radians whose tangent is t. It is torch.atan.
func (t *Tensor) Atan() *Tensor { return apply(atan{}, t) }

type sinh struct{}

func (sinh) Info() Info                   { return info("sinh", "torch.sinh", SavesOperands) }
func (sinh) real()                        {}
func (sinh) Forward(in []*Tensor) *Tensor { return unary(driver.Sinh, in[0]) }
func (sinh) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Cosh()) })
}

// Sinh returns the hyperbolic sine. It is torch.sinh.
func (t *Tensor) Sinh() *Tensor { return apply(sinh{}, t) }

type cosh struct{}

func (cosh) Info() Info                   { return info("cosh", "torch.cosh", SavesOperands) }
func (cosh) real()                        {}
func (cosh) Forward(in []*Tensor) *Tensor { return unary(driver.Cosh, in[0]) }
func (cosh) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Sinh()) })
}

// Cosh returns the hyperbolic cosine. It is torch.cosh.
func (t *Tensor) Cosh() *Tensor { return apply(cosh{}, t) }

type asinh struct{}

func (asinh) Info() Info                   { return info("asinh", "torch.asinh", SavesOperands) }
func (asinh) real()                        {}
func (asinh) Forward(in []*Tensor) *Tensor { return unary(driver.Asinh, in[0]) }
func (asinh) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Mul(x).AddScalar(1).Rsqrt()) })
}

// Asinh returns the inverse of the hyperbolic sine. It is torch.asinh.
func (t *Tensor) Asinh() *Tensor { return apply(asinh{}, t) }

type acosh struct{}

func (acosh) Info() Info                   { return info("acosh", "torch.acosh", SavesOperands) }
func (acosh) real()                        {}
func (acosh) Forward(in []*Tensor) *Tensor { return unary(driver.Acosh, in[0]) }
func (acosh) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Mul(x).AddScalar(-1).Rsqrt()) })
}

// Acosh returns the inverse of the hyperbolic cosine, NaN below 1. It is torch.acosh.
func (t *Tensor) Acosh() *Tensor { return apply(acosh{}, t) }

type atanh struct{}

func (atanh) Info() Info                   { return info("atanh", "torch.atanh", SavesOperands) }
func (atanh) real()                        {}
func (atanh) Forward(in []*Tensor) *Tensor { return unary(driver.Atanh, in[0]) }
func (atanh) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Div(x.Mul(x).RSubScalar(1)) })
}

// Atanh returns the inverse of the hyperbolic tangent, NaN outside [-1, 1]. It is torch.atanh.
func (t *Tensor) Atanh() *Tensor { return apply(atanh{}, t) }

// sinc is computed in float64, with the distance to the nearest whole number as argument of the
// sine: multiples of pi are inexact in float64 and more so in float32.
type sinc struct{}

func (sinc) Info() Info { return info("sinc", "torch.sinc", SavesOperands) }
func (sinc) real()      {}
func (sinc) f(in []*Tensor) *Tensor {
	x := in[0].Double()
	one := constant(x, Float64, 1)
	zero := x.EqScalar(0)
	x = zero.Where(one, x)
	n := x.Detach().Round()
	sign := n.Sub(n.MulScalar(0.5).Floor().MulScalar(2)).MulScalar(-2).AddScalar(1) // 1 for even n and -1 for odd n
	sine := x.Sub(n).MulScalar(math.Pi).Sin().Mul(sign)
	return zero.Where(one, sine.Div(x.MulScalar(math.Pi))).To(in[0].dtype)
}
func (s sinc) Forward(in []*Tensor) *Tensor { return compose(s.f, in) }

// VJP uses the series near 0, where the terms of the quotient's derivative cancel.
func (s sinc) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(func(in []*Tensor) *Tensor {
		x := in[0].Double()
		near := x.Abs().LtScalar(0.03)
		u := near.Where(x, constant(x, Float64, 0)).MulScalar(math.Pi)
		u = u.Mul(u)
		series := u.MulScalar(1.0 / 362880).AddScalar(-1.0 / 5040).Mul(u).AddScalar(1.0 / 120).Mul(u).AddScalar(-1.0 / 6).Mul(u).AddScalar(1)
		return near.Where(series, s.f([]*Tensor{near.Where(constant(x, Float64, 1), x)})).To(in[0].dtype)
	}, dy, in)
}

// Sinc returns sin(pi t) / (pi t), and 1 at 0. It is torch.sinc.
func (t *Tensor) Sinc() *Tensor { return apply(sinc{}, t) }

// Deg2rad converts t from degrees to radians. It is torch.deg2rad.
func (t *Tensor) Deg2rad() *Tensor {
	t.given("deg2rad")
	return t.floats().MulScalar(math.Pi / 180)
}

// Rad2deg converts t from radians to degrees. It is torch.rad2deg.
func (t *Tensor) Rad2deg() *Tensor {
	t.given("rad2deg")
	return t.floats().MulScalar(180 / math.Pi)
}

// floats returns t, converted to float32 if it is integer or bool.
func (t *Tensor) floats() *Tensor {
	if t.dtype.IsFloat() {
		return t
	}
	return t.Float()
}

type atan2 struct{}

func (atan2) Info() Info { return info("atan2", "torch.atan2", SavesOperands) }
func (atan2) promotes()  {}
func (atan2) real()      {}
func (atan2) Forward(in []*Tensor) *Tensor {
	return pairwise("atan2", driver.Atan2, in[0], in[1])
}
func (atan2) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	over := func(dy, a, x, y *Tensor) *Tensor {
		square := x.Mul(x).Add(y.Mul(y))
		zero, one := constant(square, square.dtype, 0), constant(square, square.dtype, 1)
		origin := square.EqScalar(0) // where torch's derivative is 0
		return dy.Mul(origin.Where(zero, a).Div(origin.Where(one, square)))
	}
	return both(dy, in,
		func(dy, y, x *Tensor) *Tensor { return over(dy, x, x, y) },
		func(dy, y, x *Tensor) *Tensor { return over(dy, y.Neg(), x, y) })
}

// Atan2 returns the angle of the point (o, t) from the positive first axis, in
// radians from -pi to pi, broadcast. It is torch.atan2.
func (t *Tensor) Atan2(o *Tensor) *Tensor { return apply(atan2{}, t, o) }

type hypot struct{}

func (hypot) Info() Info { return info("hypot", "torch.hypot", SavesOperands) }
func (hypot) promotes()  {}
func (hypot) Forward(in []*Tensor) *Tensor {
	notWhole("hypot", in)
	return pairwise("hypot", driver.Hypot, in[0], in[1])
}
func (hypot) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(x.Div(x.Hypot(y))) },
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(y.Div(x.Hypot(y))) })
}

// Hypot returns sqrt(t² + o²) without intermediate overflow, broadcast. It is
// torch.hypot.
func (t *Tensor) Hypot(o *Tensor) *Tensor { return apply(hypot{}, t, o) }

type tanh struct{}

func (tanh) Info() Info { return info("tanh", "torch.tanh", SavesResult) }
func (tanh) real()      {}
func (tanh) Forward(in []*Tensor) *Tensor {
	return unary(driver.Tanh, in[0])
}
func (tanh) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(tanhGrad{}, y, dy)} }

// Tanh returns the hyperbolic tangent of t. It is torch.tanh.
func (t *Tensor) Tanh() *Tensor { return apply(tanh{}, t) }

// tanhGrad is dy (1 - y²). Its operands are y and dy. It rounds once.
type tanhGrad struct{}

func (tanhGrad) Info() Info {
	return info("tanh_backward", "torch.ops.aten.tanh_backward", SavesOperands)
}
func (tanhGrad) Forward(in []*Tensor) *Tensor {
	return pairwise("tanh_backward", driver.TanhGrad, in[0], in[1])
}
func (tanhGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	y, dy := in[0], in[1]
	return []*Tensor{d.Mul(dy).Mul(y).MulScalar(-2), apply(tanhGrad{}, y, d)}
}

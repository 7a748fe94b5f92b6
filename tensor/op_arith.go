package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

type add struct{}

func (add) Info() Info { return info("add", "torch.add", SavesNothing) }
func (add) promotes()  {}
func (add) Forward(in []*Tensor) *Tensor {
	return pairwise("add", driver.Add, in[0], in[1])
}
func (add) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.sumTo(in[0]), dy.sumTo(in[1])}
}

// Add returns t + o, broadcast. It is torch.add.
func (t *Tensor) Add(o *Tensor) *Tensor { return apply(add{}, t, o) }

type sub struct{}

func (sub) Info() Info { return info("sub", "torch.sub", SavesNothing) }
func (sub) promotes()  {}
func (sub) Forward(in []*Tensor) *Tensor {
	return pairwise("sub", driver.Sub, in[0], in[1])
}
func (sub) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := []*Tensor{dy.sumTo(in[0]), nil}
	if in[1].RequiresGrad() {
		out[1] = dy.Neg().sumTo(in[1])
	}
	return out
}

// Sub returns t - o, broadcast. It is torch.sub.
func (t *Tensor) Sub(o *Tensor) *Tensor {
	notBool("sub", []*Tensor{t, o})
	return apply(sub{}, t, o)
}

type mul struct{}

func (mul) Info() Info { return info("mul", "torch.mul", SavesOperands) }
func (mul) promotes()  {}
func (mul) Forward(in []*Tensor) *Tensor {
	return pairwise("mul", driver.Mul, in[0], in[1])
}
func (mul) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.Mul(in[1]).sumTo(in[0])
	}
	if in[1].RequiresGrad() {
		out[1] = dy.Mul(in[0]).sumTo(in[1])
	}
	return out
}

// Mul returns t * o, element by element, broadcast. It is torch.mul.
func (t *Tensor) Mul(o *Tensor) *Tensor { return apply(mul{}, t, o) }

type div struct{}

func (div) Info() Info { return info("div", "torch.div", SavesAll) }
func (div) promotes()  {}
func (div) real()      {}
func (div) Forward(in []*Tensor) *Tensor {
	return pairwise("div", driver.Div, in[0], in[1])
}
func (div) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.Div(in[1]).sumTo(in[0])
	}
	if in[1].RequiresGrad() {
		out[1] = dy.Neg().Mul(y.Div(in[1])).sumTo(in[1])
	}
	return out
}

// Div returns t / o, broadcast. It is torch.div.
func (t *Tensor) Div(o *Tensor) *Tensor { return apply(div{}, t, o) }

type addScalar struct{ c float64 }

func (addScalar) Info() Info { return info("add_scalar", "torch.add", SavesNothing) }
func (a addScalar) Forward(in []*Tensor) *Tensor {
	return affineOf(in[0], 1, a.c)
}
func (addScalar) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy} }

// AddScalar returns t + c. c is not rounded to float16 or bfloat16 first. Integer tensors
// become float32 if c has a fraction. It is torch.add with a number.
func (t *Tensor) AddScalar(c float64) *Tensor {
	t.given("add_scalar")
	return apply(addScalar{c}, t.To(withNumber(t, c)))
}

type mulScalar struct{ c float64 }

func (mulScalar) Info() Info { return info("mul_scalar", "torch.mul", SavesNothing) }
func (m mulScalar) Forward(in []*Tensor) *Tensor {
	return affineOf(in[0], m.c, 0)
}
func (m mulScalar) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.MulScalar(m.c)} }

// MulScalar returns c t. c is not rounded to float16 or bfloat16 first. Integer tensors become
// float32 if c has a fraction. It is torch.mul with a number.
func (t *Tensor) MulScalar(c float64) *Tensor {
	t.given("scale")
	return apply(mulScalar{c}, t.To(withNumber(t, c)))
}

type neg struct{}

func (neg) Info() Info { return info("neg", "torch.neg", SavesNothing) }
func (neg) Forward(in []*Tensor) *Tensor {
	notBool("neg", in)
	return unary(driver.Neg, in[0])
}
func (neg) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.Neg()} }

// Neg returns -t. It is torch.neg.
func (t *Tensor) Neg() *Tensor { return apply(neg{}, t) }

type abs struct{}

func (abs) Info() Info { return info("abs", "torch.abs", SavesOperands) }
func (abs) Forward(in []*Tensor) *Tensor {
	notBool("abs", in)
	return unary(driver.Abs, in[0])
}
func (abs) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Mul(in[0].Step().Sub(in[0].Neg().Step()))}
}

// Abs returns |t|. Its gradient at 0 is 0. It is torch.abs.
func (t *Tensor) Abs() *Tensor { return apply(abs{}, t) }

// Arithmetic with Go numbers, which are not rounded to float16 first.

type divScalar struct{ c float64 }

func (divScalar) Info() Info { return info("div_scalar", "torch.div", SavesNothing) }
func (divScalar) real()      {}
func (d divScalar) Forward(in []*Tensor) *Tensor {
	w := wide(in[0])
	return narrow(pairwise("div", driver.Div, w, constant(w, w.dtype, d.c)), in[0].dtype)
}
func (d divScalar) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.DivScalar(d.c)} }

// DivScalar returns t / c. Integer tensors become float32. It is torch.div with a number.
func (t *Tensor) DivScalar(c float64) *Tensor { return apply(divScalar{c}, t) }

// SubScalar returns t - c. It is torch.sub with a number.
func (t *Tensor) SubScalar(c float64) *Tensor {
	notBool("sub", []*Tensor{t})
	return t.AddScalar(-c)
}

type rsub struct{ c float64 }

func (rsub) Info() Info                               { return info("rsub", "torch.rsub", SavesNothing) }
func (r rsub) Forward(in []*Tensor) *Tensor           { return affineOf(in[0], -1, r.c) }
func (rsub) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.Neg()} }

// RSubScalar returns c - t. It is torch.rsub with a number.
func (t *Tensor) RSubScalar(c float64) *Tensor {
	notBool("rsub", []*Tensor{t})
	return apply(rsub{c}, t.To(withNumber(t, c)))
}

// RDivScalar returns c / t, computed by Reciprocal as in torch: under autocast it runs in
// float32.
func (t *Tensor) RDivScalar(c float64) *Tensor { return t.Reciprocal().MulScalar(c) }

// addScaled is x + alpha y, rounded once for halves.
type addScaled struct{ alpha float64 }

func (addScaled) Info() Info { return add{}.Info() }
func (addScaled) promotes()  {}
func (a addScaled) Forward(in []*Tensor) *Tensor {
	return elementwise("add", driver.Kernel{Code: driver.AddScaled, Alpha: a.alpha}, in...)
}
func (a addScaled) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	w := wideOf(dy.dtype)
	return []*Tensor{dy.sumTo(in[0]), dy.To(w).MulScalar(a.alpha).sumTo(in[1]).To(dy.dtype)}
}

// AddScaled returns t + alpha o, broadcast, rounded once. It is torch.add with alpha.
func (t *Tensor) AddScaled(o *Tensor, alpha float64) *Tensor {
	given("add", t, o)
	wholeFor("add", alpha, t, o)
	return apply(addScaled{alpha}, t, o)
}

// SubScaled returns t - alpha o, broadcast, rounded once. It is torch.sub with alpha.
func (t *Tensor) SubScaled(o *Tensor, alpha float64) *Tensor {
	notBool("sub", []*Tensor{t, o})
	return t.AddScaled(o, -alpha)
}

// RSub returns o - t, broadcast. It is torch.rsub.
func (t *Tensor) RSub(o *Tensor) *Tensor { return o.Sub(t) }

// wholeFor panics if the factor of integer tensors has a fraction.
func wholeFor(op string, alpha float64, in ...*Tensor) {
	if !promoteAll(in).IsFloat() && alpha != float64(int64(alpha)) {
		failDType(op, in, "alpha is %v; want a whole number for integer tensors", alpha)
	}
}

// Functions of three operands, composed of others and rounded once.

// addcmul is x + (value y) z, evaluated in this order.
type addcmul struct{ value float64 }

func (addcmul) Info() Info { return info("addcmul", "torch.addcmul", SavesOperands) }
func (addcmul) promotes()  {}
func (o addcmul) f(in []*Tensor) *Tensor {
	return in[0].Add(in[1].MulScalar(o.value).Mul(in[2]))
}
func (o addcmul) Forward(in []*Tensor) *Tensor {
	if promoteAll(in) == Bool {
		notBool("addcmul", in)
	}
	return compose(o.f, in).To(promoteAll(in))
}
func (o addcmul) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(o.f, dy, in)
}

// Addcmul returns t + value x y, broadcast, rounded once. It is torch.addcmul.
func (t *Tensor) Addcmul(x, y *Tensor, value float64) *Tensor {
	given("addcmul", t, x, y)
	wholeFor("addcmul", value, t, x, y)
	return apply(addcmul{value}, t, x, y)
}

// addcdiv is x + (value y) / z, evaluated in this order.
type addcdiv struct{ value float64 }

func (addcdiv) Info() Info { return info("addcdiv", "torch.addcdiv", SavesOperands) }
func (addcdiv) promotes()  {}
func (o addcdiv) f(in []*Tensor) *Tensor {
	return in[0].Add(in[1].MulScalar(o.value).Div(in[2]))
}
func (o addcdiv) Forward(in []*Tensor) *Tensor { return compose(o.f, in) }
func (o addcdiv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(o.f, dy, in)
}

// Addcdiv returns t + value x / y, broadcast, rounded once. It panics if both x and y are
// integers. It is torch.addcdiv.
func (t *Tensor) Addcdiv(x, y *Tensor, value float64) *Tensor {
	given("addcdiv", t, x, y)
	if !x.dtype.IsFloat() && !y.dtype.IsFloat() {
		failDType("addcdiv", []*Tensor{t, x, y}, "cannot divide integers; want a floating-point dtype of x or y")
	}
	return apply(addcdiv{value}, t, x, y)
}

// lerp interpolates from x to y, starting at the nearer end, as torch does (Lerp.h).
type lerp struct{ weight float64 }

func (lerp) Info() Info { return info("lerp", "torch.lerp", SavesOperands) }
func (lerp) promotes()  {}
func (o lerp) f(in []*Tensor) *Tensor {
	x, y := in[0], in[1]
	d := y.Sub(x)
	if len(in) == 2 {
		weight, rest := o.weight, 1-o.weight
		if x.dtype == Float32 {
			weight, rest = float64(float32(weight)), float64(1-float32(weight))
		}
		if math.Abs(weight) < 0.5 {
			return x.Add(d.MulScalar(weight))
		}
		return y.Sub(d.MulScalar(rest))
	}
	w := in[2]
	near := w.Detach().Abs().LtScalar(0.5)
	return near.Where(x.Add(w.Mul(d)), y.Sub(d.Mul(w.RSubScalar(1))))
}
func (o lerp) Forward(in []*Tensor) *Tensor { return compose(o.f, in) }
func (o lerp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if len(in) == 2 {
		return derive(o.f, dy, in)
	}
	d := wideOf(dy.dtype)
	g, x, y, w := dy.To(d), in[0].To(d), in[1].To(d), in[2].To(d)
	out := make([]*Tensor, 3)
	for i, slope := range []func() *Tensor{func() *Tensor { return w.RSubScalar(1) }, func() *Tensor { return w }, func() *Tensor { return y.Sub(x) }} {
		if in[i].RequiresGrad() {
			out[i] = g.Mul(slope()).sumTo(in[i]).To(dy.dtype)
		}
	}
	return out
}

// Lerp returns t + weight (end - t), broadcast, rounded once. It is torch.lerp with a
// number.
func (t *Tensor) Lerp(end *Tensor, weight float64) *Tensor {
	return apply(lerp{weight}, lerpable(t, end)...)
}

// LerpTensor is Lerp with a weight for each element. It is torch.lerp with a tensor.
func (t *Tensor) LerpTensor(end, weight *Tensor) *Tensor {
	return apply(lerp{}, lerpable(t, end, weight)...)
}

func lerpable(in ...*Tensor) []*Tensor {
	oneDType("lerp", in, "")
	if !in[0].dtype.IsFloat() {
		failDType("lerp", in, "cannot interpolate between integers; want a floating-point dtype")
	}
	return in
}

// quotient is a function based on whole quotients. of returns the rounded quotient, which is
// minus the derivative with respect to the second operand; nil stands for 0.
type quotient struct {
	name, torch string
	code        driver.Code
	of          func(x, y *Tensor) *Tensor
}

func (q quotient) Info() Info { return info(q.name, q.torch, SavesOperands) }
func (quotient) promotes()    {}
func (q quotient) Forward(in []*Tensor) *Tensor {
	notBool(q.name, in)
	if y := in[1]; !y.dtype.IsFloat() && y.EqScalar(0).anyTrue() {
		failDType(q.name, in, "integer division by 0; want non-zero divisors or a floating-point dtype")
	}
	return pairwise(q.name, q.code, in[0], in[1])
}
func (q quotient) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if q.of == nil {
		zero := func(dy, _, _ *Tensor) *Tensor { return constantLike(dy, 0) }
		return both(dy, in, zero, zero)
	}
	return both(dy, in,
		func(dy, _, _ *Tensor) *Tensor { return dy },
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(q.of(x, y)).Neg() })
}

var (
	floorDivide = quotient{"floor_divide", "torch.floor_divide", driver.FloorDiv, nil}
	truncDivide = quotient{"trunc_divide", "torch.div", driver.TruncDiv, nil}
)

// anyTrue reports whether an element is not 0.
func (t *Tensor) anyTrue() bool {
	y := reduce(driver.Sum, t, seq(len(t.shape)), Int64)
	return y.Reshape().Int64s()[0] != 0
}

// Fmod returns the remainder of t / o with the quotient truncated: it has t's sign. Operands
// are broadcast. It is torch.fmod, like Go's math.Mod.
func (t *Tensor) Fmod(o *Tensor) *Tensor {
	return apply(quotient{"fmod", "torch.fmod", driver.Fmod, (*Tensor).DivTrunc}, t, o)
}

// Remainder returns the remainder of t / o with the quotient rounded down: it has o's sign.
// Operands are broadcast. It is torch.remainder, like Python's %.
func (t *Tensor) Remainder(o *Tensor) *Tensor {
	return apply(quotient{"remainder", "torch.remainder", driver.Remainder, (*Tensor).FloorDivide}, t, o)
}

// FloorDivide returns t / o rounded down to a whole number, broadcast. Its gradient is 0. It
// is torch.floor_divide, and torch.div with rounding_mode="floor".
func (t *Tensor) FloorDivide(o *Tensor) *Tensor { return apply(floorDivide, t, o) }

// DivTrunc returns t / o without its fraction, broadcast. Its gradient is 0. It is
// torch.div with rounding_mode="trunc".
func (t *Tensor) DivTrunc(o *Tensor) *Tensor { return apply(truncDivide, t, o) }

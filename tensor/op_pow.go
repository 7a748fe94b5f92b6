package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// The three forms of a power, which have one name on torch's lists.

type pow struct{ exponent float64 }

func (pow) Info() Info { return info("pow", "torch.pow", SavesOperands) }
func (p pow) Forward(in []*Tensor) *Tensor {
	x := in[0]
	if x.dtype.IsFloat() {
		return elementwise("pow", driver.Kernel{Code: driver.Pow, Alpha: p.exponent}, x)
	}
	return powers(x, constant(x, x.dtype, p.exponent))
}
func (p pow) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if p.exponent == 0 {
		return []*Tensor{constantLike(in[0], 0)}
	}
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor {
		return dy.Mul(x.Pow(p.exponent - 1).MulScalar(p.exponent))
	})
}

// powers returns x to the power y. It panics for integers and negative powers.
func powers(x, y *Tensor) *Tensor {
	notBool("pow", []*Tensor{y})
	if !y.dtype.IsFloat() && y.LtScalar(0).anyTrue() {
		failDType("pow", []*Tensor{x, y}, "integer to a negative power; want exponents of at least 0 or a floating-point dtype")
	}
	return pairwise("pow", driver.Power, x, y)
}

// Pow returns t to the power exponent. Integer tensors become float32 if exponent has a
// fraction, and do not accept a negative one. It is torch.pow with a number.
func (t *Tensor) Pow(exponent float64) *Tensor {
	t.given("pow")
	if t.dtype.IsFloat() {
		return apply(pow{exponent}, t)
	}
	t = t.To(withNumber(t, exponent))
	if exponent < 0 && !t.dtype.IsFloat() {
		failDType("pow", []*Tensor{t}, "exponent is %v; want at least 0 for integer tensors, or a floating-point dtype", exponent)
	}
	checkFinite("pow", t.dtype, exponent)
	return apply(pow{exponent}, t)
}

type powTensor struct{}

func (powTensor) Info() Info                   { return pow{}.Info() }
func (powTensor) promotes()                    {}
func (powTensor) Forward(in []*Tensor) *Tensor { return powers(in[0], in[1]) }
func (powTensor) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor {
			zero := constant(y, y.dtype, 0)
			return y.EqScalar(0).Where(zero, dy.Mul(y.Mul(x.PowTensor(y.AddScalar(-1)))))
		},
		func(dy, x, y *Tensor) *Tensor {
			zero, one := constant(y, y.dtype, 0), constant(y, y.dtype, 1)
			flat := x.EqScalar(0).And(y.GeScalar(0))
			base := flat.Where(one, x)
			return flat.Where(zero, dy.Mul(base.PowTensor(y).Mul(base.Log())))
		})
}

// PowTensor returns t to the power o, element by element, broadcast. It panics if an integer
// has a negative integer exponent. It is torch.pow with tensors.
func (t *Tensor) PowTensor(o *Tensor) *Tensor {
	return apply(powTensor{}, t, o)
}

// powBase is base to the power of its operand.
type powBase struct{ base float64 }

func (powBase) Info() Info { return pow{}.Info() }
func (p powBase) Forward(in []*Tensor) *Tensor {
	y := in[0]
	if !y.dtype.IsFloat() {
		return powers(constant(y, y.dtype, p.base), y)
	}
	w := wide(y)
	return narrow(pairwise("pow", driver.Power, constant(w, w.dtype, p.base), w), y.dtype)
}
func (p powBase) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor {
		if p.base == 0 {
			return x.GeScalar(0).Where(constant(x, x.dtype, 0), dy.Mul(x.RPow(0).MulScalar(math.Inf(-1))))
		}
		return dy.Mul(x.RPow(p.base).MulScalar(math.Log(p.base)))
	})
}

// RPow returns base to the power t. It is torch.pow of a number and a tensor.
func (t *Tensor) RPow(base float64) *Tensor {
	t.given("rpow")
	return apply(powBase{base}, t.To(withNumber(t, base)))
}

type sqrt struct{}

func (sqrt) Info() Info { return info("sqrt", "torch.sqrt", SavesResult) }
func (sqrt) real()      {}
func (sqrt) Forward(in []*Tensor) *Tensor {
	return unary(driver.Sqrt, in[0])
}
func (sqrt) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.Div(y.MulScalar(2))} }

// Sqrt returns the square root of t. It is torch.sqrt.
func (t *Tensor) Sqrt() *Tensor { return apply(sqrt{}, t) }

type reciprocal struct{}

func (reciprocal) Info() Info { return info("reciprocal", "torch.reciprocal", SavesResult) }
func (reciprocal) real()      {}
func (reciprocal) Forward(in []*Tensor) *Tensor {
	return unary(driver.Reciprocal, in[0])
}
func (reciprocal) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{dy.Neg().Mul(y.Mul(y))}
}

// Reciprocal returns 1 / t. It is torch.reciprocal.
func (t *Tensor) Reciprocal() *Tensor { return apply(reciprocal{}, t) }

type rsqrt struct{}

func (rsqrt) Info() Info                   { return info("rsqrt", "torch.rsqrt", SavesResult) }
func (rsqrt) real()                        {}
func (rsqrt) Forward(in []*Tensor) *Tensor { return unary(driver.Rsqrt, in[0]) }
func (rsqrt) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return widely(dy, y, func(dy, y *Tensor) *Tensor { return dy.Mul(y.Mul(y).Mul(y)).MulScalar(-0.5) })
}

// Rsqrt returns 1 / sqrt(t). It is torch.rsqrt.
func (t *Tensor) Rsqrt() *Tensor { return apply(rsqrt{}, t) }

// Square returns t * t; under autocast it runs in the dtype of pow. It is torch.square.
func (t *Tensor) Square() *Tensor {
	t.given("square")
	t = offered(pow{}.Info(), t)[0]
	if t.dtype == Bool {
		t = t.Long()
	}
	return t.Mul(t)
}

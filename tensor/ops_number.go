package tensor

import (
	"halfnote/tensor/driver"
)

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

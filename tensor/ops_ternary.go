package tensor

import "math"

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
		if math.Abs(o.weight) < 0.5 {
			return x.Add(d.MulScalar(o.weight))
		}
		return y.Sub(d.MulScalar(1 - o.weight))
	}
	w := in[2]
	near := w.Detach().Abs().LtScalar(0.5)
	return near.Where(x.Add(w.Mul(d)), y.Sub(d.Mul(w.RSubScalar(1))))
}
func (o lerp) Forward(in []*Tensor) *Tensor { return compose(o.f, in) }
func (o lerp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(o.f, dy, in)
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
	sameDType("lerp", in)
	if !in[0].dtype.IsFloat() {
		failDType("lerp", in, "cannot interpolate between integers; want a floating-point dtype")
	}
	return in
}

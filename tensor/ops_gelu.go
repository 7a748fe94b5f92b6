package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// gelu is x Φ(x), where Φ is the normal distribution function. It rounds once.
type gelu struct{}

func (gelu) Info() Info {
	return info("gelu", "torch.nn.functional.gelu", SavesOperands)
}

// normal returns Φ(x) by erfc, because 1 + erf loses small values.
func (gelu) normal(x *Tensor) *Tensor { return x.MulScalar(-math.Sqrt2 / 2).Erfc().MulScalar(0.5) }

func (g gelu) f(in []*Tensor) *Tensor { return g.normal(in[0]).Mul(in[0]) }
func (g gelu) Forward(in []*Tensor) *Tensor {
	if x := in[0]; x.mem.backend.Offers(driver.Gelu, x.dtype, x.dtype) {
		return unary(driver.Gelu, x)
	}
	return compose(g.f, in)
}
func (gelu) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(geluGrad{}, dy, in[0])}
}

// geluGrad is dy (Φ(x) + x φ(x)), where φ is the normal density. Its operands are dy and x. It
// rounds once.
type geluGrad struct{}

func (geluGrad) Info() Info {
	return info("gelu_backward", "torch.ops.aten.gelu_backward", SavesOperands)
}
func (geluGrad) f(in []*Tensor) *Tensor {
	x := in[1]
	density := x.Pow(2).MulScalar(-0.5).Exp().MulScalar(1 / math.Sqrt(2*math.Pi))
	return in[0].Mul(gelu{}.normal(x).Add(x.Mul(density)))
}
func (g geluGrad) Forward(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	if x.mem.backend.Offers(driver.GeluGrad, dy.dtype, x.dtype, dy.dtype) {
		return pairwise("gelu_backward", driver.GeluGrad, x, dy)
	}
	return compose(g.f, in)
}
func (g geluGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor { return derive(g.f, d, in) }

// GELU returns t Φ(t), where Φ is the normal distribution function. It is
// torch.nn.functional.gelu.
func (t *Tensor) GELU() *Tensor { return apply(gelu{}, t) }

// geluTanh is x sigmoid(2 u). The definition's 1 + tanh(u) loses small values.
type geluTanh struct{}

func (geluTanh) Info() Info { return gelu{}.Info() }
func (geluTanh) sigmoid(x *Tensor) *Tensor {
	return x.Mul(x).Mul(x).MulScalar(0.044715).Add(x).MulScalar(2 * math.Sqrt(2/math.Pi)).Sigmoid()
}
func (g geluTanh) f(in []*Tensor) *Tensor { return in[0].Mul(g.sigmoid(in[0])) }
func (g geluTanh) Forward(in []*Tensor) *Tensor {
	if x := in[0]; x.mem.backend.Offers(driver.GeluTanh, x.dtype, x.dtype) {
		return unary(driver.GeluTanh, x)
	}
	return compose(g.f, in)
}
func (geluTanh) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(geluTanhGrad{}, dy, in[0])}
}

// geluTanhGrad is dy times the derivative of geluTanh. Its operands are dy and x.
type geluTanhGrad struct{}

func (geluTanhGrad) Info() Info { return geluGrad{}.Info() }
func (geluTanhGrad) f(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	s, c := geluTanh{}.sigmoid(x), 2*math.Sqrt(2/math.Pi)
	return dy.Mul(s).Add(apply(sigmoidGrad{}, s, dy.Mul(x)).Mul(x.Mul(x).MulScalar(3 * 0.044715 * c).AddScalar(c)))
}
func (g geluTanhGrad) Forward(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	if x.mem.backend.Offers(driver.GeluTanhGrad, dy.dtype, x.dtype, dy.dtype) {
		return pairwise("gelu_backward", driver.GeluTanhGrad, x, dy)
	}
	return compose(g.f, in)
}
func (g geluTanhGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor { return derive(g.f, d, in) }

// GELUTanh returns t/2 (1 + tanh(sqrt(2/pi) (t + 0.044715 t³))), an approximation of GELU.
// It is torch.nn.functional.gelu with approximate="tanh".
func (t *Tensor) GELUTanh() *Tensor { return apply(geluTanh{}, t) }

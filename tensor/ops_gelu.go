package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// gelu is x Φ(x), Φ being the normal distribution function, rounded once.
type gelu struct{}

func (gelu) Info() Info {
	return Info{"gelu", "torch.nn.functional.gelu", Keep, ReadsOperands}
}

// normal returns Φ(x): 1 + erf would lose what is small.
func (gelu) normal(x *Tensor) *Tensor { return x.Scale(-math.Sqrt2 / 2).Erfc().Scale(0.5) }

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

// geluGrad is dy (Φ(x) + x φ(x)) of dy and x, φ being the density, rounded once.
type geluGrad struct{}

func (geluGrad) Info() Info {
	return Info{"gelu_backward", "torch.ops.aten.gelu_backward", Keep, ReadsOperands}
}
func (geluGrad) f(in []*Tensor) *Tensor {
	x := in[1]
	density := x.Pow(2).Scale(-0.5).Exp().Scale(1 / math.Sqrt(2*math.Pi))
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

// GELU returns t Φ(t), Φ being the normal distribution function. It is
// torch.nn.functional.gelu.
func (t *Tensor) GELU() *Tensor { return apply(gelu{}, t) }

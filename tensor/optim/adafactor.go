package optim

import (
	"math"

	"halfnote/tensor"
)

// adafactor is N. Shazeer and M. Stern, "Adafactor: Adaptive Learning Rates with
// Sublinear Memory Cost" (2018).
type adafactor struct{}

// NewAdafactor returns an optimizer of params with learning rate lr, 0.01 in torch by
// default, that divides the gradient by the root of a running mean of its square. For
// parameters of two or more dimensions it keeps that mean only by rows and by columns,
// (..., n, 1) and (..., 1, m) instead of (..., n, m). It takes Beta2Decay, FactorEps,
// ClipThreshold, WeightDecay, which is decoupled, and Maximize, and panics like [NewSGD]. It
// is torch.optim.Adafactor.
func NewAdafactor(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	defaults := Group{LR: lr, Beta2Decay: -0.8, FactorEps2: 1e-3, ClipThreshold: 1}
	return newOptimizer("Adafactor", adafactor{}, "beta2_decay factor_eps d weight_decay maximize", params, defaults, options)
}

func (a adafactor) step(p, g *tensor.Tensor, o *Group, r record) {
	n := r.count()
	eps := o.FactorEps1
	if eps == 0 {
		eps = tensor.FInfo(p.DType()).Eps
	}
	rms := func(x *tensor.Tensor) float64 { return x.Norm().Item() / math.Sqrt(float64(x.Numel())) }
	alpha := larger(o.FactorEps2, rms(p)) * math.Min(o.LR, 1/math.Sqrt(n))
	if o.WeightDecay != 0 {
		p.MulScalarAssign(1 - float64(o.LR*o.WeightDecay))
	}
	update := a.variance(p, g, math.Pow(n, o.Beta2Decay), eps, r).ClampMin(eps * eps).Rsqrt().Mul(g)
	p.AddScaledAssign(update, -alpha/larger(1, rms(update)/o.ClipThreshold))
}

// larger returns the larger of a bound and x, and the bound if x is NaN: an element that is NaN does not reach the others.
func larger(bound, x float64) float64 {
	if x > bound {
		return x
	}
	return bound
}

// variance adds the squares of g to the running means with weight w, and returns the mean
// square of each element that they imply.
func (a adafactor) variance(p, g *tensor.Tensor, w, eps float64, r record) *tensor.Tensor {
	if p.Dim() < 2 {
		return approach(r.tensor("variance", p), g.Mul(g), w).Clone()
	}
	mean := func(name string, dim int) *tensor.Tensor {
		size := g.Size(dim)
		square := g.Norm(dim).Unsqueeze(dim).Pow(2).DivScalar(float64(size))
		return approach(r.shaped(name, p, p.DType(), a.stateShape(name, p)), square, w)
	}
	rows, columns := mean("row_var", -1), mean("col_var", -2)
	return rows.MatMul(columns).Div(rows.Mean(-2).Unsqueeze(-2).ClampMin(eps))
}

// stateShape returns the shape of the state called name of p.
func (adafactor) stateShape(name string, p *tensor.Tensor) []int {
	shape := p.Shape()
	switch n := len(shape); {
	case name == "row_var" && n > 1:
		shape[n-1] = 1
	case name == "col_var" && n > 1:
		shape[n-2] = 1
	}
	return shape
}

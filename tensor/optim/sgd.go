package optim

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// sgd is stochastic gradient descent.
type sgd struct{}

// NewSGD returns an optimizer of params with learning rate lr, by stochastic gradient
// descent. It takes Momentum, Dampening, Nesterov, WeightDecay, Maximize and Fused. It
// panics if there are no parameters, if one is not a leaf that requires a gradient, or if an
// option is out of range. It is torch.optim.SGD.
func NewSGD(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("SGD", sgd{}, "momentum dampening nesterov weight_decay maximize fused", params, Group{LR: lr}, options)
}

func (sgd) step(p, g *tensor.Tensor, o *Group, r record) {
	s := plumbing.SGDSettings[*tensor.Tensor]{Rate: o.LR, Momentum: o.Momentum, Dampening: o.Dampening, Decay: o.WeightDecay, Nesterov: o.Nesterov, Guard: o.guard}
	var v *tensor.Tensor
	if o.Momentum != 0 {
		_, moving := r["momentum_buffer"]
		// The first velocity is the whole gradient, whatever the dampening.
		s.First = (!moving || o.guard != nil) && (o.Dampening != 0 || o.Nesterov)
		v = r.tensor("momentum_buffer", p)
	}
	o.steps.SGD(p, g, v, s)
}

// decayed applies weight decay: to p itself if decoupled, otherwise to the
// gradient that it returns.
func decayed(p, g *tensor.Tensor, o *Group) *tensor.Tensor {
	switch {
	case o.WeightDecay == 0:
	case o.Decoupled:
		p.MulScalarAssign(1 - float64(o.LR*o.WeightDecay))
	default:
		g = g.Clone().AddScaledAssign(p, o.WeightDecay)
	}
	return g
}

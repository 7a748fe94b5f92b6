package optim

import "halfnote/tensor"

// rprop is M. Riedmiller and H. Braun, "A Direct Adaptive Method for Faster
// Backpropagation Learning: The RPROP Algorithm" (1993).
type rprop struct{}

// NewRprop returns an optimizer of params that follows only the sign of the gradient. Each
// element has its own step size, initially lr, which grows while the sign stays the same and
// shrinks when it changes. It takes Etas, StepSizes and Maximize, and panics like [NewSGD].
// It is torch.optim.Rprop.
func NewRprop(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	defaults := Group{LR: lr, EtaMinus: 0.5, EtaPlus: 1.2, StepMin: 1e-6, StepMax: 50}
	return newOptimizer("Rprop", rprop{}, "etas step_sizes maximize", params, defaults, options)
}

func (rprop) step(p, g *tensor.Tensor, o *Group, r record) {
	previous := r.tensor("prev", p)
	if r.counted() == 1 {
		r.tensor("step_size", p).Fill(o.LR)
	}
	turn := g.Mul(previous)
	turned := turn.LtScalar(0)
	factor := tensor.OnesLike(p).MaskedFill(turn.GtScalar(0), o.EtaPlus).MaskedFill(turned, o.EtaMinus)
	size := r.tensor("step_size", p)
	size.Assign(size.Mul(factor).Clamp(o.StepMin, o.StepMax))
	g = g.MaskedFill(turned, 0) // an element skips a step if its sign has changed
	addProduct(p, g.Sign(), size, -1)
	previous.Assign(g)
}

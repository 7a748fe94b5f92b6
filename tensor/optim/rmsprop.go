package optim

import "halfnote/tensor"

// rmsprop is G. Hinton's method, lecture 6 of "Neural Networks for Machine Learning"; the
// centred variant is A. Graves's, "Generating Sequences With Recurrent Neural Networks"
// (2013).
type rmsprop struct{}

// NewRMSprop returns an optimizer of params with learning rate lr that divides the gradient
// by a running root mean square. It takes Alpha, Eps, WeightDecay, Momentum, Centered and
// Maximize, and panics like [NewSGD]. It is torch.optim.RMSprop.
func NewRMSprop(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("RMSprop", rmsprop{}, "alpha eps weight_decay momentum centered maximize", params, Group{LR: lr, Alpha: 0.99, Eps: 1e-8}, options)
}

func (rmsprop) step(p, g *tensor.Tensor, o *Group, r record) {
	r.counted()
	g = decayed(p, g, o)
	square := r.tensor("square_avg", p)
	addProduct(square.MulScalarAssign(o.Alpha), g, g, 1-o.Alpha)
	if o.Centered {
		mean := approach(r.tensor("grad_avg", p), g, 1-o.Alpha)
		square = addProduct(square.Clone(), mean, mean, -1)
	}
	divisor := square.Sqrt().AddScalar(o.Eps)
	if o.Momentum == 0 {
		addQuotient(p, g, divisor, -o.LR)
		return
	}
	v := addQuotient(r.tensor("momentum_buffer", p).MulScalarAssign(o.Momentum), g, divisor, 1)
	p.AddScaledAssign(v, -o.LR)
}

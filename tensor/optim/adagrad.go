package optim

import "halfnote/tensor"

// adagrad is J. Duchi, E. Hazan and Y. Singer, "Adaptive Subgradient Methods for
// Online Learning and Stochastic Optimization" (2011).
type adagrad struct{}

// NewAdagrad returns an optimizer of params with learning rate lr that divides the
// gradient by the root of the sum of its squares. It takes LRDecay, WeightDecay,
// InitialSum, Eps and Maximize, and panics like [NewSGD]. It is
// torch.optim.Adagrad.
func NewAdagrad(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("Adagrad", adagrad{}, "lr_decay weight_decay initial_accumulator_value eps maximize", params, Group{LR: lr, Eps: 1e-10}, options)
}

func (adagrad) step(p, g *tensor.Tensor, o *Group, r record) {
	n := r.count()
	g = decayed(p, g, o)
	sum := r.tensor("sum", p)
	if n == 1 {
		sum.Fill(o.InitialSum)
	}
	addProduct(sum, g, g, 1)
	addQuotient(p, g, sum.Sqrt().AddScalar(o.Eps), -o.LR/(1+float64((n-1)*o.LRDecay)))
}

// adadelta is M. Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012).
type adadelta struct{}

// NewAdadelta returns an optimizer of params with learning rate lr, commonly 1, that scales
// the gradient by the ratio of two running root mean squares: that of the updates to that of
// the gradient. It takes Rho, Eps, WeightDecay and Maximize, and panics like [NewSGD]. It is
// torch.optim.Adadelta.
func NewAdadelta(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("Adadelta", adadelta{}, "rho eps weight_decay maximize", params, Group{LR: lr, Rho: 0.9, Eps: 1e-6}, options)
}

func (adadelta) step(p, g *tensor.Tensor, o *Group, r record) {
	r.counted()
	g = decayed(p, g, o)
	square, updates := r.tensor("square_avg", p), r.tensor("acc_delta", p)
	addProduct(square.MulScalarAssign(o.Rho), g, g, 1-o.Rho)
	root := func(t *tensor.Tensor) *tensor.Tensor { return t.AddScalar(o.Eps).Sqrt() }
	d := root(updates).DivAssign(root(square)).MulAssign(g)
	addProduct(updates.MulScalarAssign(o.Rho), d, d, 1-o.Rho)
	p.AddScaledAssign(d, -o.LR)
}

package optim

import (
	"math"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// adam is D. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization" (2015).
type adam struct{}

const adamSettings = "betas eps weight_decay amsgrad maximize decoupled_weight_decay fused"

func adamDefaults(lr float64) Group { return Group{LR: lr, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8} }

func decoupledDefaults(lr float64) Group {
	d := adamDefaults(lr)
	d.WeightDecay, d.Decoupled = 0.01, true
	return d
}

// NewAdam returns an Adam of params with learning rate lr; weight decay is added to
// the gradient. It takes Betas, Eps, WeightDecay, AMSGrad, Maximize, Decoupled and
// Fused, and panics like [NewSGD]. It is torch.optim.Adam.
func NewAdam(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("Adam", adam{}, adamSettings, params, adamDefaults(lr), options)
}

// NewAdamW returns an Adam whose weight decay, 0.01 by default, is subtracted from the
// parameter itself: I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization"
// (2019). It takes the options of NewAdam. It is torch.optim.AdamW.
func NewAdamW(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("AdamW", adam{}, adamSettings, params, decoupledDefaults(lr), options)
}

func (adam) step(p, g *tensor.Tensor, o *Group, r record) {
	s := plumbing.AdamSettings[*tensor.Tensor]{Rate: o.LR, Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Eps, Guard: o.guard}
	if o.guard == nil {
		s.Step = r.count()
	}
	if o.Decoupled {
		s.Decay = o.LR * o.WeightDecay
	} else {
		g = decayed(p, g, o)
	}
	var most *tensor.Tensor
	if o.AMSGrad {
		most = r.tensor("max_exp_avg_sq", p)
	}
	o.steps.Adam(p, g, r.tensor("exp_avg", p), r.tensor("exp_avg_sq", p), most, s)
}

// means updates the running means of the gradient and its square, and returns them.
func means(p, g *tensor.Tensor, o *Group, r record) (m, v *tensor.Tensor) {
	m, v = r.tensor("exp_avg", p), r.tensor("exp_avg_sq", p)
	approach(m, g, 1-o.Beta1)
	addProduct(v.MulScalarAssign(o.Beta2), g, g, 1-o.Beta2)
	return m, v
}

// adamax is section 7.1 of Adam's paper: the largest gradient instead of the mean square.
type adamax struct{}

// NewAdamax returns an Adam of params with learning rate lr that divides by a decaying
// maximum of the gradient. It takes Betas, Eps, WeightDecay and Maximize, and panics like
// [NewSGD]. It is torch.optim.Adamax.
func NewAdamax(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("Adamax", adamax{}, "betas eps weight_decay maximize", params, adamDefaults(lr), options)
}

func (adamax) step(p, g *tensor.Tensor, o *Group, r record) {
	n := r.count()
	g = decayed(p, g, o)
	m := approach(r.tensor("exp_avg", p), g, 1-o.Beta1)
	most := r.tensor("exp_inf", p)
	most.Assign(most.MulScalarAssign(o.Beta2).Maximum(g.Abs().AddScalar(o.Eps)))
	addQuotient(p, m, most, -o.LR/(1-math.Pow(o.Beta1, n)))
}

// nadam is T. Dozat, "Incorporating Nesterov Momentum into Adam" (2016).
type nadam struct{}

// NewNAdam returns an Adam of params with learning rate lr, commonly 2e-3, and
// Nesterov's momentum. It takes Betas, Eps, WeightDecay, MomentumDecay, Decoupled
// and Maximize, and panics like [NewSGD]. It is torch.optim.NAdam.
func NewNAdam(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	d := adamDefaults(lr)
	d.MomentumDecay = 4e-3
	return newOptimizer("NAdam", nadam{}, "betas eps weight_decay momentum_decay decoupled_weight_decay maximize", params, d, options)
}

func (nadam) step(p, g *tensor.Tensor, o *Group, r record) {
	n := r.count()
	g = decayed(p, g, o)
	m, v := means(p, g, o, r)
	mu := func(n float64) float64 {
		return float64(o.Beta1 * (1 - float64(0.5*math.Pow(0.96, n*o.MomentumDecay))))
	}
	if n == 1 {
		r["mu_product"] = 1.0
	}
	product := float64(float32(r["mu_product"].(float64)) * float32(mu(n))) // torch's product is float32
	r["mu_product"] = product
	divisor := v.MulScalar(1 / (1 - math.Pow(o.Beta2, n))).Sqrt().AddScalar(o.Eps)
	addQuotient(p, g, divisor, -o.LR*(1-mu(n))/(1-product))
	addQuotient(p, m, divisor, -o.LR*mu(n+1)/(1-float64(product*mu(n+1))))
}

// radam is L. Liu and others, "On the Variance of the Adaptive Learning Rate and
// Beyond" (2020).
type radam struct{}

// NewRAdam returns an Adam of params with learning rate lr that divides only after enough
// gradients. It takes Betas, Eps, WeightDecay, Decoupled and Maximize, and panics like
// [NewSGD]. It is torch.optim.RAdam.
func NewRAdam(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("RAdam", radam{}, "betas eps weight_decay decoupled_weight_decay maximize", params, adamDefaults(lr), options)
}

func (radam) step(p, g *tensor.Tensor, o *Group, r record) {
	n := r.count()
	g = decayed(p, g, o)
	m, v := means(p, g, o, r)
	kept := math.Pow(o.Beta2, n)
	rate := o.LR / (1 - math.Pow(o.Beta1, n))
	most := 2/(1-o.Beta2) - 1
	// The length after n steps of a simple average of gradients that has the same variance.
	length := most - 2*n*kept/(1-kept)
	if length <= 5 {
		p.AddScaledAssign(m, -rate)
		return
	}
	rectified := math.Sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
	addQuotient(p, m, v.Sqrt().AddScalar(o.Eps), -rate*rectified*math.Sqrt(1-kept))
}

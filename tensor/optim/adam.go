package optim

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// adam is D. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization" (2015).
type adam struct{}

const adamSettings = "betas eps weight_decay amsgrad maximize decoupled_weight_decay fused"

func adamDefaults(lr float64) Group { return Group{LR: lr, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8} }

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
	d := adamDefaults(lr)
	d.WeightDecay, d.Decoupled = 0.01, true
	return newOptimizer("AdamW", adam{}, adamSettings, params, d, options)
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

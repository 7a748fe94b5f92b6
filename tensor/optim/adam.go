package optim

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

// Adam is D. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization" (2015),
// or, with decoupled weight decay, I. Loshchilov and F. Hutter, "Decoupled Weight
// Decay Regularization" (2019). It is torch.optim.Adam and torch.optim.AdamW.
type Adam struct {
	group
	beta1, beta2, eps, decay float64
	decoupled                bool

	moments map[*tensor.Tensor]*moment
}

// moment is what Adam knows of a parameter.
type moment struct {
	steps         int
	first, second *tensor.Tensor // running means of the gradient and its square
}

// AdamOption configures an Adam.
type AdamOption func(*Adam)

// Betas sets the shares that the running means keep; 0.9 and 0.999 by default.
func Betas(first, second float64) AdamOption {
	return func(o *Adam) { o.beta1, o.beta2 = first, second }
}

// Eps sets what is added to the divisor; 1e-8 by default.
func Eps(eps float64) AdamOption { return func(o *Adam) { o.eps = eps } }

// Decay sets the weight decay; 0 by default for Adam, 0.01 for AdamW.
func Decay(d float64) AdamOption { return func(o *Adam) { o.decay = d } }

// NewAdam returns an Adam of params with learning rate lr; weight decay is added to
// the gradient. It panics as [NewSGD] does. It is torch.optim.Adam.
func NewAdam(params []*tensor.Tensor, lr float64, options ...AdamOption) *Adam {
	return newAdam("adam", params, lr, &Adam{}, options)
}

// NewAdamW returns an Adam whose weight decay is taken off the parameter itself. It
// is torch.optim.AdamW.
func NewAdamW(params []*tensor.Tensor, lr float64, options ...AdamOption) *Adam {
	return newAdam("adamw", params, lr, &Adam{decay: 0.01, decoupled: true}, options)
}

func newAdam(op string, params []*tensor.Tensor, lr float64, o *Adam, options []AdamOption) *Adam {
	o.group = newGroup(op, params, lr)
	o.beta1, o.beta2, o.eps = 0.9, 0.999, 1e-8
	o.moments = map[*tensor.Tensor]*moment{}
	for _, option := range options {
		option(o)
	}
	share := func(b float64) bool { return b >= 0 && b < 1 }
	if !share(o.beta1) || !share(o.beta2) || !(o.eps >= 0) || !(o.decay >= 0) {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("betas %v and %v, eps %v, weight decay %v; expected betas from 0 to below 1, the others 0 or more", o.beta1, o.beta2, o.eps, o.decay)})
	}
	return o
}

// Step updates the parameters that have a gradient, in place.
func (o *Adam) Step() {
	tensor.NoGrad(func() {
		for _, p := range o.params {
			if g := p.Grad(); g != nil {
				o.step(p, g.Detach())
			}
		}
	})
}

func (o *Adam) step(p, g *tensor.Tensor) {
	m := o.moments[p]
	if m == nil {
		m = &moment{first: tensor.ZerosLike(p), second: tensor.ZerosLike(p)}
		o.moments[p] = m
	}
	m.steps++
	if o.decoupled {
		p.ScaleAssign(1 - o.lr*o.decay)
	} else if o.decay != 0 {
		g = g.Clone().AddScaledAssign(p, o.decay)
	}
	m.first.ScaleAssign(o.beta1).AddScaledAssign(g, 1-o.beta1)
	m.second.ScaleAssign(o.beta2).AddScaledAssign(g.Mul(g), 1-o.beta2)
	n := float64(m.steps)
	divisor := m.second.Sqrt().Scale(1 / math.Sqrt(1-math.Pow(o.beta2, n))).AddScalar(o.eps)
	p.AddScaledAssign(m.first.Div(divisor), -o.lr/(1-math.Pow(o.beta1, n)))
}

// String returns the settings.
func (o *Adam) String() string {
	name := "Adam"
	if o.decoupled {
		name = "AdamW"
	}
	return fmt.Sprintf("%s(lr=%v, betas=(%v, %v), eps=%v, weight_decay=%v, %d parameters)", name, o.lr, o.beta1, o.beta2, o.eps, o.decay, len(o.params))
}

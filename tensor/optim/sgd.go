package optim

import (
	"fmt"

	"halfnote/tensor"
)

// SGD is stochastic gradient descent. It is torch.optim.SGD.
type SGD struct {
	group
	momentum, dampening, decay float64
	nesterov                   bool

	velocity map[*tensor.Tensor]*tensor.Tensor
}

// SGDOption configures an SGD.
type SGDOption func(*SGD)

// Momentum sets the share of the velocity that a step keeps; 0 by default.
func Momentum(m float64) SGDOption { return func(o *SGD) { o.momentum = m } }

// Dampening sets the share of a gradient that the velocity leaves out; 0 by
// default.
func Dampening(d float64) SGDOption { return func(o *SGD) { o.dampening = d } }

// WeightDecay adds d times the parameter to its gradient; 0 by default.
func WeightDecay(d float64) SGDOption { return func(o *SGD) { o.decay = d } }

// Nesterov looks ahead by a step of momentum; off by default. It needs momentum,
// and no dampening.
func Nesterov() SGDOption { return func(o *SGD) { o.nesterov = true } }

// NewSGD returns an optimizer of params with learning rate lr. It panics if there
// are none, if one is no leaf that requires a gradient, or if an option is out of
// range.
func NewSGD(params []*tensor.Tensor, lr float64, options ...SGDOption) *SGD {
	o := &SGD{group: newGroup("sgd", params, lr), velocity: map[*tensor.Tensor]*tensor.Tensor{}}
	for _, option := range options {
		option(o)
	}
	switch {
	case !(o.momentum >= 0):
		panic(&tensor.Error{Op: "sgd", Why: fmt.Sprintf("the momentum is %v; expected 0 or more", o.momentum)})
	case !(o.decay >= 0):
		panic(&tensor.Error{Op: "sgd", Why: fmt.Sprintf("the weight decay is %v; expected 0 or more", o.decay)})
	case o.nesterov && (o.momentum <= 0 || o.dampening != 0):
		panic(&tensor.Error{Op: "sgd", Why: fmt.Sprintf("Nesterov with momentum %v and dampening %v; expected momentum above 0 and dampening 0", o.momentum, o.dampening)})
	}
	return o
}

// Step updates the parameters that have a gradient, in place.
func (o *SGD) Step() {
	tensor.NoGrad(func() {
		for _, p := range o.params {
			if g := p.Grad(); g != nil {
				o.step(p, g.Detach())
			}
		}
	})
}

func (o *SGD) step(p, g *tensor.Tensor) {
	if o.decay != 0 {
		g = g.Clone().AddScaledAssign(p, o.decay)
	}
	if o.momentum == 0 {
		tensor.SGDStep(p, g, nil, o.lr, 0)
		return
	}
	v, moving := o.velocity[p]
	switch {
	case !moving && o.dampening == 0 && !o.nesterov:
		v = tensor.ZerosLike(p)
		o.velocity[p] = v
		fallthrough
	case o.dampening == 0 && !o.nesterov:
		tensor.SGDStep(p, g, v, o.lr, o.momentum)
		return
	case !moving:
		// The first velocity is the whole gradient, whatever the dampening.
		v = g.Clone()
		o.velocity[p] = v
	default:
		v.ScaleAssign(o.momentum).AddScaledAssign(g, 1-o.dampening)
	}
	if o.nesterov {
		v = g.Clone().AddScaledAssign(v, o.momentum)
	}
	p.AddScaledAssign(v, -o.lr)
}

// String returns the settings.
func (o *SGD) String() string {
	return fmt.Sprintf("SGD(lr=%v, momentum=%v, dampening=%v, weight_decay=%v, nesterov=%v, %d parameters)",
		o.lr, o.momentum, o.dampening, o.decay, o.nesterov, len(o.params))
}

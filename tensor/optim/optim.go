// Package optim updates parameters from their gradients: torch.optim.
//
//	opt := optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9))
//	loss.Backward()
//	opt.Step()
//	opt.ZeroGrad()
//
// An optimizer does arithmetic in the dtype of its parameters, so float16
// parameters round at every step; keep them float32 and let autocast cast.
package optim

import (
	"fmt"

	"halfnote/tensor"
)

// group is the parameters and the learning rate, which every optimizer has.
type group struct {
	params []*tensor.Tensor
	lr     float64
}

func newGroup(op string, params []*tensor.Tensor, lr float64) group {
	if len(params) == 0 {
		panic(&tensor.Error{Op: op, Why: "there are no parameters; expected some, as from nn.Parameters(net)"})
	}
	for i, p := range params {
		if p == nil || !p.IsLeaf() || !p.RequiresGrad() {
			panic(&tensor.Error{Op: op, Why: fmt.Sprintf("parameter %d is not a leaf that requires a gradient", i)})
		}
	}
	if !(lr >= 0) {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("the learning rate is %v; expected 0 or more", lr)})
	}
	return group{params, lr}
}

// Params returns the parameters, those without a gradient too.
func (g *group) Params() []*tensor.Tensor { return g.params }

// LR returns the learning rate.
func (g *group) LR() float64 { return g.lr }

// SetLR sets the learning rate from the next Step on.
func (g *group) SetLR(lr float64) { g.lr = lr }

// ZeroGrad drops the gradients.
func (g *group) ZeroGrad() {
	for _, p := range g.params {
		p.ZeroGrad()
	}
}

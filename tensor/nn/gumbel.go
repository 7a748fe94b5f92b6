package nn

import (
	"fmt"

	"halfnote/tensor"
)

// Tau is the temperature of a Gumbel softmax; 1 by default.
func Tau(t float64) Option { return Option{"Tau", func(c *config) { c.tau = t }} }

// Hard makes a Gumbel softmax return one-hot samples, with the gradient of the probabilities;
// off by default. It is hard=True.
func Hard() Option { return Option{"Hard", func(c *config) { c.hard = true }} }

// GumbelSoftmax returns samples of the Gumbel-softmax distribution of logits x, in x's
// shape, drawn by the generator that tensor.ManualSeed seeds, the same as torch's for
// float32: E. Jang and others, "Categorical Reparameterization with Gumbel-Softmax" (2017).
// It takes Tau, Hard and Dim, -1 by default. It panics unless tau is above 0. It is
// torch.nn.functional.gumbel_softmax.
func GumbelSoftmax(x *tensor.Tensor, options ...Option) *tensor.Tensor {
	const op = "gumbel_softmax"
	c := configure(op, config{dim: -1, tau: 1}, options, "Tau", "Hard", "Dim")
	if !(c.tau > 0) {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("Tau is %v; want a number above 0", c.tau)})
	}
	required(op, "input", x)
	if !x.DType().IsFloat() {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("logits have dtype %v; want a floating-point dtype", x.DType())})
	}
	noise := tensor.Exponential(1, x.Shape()...).To(x.DType()).ToDevice(x.Device()).Log().Neg()
	soft := x.Add(noise).DivScalar(c.tau).Softmax(c.dim)
	if !c.hard {
		return soft
	}
	_, index := soft.Detach().Max(c.dim)
	index = index.Unsqueeze(c.dim)
	hard := tensor.ZerosLike(soft).Scatter(c.dim, index, tensor.OnesLike(index).To(soft.DType()))
	return hard.Sub(soft.Detach()).Add(soft)
}

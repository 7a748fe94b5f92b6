package nn

import "halfnote/tensor"

// Blank is the index of the blank label of a CTC loss; 0 by default.
func Blank(class int) Option { return Option{"Blank", func(c *config) { c.loss.Blank = class }} }

// ZeroInfinity replaces infinite CTC losses and their gradients by 0; off by default. A loss is
// infinite if the input is too short for the target. It is zero_infinity=True.
func ZeroInfinity() Option {
	return Option{"ZeroInfinity", func(c *config) { c.loss.ZeroInfinity = true }}
}

// CTCLoss returns the connectionist temporal classification loss of x, log-probabilities (T, N,
// C) or (T, C). The integer targets are (N, S), padded, or (sum of the target lengths), or (S)
// for (T, C). inputLengths and targetLengths, (N) or (), are the numbers of steps and of target
// elements of each sample. The mean first divides each loss by its target's length. It computes on the CPU in float64, wherever x is, and
// rounds once. As in torch, the gradient of x assumes that x was computed by LogSoftmax. The
// second derivative, which torch does not have, is the derivative of this gradient. It panics
// if a length or class is out of range. It takes Blank, ZeroInfinity and Reduction. It is
// torch.nn.functional.ctc_loss.
//
//	loss := nn.CTCLoss(logits.LogSoftmax(-1), targets, tensor.FromInts([]int{50, 40}), tensor.FromInts([]int{10, 7}))
func CTCLoss(x, targets, inputLengths, targetLengths *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewCTCLoss(options...).Forward(x, targets, inputLengths, targetLengths)
}

// NewCTCLoss returns CTCLoss as a module. Forward takes log-probabilities, targets, input
// lengths and target lengths. It is torch.nn.CTCLoss.
func NewCTCLoss(options ...Option) *Loss {
	return newLoss("CTCLoss", config{}, options, "Blank ZeroInfinity", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		if len(in) != 4 {
			panic(&tensor.Error{Op: "ctc_loss", Why: "Forward was not called with four tensors; want log-probabilities, targets, input lengths and target lengths"})
		}
		return functional.CTCLoss(in[0], in[1], in[2], in[3], c.loss)
	})
}

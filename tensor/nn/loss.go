package nn

import (
	"strings"

	"halfnote/tensor"
)

// Loss is a loss as a module. Each constructor documents the arguments that Forward takes after the
// input.
type Loss struct {
	Weight    *tensor.Tensor // weights of classes or elements, or nil
	PosWeight *tensor.Tensor // weights of positive targets, or nil

	name string
	c    config
	f    func(in []*tensor.Tensor, c config) *tensor.Tensor
}

// newLoss returns a loss that calls f with the module's current weights.
func newLoss(name string, c config, options []Option, takes string, f func(in []*tensor.Tensor, c config) *tensor.Tensor) *Loss {
	c = configure(name, c, options, append(strings.Fields(takes), "Reduction")...)
	c.loss.Eps = c.eps
	return &Loss{Weight: c.loss.Weight, PosWeight: c.loss.PosWeight, name: name, c: c, f: f}
}

// Forward returns the loss of x and target; more holds the further inputs of some losses.
func (l *Loss) Forward(x, target *tensor.Tensor, more ...*tensor.Tensor) *tensor.Tensor {
	c := l.c
	c.loss.Weight, c.loss.PosWeight = l.Weight, l.PosWeight
	return l.f(append([]*tensor.Tensor{x, target}, more...), c)
}

// String returns what torch prints.
func (l *Loss) String() string {
	if l.name == "TripletMarginWithDistanceLoss" && l.c.distance == nil {
		return list(l.name, []NamedModule{{"distance_function", NewPairwiseDistance()}})
	}
	return l.name + "()"
}

// MSELoss returns the mean of the squared differences of x and target, which have equal
// shapes, as a scalar. It takes Reduction. It is torch.nn.functional.mse_loss.
func MSELoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewMSELoss(options...).Forward(x, target)
}

// NewMSELoss returns MSELoss as a module. It is torch.nn.MSELoss.
func NewMSELoss(options ...Option) *Loss {
	return newLoss("MSELoss", config{}, options, "", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.MSELoss(in[0], in[1], c.loss)
	})
}

// L1Loss returns the mean of the absolute differences of x and target, which have equal
// shapes, as a scalar. It takes Reduction. It is torch.nn.functional.l1_loss.
func L1Loss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewL1Loss(options...).Forward(x, target)
}

// NewL1Loss returns L1Loss as a module. It is torch.nn.L1Loss.
func NewL1Loss(options ...Option) *Loss {
	return newLoss("L1Loss", config{}, options, "", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.L1Loss(in[0], in[1], c.loss)
	})
}

// SmoothL1Loss returns the mean of d²/(2 beta) where |d| is below beta and |d| - beta/2
// elsewhere, where d is the difference of x and target, which have the same shape. beta is at
// least 0; torch's default is 1. It computes in float32 and rounds once. It takes Beta and
// Reduction. It is torch.nn.functional.smooth_l1_loss.
func SmoothL1Loss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewSmoothL1Loss(options...).Forward(x, target)
}

// NewSmoothL1Loss returns SmoothL1Loss as a module. It is torch.nn.SmoothL1Loss.
func NewSmoothL1Loss(options ...Option) *Loss {
	return newLoss("SmoothL1Loss", config{beta: 1}, options, "Beta", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.SmoothL1Loss(in[0], in[1], c.beta, c.loss)
	})
}

// HuberLoss returns the mean of d²/2 where |d| is at most delta and delta (|d| - delta/2)
// elsewhere, where d is the difference of x and target, which have the same shape. delta is
// above 0; torch's default is 1. It computes in float32 and rounds once. It takes Delta and
// Reduction. It is torch.nn.functional.huber_loss.
func HuberLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewHuberLoss(options...).Forward(x, target)
}

// NewHuberLoss returns HuberLoss as a module. It is torch.nn.HuberLoss.
func NewHuberLoss(options ...Option) *Loss {
	return newLoss("HuberLoss", config{beta: 1}, options, "Delta", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.HuberLoss(in[0], in[1], c.beta, c.loss)
	})
}

// CrossEntropy returns the mean of -log softmax(x)[n][c], where c is target[n], for x (N, C),
// (C) or (N, C, …) and integer targets (N), () or (N, …). For targets of x's shape, which are
// probabilities, it is the mean of -Σ target log softmax(x) over C. It takes Weight, (C), which
// gets a gradient with probabilities and must not require one with integer targets;
// IgnoreIndex, with integer targets; LabelSmoothing; and Reduction. It is composed of LogSoftmax
// and NLLLoss, each of which rounds. It is torch.nn.functional.cross_entropy.
func CrossEntropy(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewCrossEntropyLoss(options...).Forward(x, target)
}

// NewCrossEntropyLoss returns CrossEntropy as a module. It is
// torch.nn.CrossEntropyLoss.
func NewCrossEntropyLoss(options ...Option) *Loss {
	return newLoss("CrossEntropyLoss", config{}, options, "Weight IgnoreIndex LabelSmoothing", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.CrossEntropy(in[0], in[1], c.loss)
	})
}

// NLLLoss returns the mean of -x[n][c], where c is target[n], for log-probabilities x (N, C),
// (C) or (N, C, …) and integer targets (N), () or (N, …). It uses Weight, (C), for a weighted
// mean, and IgnoreIndex. The mean over no targets is NaN. It panics if a target is not a class.
// Under autocast it is nll_loss2d for (N, C, …). It takes
// Weight, IgnoreIndex and Reduction. It is torch.nn.functional.nll_loss.
func NLLLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewNLLLoss(options...).Forward(x, target)
}

// NewNLLLoss returns NLLLoss as a module. It is torch.nn.NLLLoss.
func NewNLLLoss(options ...Option) *Loss {
	return newLoss("NLLLoss", config{}, options, "Weight IgnoreIndex", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.NLLLoss(in[0], in[1], c.loss)
	})
}

// BinaryCrossEntropy returns the mean of -(target log x + (1-target) log(1-x)) for
// probabilities x and targets from 0 to 1 of the same shape. Logarithms are at least -100. It
// uses Weight, and panics if Weight requires a gradient or an element of x is not from 0 to 1.
// It computes in float32 and rounds once. Autocast does not allow it, because a float16 sigmoid
// rounds to 1 too early: use BinaryCrossEntropyWithLogits. It takes Weight and Reduction. It is
// torch.nn.functional.binary_cross_entropy.
func BinaryCrossEntropy(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewBCELoss(options...).Forward(x, target)
}

// NewBCELoss returns BinaryCrossEntropy as a module. It is torch.nn.BCELoss.
func NewBCELoss(options ...Option) *Loss {
	return newLoss("BCELoss", config{}, options, "Weight", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.BinaryCrossEntropy(in[0], in[1], c.loss)
	})
}

// BinaryCrossEntropyWithLogits returns the mean of -(target log σ(x) + (1-target) log(1-σ(x))),
// where σ is the sigmoid, for numbers x and targets from 0 to 1 of the same shape. It does not
// take logarithms of small numbers. It uses Weight and PosWeight, and panics if either requires
// a gradient. It computes in float32 and rounds once. It takes Weight, PosWeight and Reduction.
// It is torch.nn.functional.binary_cross_entropy_with_logits.
func BinaryCrossEntropyWithLogits(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewBCEWithLogitsLoss(options...).Forward(x, target)
}

// NewBCEWithLogitsLoss returns BinaryCrossEntropyWithLogits as a module. It is
// torch.nn.BCEWithLogitsLoss.
func NewBCEWithLogitsLoss(options ...Option) *Loss {
	return newLoss("BCEWithLogitsLoss", config{}, options, "Weight PosWeight", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.BinaryCrossEntropyWithLogits(in[0], in[1], c.loss)
	})
}

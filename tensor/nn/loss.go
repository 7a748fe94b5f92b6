package nn

import (
	"strings"

	"halfnote/tensor"
)

// Loss is a loss as a module. Its constructor documents the arguments of Forward besides
// the input.
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
		return in[0].MSELossWith(in[1], c.loss)
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
		return in[0].L1LossWith(in[1], c.loss)
	})
}

// SmoothL1Loss returns the mean of squared differences below Beta, 1 by default, and of
// absolute differences above: see [tensor.Tensor.SmoothL1Loss]. It takes Beta and Reduction.
// It is torch.nn.functional.smooth_l1_loss.
func SmoothL1Loss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewSmoothL1Loss(options...).Forward(x, target)
}

// NewSmoothL1Loss returns SmoothL1Loss as a module. It is torch.nn.SmoothL1Loss.
func NewSmoothL1Loss(options ...Option) *Loss {
	return newLoss("SmoothL1Loss", config{beta: 1}, options, "Beta", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].SmoothL1Loss(in[1], c.beta, c.loss)
	})
}

// HuberLoss returns the mean of squared differences up to Delta, 1 by default, and of
// absolute differences above: see [tensor.Tensor.HuberLoss]. It takes Delta and Reduction.
// It is torch.nn.functional.huber_loss.
func HuberLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewHuberLoss(options...).Forward(x, target)
}

// NewHuberLoss returns HuberLoss as a module. It is torch.nn.HuberLoss.
func NewHuberLoss(options ...Option) *Loss {
	return newLoss("HuberLoss", config{beta: 1}, options, "Delta", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].HuberLoss(in[1], c.beta, c.loss)
	})
}

// CrossEntropy returns the mean cross entropy of x, (N, C), (C) or (N, C, …), and
// target classes or probabilities: see [tensor.Tensor.CrossEntropy]. It takes Weight,
// IgnoreIndex, LabelSmoothing and Reduction. It is torch.nn.functional.cross_entropy.
func CrossEntropy(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewCrossEntropyLoss(options...).Forward(x, target)
}

// NewCrossEntropyLoss returns CrossEntropy as a module. It is
// torch.nn.CrossEntropyLoss.
func NewCrossEntropyLoss(options ...Option) *Loss {
	return newLoss("CrossEntropyLoss", config{}, options, "Weight IgnoreIndex LabelSmoothing", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].CrossEntropy(in[1], c.loss)
	})
}

// NLLLoss returns the mean of the negated log-probabilities x, (N, C), (C) or (N, C, …), at
// the target classes: see [tensor.Tensor.NLLLoss]. It takes Weight, IgnoreIndex and
// Reduction. It is torch.nn.functional.nll_loss.
func NLLLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewNLLLoss(options...).Forward(x, target)
}

// NewNLLLoss returns NLLLoss as a module. It is torch.nn.NLLLoss.
func NewNLLLoss(options ...Option) *Loss {
	return newLoss("NLLLoss", config{}, options, "Weight IgnoreIndex", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].NLLLoss(in[1], c.loss)
	})
}

// BinaryCrossEntropy returns the mean cross entropy of probabilities x and targets from 0
// to 1, with equal shapes: see [tensor.Tensor.BinaryCrossEntropy]. It takes Weight and
// Reduction. It is torch.nn.functional.binary_cross_entropy.
func BinaryCrossEntropy(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewBCELoss(options...).Forward(x, target)
}

// NewBCELoss returns BinaryCrossEntropy as a module. It is torch.nn.BCELoss.
func NewBCELoss(options ...Option) *Loss {
	return newLoss("BCELoss", config{}, options, "Weight", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].BinaryCrossEntropy(in[1], c.loss)
	})
}

// BinaryCrossEntropyWithLogits returns the mean cross entropy of the sigmoid of x and
// targets from 0 to 1, with equal shapes: see [tensor.Tensor.BinaryCrossEntropyWithLogits].
// It takes Weight, PosWeight and Reduction. It is
// torch.nn.functional.binary_cross_entropy_with_logits.
func BinaryCrossEntropyWithLogits(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewBCEWithLogitsLoss(options...).Forward(x, target)
}

// NewBCEWithLogitsLoss returns BinaryCrossEntropyWithLogits as a module. It is
// torch.nn.BCEWithLogitsLoss.
func NewBCEWithLogitsLoss(options ...Option) *Loss {
	return newLoss("BCEWithLogitsLoss", config{}, options, "Weight PosWeight", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].BinaryCrossEntropyWithLogits(in[1], c.loss)
	})
}

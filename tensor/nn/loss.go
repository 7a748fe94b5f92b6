package nn

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
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

// KLDiv returns the mean of target (log target - x), the elements of the Kullback-Leibler
// divergence, for log-probabilities x and probabilities of the same shape. It uses LogTarget,
// and accepts the reduction "batchmean", which gives the divergence itself. It computes in float32 and
// rounds once. It takes LogTarget and Reduction. It is torch.nn.functional.kl_div.
func KLDiv(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewKLDivLoss(options...).Forward(x, target)
}

// NewKLDivLoss returns KLDiv as a module. It is torch.nn.KLDivLoss.
func NewKLDivLoss(options ...Option) *Loss {
	return newLoss("KLDivLoss", config{}, options, "LogTarget", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.KLDiv(in[0], in[1], c.loss)
	})
}

// PoissonNLLLoss returns the mean of exp(x) - target x, for logarithms x of rates and counts of
// the same shape; with LogInput(false), the mean of x - target log(x + Eps), where Eps is 1e-8 by
// default. FullLoss adds Stirling's approximation of log target! where target is above 1. It
// computes in float32 and rounds once. It takes LogInput, FullLoss, Eps, 1e-8 by default, and
// Reduction. It is torch.nn.functional.poisson_nll_loss.
func PoissonNLLLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewPoissonNLLLoss(options...).Forward(x, target)
}

// NewPoissonNLLLoss returns PoissonNLLLoss as a module. It is
// torch.nn.PoissonNLLLoss.
func NewPoissonNLLLoss(options ...Option) *Loss {
	return newLoss("PoissonNLLLoss", config{}, options, "LogInput FullLoss Eps", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.PoissonNLLLoss(in[0], in[1], c.loss)
	})
}

// GaussianNLLLoss returns the mean of (log variance + (x - target)²/variance)/2 for means x and
// targets of the same shape. variance has that shape, or lacks its last dimension, or has size
// 1 there. Variances are raised to at least Eps, 1e-6 by default; the gradient ignores that.
// FullLoss adds log(2π)/2. It panics if a variance is negative. It is composed of other operations,
// each of which rounds. It takes FullLoss, Eps, 1e-6 by default, and Reduction. It is
// torch.nn.functional.gaussian_nll_loss.
func GaussianNLLLoss(x, target, variance *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewGaussianNLLLoss(options...).Forward(x, target, variance)
}

// NewGaussianNLLLoss returns GaussianNLLLoss as a module. Forward takes input, target and
// variance. It is torch.nn.GaussianNLLLoss.
func NewGaussianNLLLoss(options ...Option) *Loss {
	return newLoss("GaussianNLLLoss", config{}, options, "FullLoss Eps", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("gaussian_nll_loss", in, "variance")
		return functional.GaussianNLLLoss(in[0], in[1], in[2], c.loss)
	})
}

// HingeEmbeddingLoss returns the mean of x where target is 1 and of
// max(0, Margin - x) where it is -1. It takes Margin, 1 by default, and Reduction. It
// is torch.nn.functional.hinge_embedding_loss.
func HingeEmbeddingLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewHingeEmbeddingLoss(options...).Forward(x, target)
}

// NewHingeEmbeddingLoss returns HingeEmbeddingLoss as a module. It is
// torch.nn.HingeEmbeddingLoss.
func NewHingeEmbeddingLoss(options ...Option) *Loss {
	return newLoss("HingeEmbeddingLoss", config{margin: 1}, options, "Margin", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.HingeEmbeddingLoss(in[0], in[1], c.margin, c.loss)
	})
}

// CosineEmbeddingLoss returns the mean of 1 - cos where target is 1 and of
// max(0, cos - Margin) where it is -1, where cos is the cosine similarity of rows of x and y. It
// takes Margin, 0 by default, and Reduction. It is
// torch.nn.functional.cosine_embedding_loss.
func CosineEmbeddingLoss(x, y, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewCosineEmbeddingLoss(options...).Forward(x, y, target)
}

// NewCosineEmbeddingLoss returns CosineEmbeddingLoss as a module. Forward takes two inputs
// and the target. It is torch.nn.CosineEmbeddingLoss.
func NewCosineEmbeddingLoss(options ...Option) *Loss {
	return newLoss("CosineEmbeddingLoss", config{}, options, "Margin", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("cosine_embedding_loss", in, "target")
		return functional.CosineEmbeddingLoss(in[0], in[1], in[2], c.margin, c.loss)
	})
}

// MarginRankingLoss returns the mean of max(0, -target (x - y) + Margin). It takes
// Margin, 0 by default, and Reduction. It is
// torch.nn.functional.margin_ranking_loss.
func MarginRankingLoss(x, y, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewMarginRankingLoss(options...).Forward(x, y, target)
}

// NewMarginRankingLoss returns MarginRankingLoss as a module. Forward takes two inputs and
// the target. It is torch.nn.MarginRankingLoss.
func NewMarginRankingLoss(options ...Option) *Loss {
	return newLoss("MarginRankingLoss", config{}, options, "Margin", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("margin_ranking_loss", in, "target")
		return functional.MarginRankingLoss(in[0], in[1], in[2], c.margin, c.loss)
	})
}

// SoftMarginLoss returns the mean of log(1 + exp(-target x)). It takes Reduction. It
// is torch.nn.functional.soft_margin_loss.
func SoftMarginLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewSoftMarginLoss(options...).Forward(x, target)
}

// NewSoftMarginLoss returns SoftMarginLoss as a module. It is
// torch.nn.SoftMarginLoss.
func NewSoftMarginLoss(options ...Option) *Loss {
	return newLoss("SoftMarginLoss", config{}, options, "", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.SoftMarginLoss(in[0], in[1], c.loss)
	})
}

// MultiLabelSoftMarginLoss returns the mean cross entropy of rows of x with targets 0
// or 1 for each class. It takes Weight and Reduction. It is
// torch.nn.functional.multilabel_soft_margin_loss.
func MultiLabelSoftMarginLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewMultiLabelSoftMarginLoss(options...).Forward(x, target)
}

// NewMultiLabelSoftMarginLoss returns MultiLabelSoftMarginLoss as a module. It is
// torch.nn.MultiLabelSoftMarginLoss.
func NewMultiLabelSoftMarginLoss(options ...Option) *Loss {
	return newLoss("MultiLabelSoftMarginLoss", config{}, options, "Weight", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.MultiLabelSoftMarginLoss(in[0], in[1], c.loss)
	})
}

// MultiLabelMarginLoss returns the mean over rows of Σ max(0, 1 - x[n][c] + x[n][i]) / C over
// the target classes c and all other classes i, for x (N, C) or (C) and integer targets of its
// shape: class indices up to the first -1. It computes in float32 and rounds once. It takes
// Reduction. It is torch.nn.functional.multilabel_margin_loss.
func MultiLabelMarginLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewMultiLabelMarginLoss(options...).Forward(x, target)
}

// NewMultiLabelMarginLoss returns MultiLabelMarginLoss as a module. It is
// torch.nn.MultiLabelMarginLoss.
func NewMultiLabelMarginLoss(options ...Option) *Loss {
	return newLoss("MultiLabelMarginLoss", config{}, options, "", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.MultiLabelMarginLoss(in[0], in[1], c.loss)
	})
}

// MultiMarginLoss returns the mean over rows of Σ max(0, margin - x[n][c] + x[n][i])^P / C over
// the classes i other than c, where c is target[n], for x (N, C) or (C) and integer targets (N)
// or (). It uses P, which is 1 or 2, and Weight, (C). torch's default margin is 1. It computes
// in float32 and rounds once. It takes P, Margin, 1 by default, Weight and Reduction. It is
// torch.nn.functional.multi_margin_loss.
func MultiMarginLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewMultiMarginLoss(options...).Forward(x, target)
}

// NewMultiMarginLoss returns MultiMarginLoss as a module. It is
// torch.nn.MultiMarginLoss.
func NewMultiMarginLoss(options ...Option) *Loss {
	return newLoss("MultiMarginLoss", config{margin: 1}, options, "P Margin Weight", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return functional.MultiMarginLoss(in[0], in[1], c.margin, c.loss)
	})
}

// TripletMarginLoss returns the mean of max(0, d(x, positive) - d(x, negative) + margin), where
// d is the norm of order P, 2 by default, of the difference of rows plus Eps, 1e-6 by default.
// All are (N, D) or (D); torch's default margin is 1. With DistanceSwap it uses d(positive, negative)
// where that is smaller. It computes in float32 and rounds once. It takes Margin, 1 by default,
// P, 2 by default, DistanceSwap, Eps, 1e-6 by default, and Reduction. It is
// torch.nn.functional.triplet_margin_loss.
func TripletMarginLoss(x, positive, negative *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewTripletMarginLoss(options...).Forward(x, positive, negative)
}

// NewTripletMarginLoss returns TripletMarginLoss as a module. Forward takes anchor, positive
// and negative. It is torch.nn.TripletMarginLoss.
func NewTripletMarginLoss(options ...Option) *Loss {
	return newLoss("TripletMarginLoss", config{margin: 1}, options, "Margin P DistanceSwap Eps", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("triplet_margin_loss", in, "negative")
		return functional.TripletMarginLoss(in[0], in[1], in[2], c.margin, c.loss)
	})
}

// third panics unless a loss was given three tensors.
func third(op string, in []*tensor.Tensor, what string) {
	if len(in) != 3 {
		panic(&tensor.Error{Op: op, Why: "Forward was called with two tensors; want three, the last being the " + what})
	}
}

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

// DistanceFunction is the distance of a triplet loss: a function of two tensors (n, …) to (n); the
// pairwise distance by default. It is distance_function.
func DistanceFunction(f func(x, y *tensor.Tensor) *tensor.Tensor) Option {
	return Option{"DistanceFunction", func(c *config) { c.distance = f }}
}

// TripletMarginWithDistanceLoss returns the mean of max(0, d(x, positive) - d(x, negative) +
// Margin) for a distance d. It takes DistanceFunction, Margin, 1 by default, DistanceSwap and Reduction. It
// is torch.nn.functional.triplet_margin_with_distance_loss.
func TripletMarginWithDistanceLoss(x, positive, negative *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewTripletMarginWithDistanceLoss(options...).Forward(x, positive, negative)
}

// NewTripletMarginWithDistanceLoss returns TripletMarginWithDistanceLoss as a module.
// Forward takes anchor, positive and negative. It is
// torch.nn.TripletMarginWithDistanceLoss.
func NewTripletMarginWithDistanceLoss(options ...Option) *Loss {
	return newLoss("TripletMarginWithDistanceLoss", config{margin: 1}, options, "DistanceFunction Margin DistanceSwap", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("triplet_margin_with_distance_loss", in, "negative")
		distance := c.distance
		if distance == nil {
			distance = NewPairwiseDistance().Forward
		}
		near, far := distance(in[0], in[1]), distance(in[0], in[2])
		if c.loss.Swap {
			far = far.Minimum(distance(in[1], in[2]))
		}
		loss := near.Sub(far).AddScalar(c.margin).ClampMin(0)
		switch c.loss.Reduction {
		case plumbing.ReduceNone:
			return loss
		case plumbing.ReduceSum:
			return loss.Sum()
		}
		return loss.Mean()
	})
}

// Reduction is the reduction of a loss's elements: "mean", the default, "sum", "none" or, for
// KLDiv, "batchmean", the sum divided by the size of the first dimension. It panics for another
// name. It is reduction.
func Reduction(name string) Option {
	return Option{"Reduction", func(c *config) {
		r := slices.Index(plumbing.Reductions, name)
		if r < 0 {
			panic(&tensor.Error{Op: "reduction", Why: fmt.Sprintf("unknown name %q; want one of %q", name, plumbing.Reductions)})
		}
		c.loss.Reduction = uint8(r)
	}}
}

// Weight multiplies a loss's elements, or its classes; none by default.
func Weight(w *tensor.Tensor) Option {
	return Option{"Weight", func(c *config) { c.loss.Weight = w }}
}

// PosWeight multiplies the positive terms of a loss's elements; none by default.
func PosWeight(w *tensor.Tensor) Option {
	return Option{"PosWeight", func(c *config) { c.loss.PosWeight = w }}
}

// IgnoreIndex lists target classes to ignore; -100 by default.
func IgnoreIndex(classes ...int) Option {
	return Option{"IgnoreIndex", func(c *config) { c.loss.IgnoreIndex = classes }}
}

// LabelSmoothing spreads a fraction of each target's probability over all classes; 0 by
// default.
func LabelSmoothing(fraction float64) Option {
	return Option{"LabelSmoothing", func(c *config) { c.loss.LabelSmoothing = fraction }}
}

// LogTarget treats targets as logarithms; off by default.
func LogTarget() Option { return Option{"LogTarget", func(c *config) { c.loss.LogTarget = true }} }

// LogInput sets whether inputs are the logarithms of rates, as by default, or rates. It is
// log_input.
func LogInput(on bool) Option { return Option{"LogInput", func(c *config) { c.loss.Rates = !on }} }

// FullLoss adds the terms of a loss that do not depend on the input; off by default.
func FullLoss() Option { return Option{"FullLoss", func(c *config) { c.loss.Full = true }} }

// DistanceSwap uses the harder of two negatives; off by default.
func DistanceSwap() Option { return Option{"DistanceSwap", func(c *config) { c.loss.Swap = true }} }

// P sets the order of a norm, or the power of a margin.
func P(p float64) Option { return Option{"P", func(c *config) { c.loss.P = p }} }

// Margin sets a loss's margin.
func Margin(m float64) Option { return Option{"Margin", func(c *config) { c.margin = m }} }

// Beta is the difference above which a smooth L1 loss is linear.
func Beta(b float64) Option { return Option{"Beta", func(c *config) { c.beta = b }} }

// Delta is the difference above which a Huber loss is linear.
func Delta(d float64) Option { return Option{"Delta", func(c *config) { c.beta = d }} }

// lossOptions are the options of a loss.
type lossOptions = plumbing.LossOptions[*tensor.Tensor]

package nn

import "halfnote/tensor"

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

package nn

import "halfnote/tensor"

// KLDiv returns the mean over elements of the Kullback-Leibler divergence of target from
// log-probabilities x: see [tensor.Tensor.KLDivLoss]. It takes LogTarget and Reduction. It
// is torch.nn.functional.kl_div.
func KLDiv(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewKLDivLoss(options...).Forward(x, target)
}

// NewKLDivLoss returns KLDiv as a module. It is torch.nn.KLDivLoss.
func NewKLDivLoss(options ...Option) *Loss {
	return newLoss("KLDivLoss", config{}, options, "LogTarget", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].KLDivLoss(in[1], c.loss)
	})
}

// PoissonNLLLoss returns the mean negative log-likelihood of Poisson-distributed counts: see
// [tensor.Tensor.PoissonNLLLoss]. It takes LogInput, FullLoss and Reduction. It is
// torch.nn.functional.poisson_nll_loss.
func PoissonNLLLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewPoissonNLLLoss(options...).Forward(x, target)
}

// NewPoissonNLLLoss returns PoissonNLLLoss as a module. It is
// torch.nn.PoissonNLLLoss.
func NewPoissonNLLLoss(options ...Option) *Loss {
	return newLoss("PoissonNLLLoss", config{}, options, "LogInput FullLoss", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].PoissonNLLLoss(in[1], c.loss)
	})
}

// GaussianNLLLoss returns the mean negative log-likelihood of normally distributed targets:
// see [tensor.Tensor.GaussianNLLLoss]. It takes FullLoss and Reduction. It is
// torch.nn.functional.gaussian_nll_loss.
func GaussianNLLLoss(x, target, variance *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewGaussianNLLLoss(options...).Forward(x, target, variance)
}

// NewGaussianNLLLoss returns GaussianNLLLoss as a module. Forward takes input, target and
// variance. It is torch.nn.GaussianNLLLoss.
func NewGaussianNLLLoss(options ...Option) *Loss {
	return newLoss("GaussianNLLLoss", config{}, options, "FullLoss", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("gaussian_nll_loss", in, "variance")
		return in[0].GaussianNLLLoss(in[1], in[2], c.loss)
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
		return in[0].HingeEmbeddingLoss(in[1], c.margin, c.loss)
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
		return in[0].CosineEmbeddingLoss(in[1], in[2], c.margin, c.loss)
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
		return in[0].MarginRankingLoss(in[1], in[2], c.margin, c.loss)
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
		return in[0].SoftMarginLoss(in[1], c.loss)
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
		return in[0].MultilabelSoftMarginLoss(in[1], c.loss)
	})
}

// MultiLabelMarginLoss returns the mean margin loss of rows of x with several target
// classes each: see [tensor.Tensor.MultilabelMarginLoss]. It takes Reduction. It is
// torch.nn.functional.multilabel_margin_loss.
func MultiLabelMarginLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewMultiLabelMarginLoss(options...).Forward(x, target)
}

// NewMultiLabelMarginLoss returns MultiLabelMarginLoss as a module. It is
// torch.nn.MultiLabelMarginLoss.
func NewMultiLabelMarginLoss(options ...Option) *Loss {
	return newLoss("MultiLabelMarginLoss", config{}, options, "", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].MultilabelMarginLoss(in[1], c.loss)
	})
}

// MultiMarginLoss returns the mean margin loss of rows of x with a target class each:
// see [tensor.Tensor.MultiMarginLoss]. It takes Power, Margin, 1 by default, Weight and
// Reduction. It is torch.nn.functional.multi_margin_loss.
func MultiMarginLoss(x, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewMultiMarginLoss(options...).Forward(x, target)
}

// NewMultiMarginLoss returns MultiMarginLoss as a module. It is
// torch.nn.MultiMarginLoss.
func NewMultiMarginLoss(options ...Option) *Loss {
	return newLoss("MultiMarginLoss", config{margin: 1}, options, "Power Margin Weight", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		return in[0].MultiMarginLoss(in[1], c.margin, c.loss)
	})
}

// TripletMarginLoss returns the mean of max(0, d(x, positive) - d(x, negative) + Margin),
// where d is the distance of rows: see [tensor.Tensor.TripletMarginLoss]. It takes Margin, 1
// by default, Power, 2 by default, DistanceSwap and Reduction. It is
// torch.nn.functional.triplet_margin_loss.
func TripletMarginLoss(x, positive, negative *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewTripletMarginLoss(options...).Forward(x, positive, negative)
}

// NewTripletMarginLoss returns TripletMarginLoss as a module. Forward takes anchor, positive
// and negative. It is torch.nn.TripletMarginLoss.
func NewTripletMarginLoss(options ...Option) *Loss {
	return newLoss("TripletMarginLoss", config{margin: 1}, options, "Margin Power DistanceSwap", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("triplet_margin_loss", in, "negative")
		return in[0].TripletMarginLoss(in[1], in[2], c.margin, c.loss)
	})
}

// third panics unless a loss was given three tensors.
func third(op string, in []*tensor.Tensor, what string) {
	if len(in) != 3 {
		panic(&tensor.Error{Op: op, Why: "Forward was called with two tensors; expected three, the last being the " + what})
	}
}

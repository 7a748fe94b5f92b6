package autograd_test

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func init() {
	none := []nn.Option{nn.Reduction("none")}
	sum := []nn.Option{nn.Reduction("sum")}
	signs := tensor.NewAs(tensor.Float64, []float64{1, -1, 1, -1, -1, 1}, 2, 3)
	signOfRows := tensor.FromInts([]int{1, -1})
	weight := tensor.NewAs(tensor.Float64, []float64{.5, 2, .25})
	half := func(x *tensor.Tensor) *tensor.Tensor { return x.Sigmoid() } // in (0, 1)
	cases = append(cases, []struct {
		name string
		f    func(a, b *tensor.Tensor) *tensor.Tensor
	}{
		{"mse_loss, each", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(a, b, none...) }},
		{"mse_loss, sum", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(a, b, sum...) }},
		{"l1_loss, each", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.L1Loss(a.Pow(2), b, none...) }},
		{"smooth_l1_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.SmoothL1Loss(a, b, nn.Beta(1)) }},
		{"smooth_l1_loss, beta 0", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.SmoothL1Loss(a.Pow(2), b, append(sum, nn.Beta(0))...)
		}},
		{"huber_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.HuberLoss(a, b, append(none, nn.Delta(1.5))...) }},
		{"binary_cross_entropy", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.BinaryCrossEntropy(half(a), half(b))
		}},
		{"binary_cross_entropy, weights", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.BinaryCrossEntropy(half(a), half(b), nn.Reduction("none"), nn.Weight(weight))
		}},
		{"binary_cross_entropy_with_logits", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.BinaryCrossEntropyWithLogits(a, half(b))
		}},
		{"binary_cross_entropy_with_logits, weights", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.BinaryCrossEntropyWithLogits(a, half(b), nn.Reduction("sum"), nn.Weight(weight), nn.PosWeight(weight))
		}},
		{"soft_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.SoftMarginLoss(a.Mul(b), signs) }},
		{"multilabel_soft_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.MultiLabelSoftMarginLoss(a.Mul(b), signs.ReLU(), nn.Weight(weight))
		}},
		{"margin_ranking_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.MarginRankingLoss(a.Pow(2), b.Pow(3), signs, nn.Margin(0.5))
		}},
		{"hinge_embedding_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.HingeEmbeddingLoss(a.Mul(b), signs, append(sum, nn.Margin(1))...)
		}},
		{"cosine_embedding_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.CosineEmbeddingLoss(a, b, signOfRows, append(none, nn.Margin(-0.9))...)
		}},
		{"triplet_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.TripletMarginLoss(a, b, a.Mul(b), nn.Margin(1))
		}},
		{"triplet_margin_loss, swap", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.TripletMarginLoss(a, b, a.Mul(b).MulScalar(2), nn.Margin(4), nn.P(3), nn.DistanceSwap(), nn.Reduction("none"))
		}},
		{"triplet_margin_with_distance_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			distance := func(x, y *tensor.Tensor) *tensor.Tensor { return x.Sub(y).Pow(2).Sum(1) }
			return nn.TripletMarginWithDistanceLoss(a, b, a.Mul(b), append(sum, nn.DistanceFunction(distance), nn.Margin(9))...)
		}},
		{"kl_div", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.KLDiv(a, half(b), nn.Reduction("batchmean"))
		}},
		{"kl_div, logarithms", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.KLDiv(a, b, nn.LogTarget()) }},
		{"poisson_nll_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return nn.PoissonNLLLoss(a, b) }},
		{"poisson_nll_loss, rates", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.PoissonNLLLoss(a.Pow(2), b.Pow(2).AddScalar(.5), nn.LogInput(false), nn.FullLoss())
		}},
		{"gaussian_nll_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.GaussianNLLLoss(a, b, a.Mul(b).Pow(2).AddScalar(.1), nn.FullLoss())
		}},
		{"nll_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.NLLLoss(a.Pow(2), tensor.FromInts([]int{2, 0}), nn.Weight(weight))
		}},
		{"nll_loss, each", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.NLLLoss(a.Pow(2), tensor.FromInts([]int{-100, 1}), none...)
		}},
		{"nll_loss2d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.NLLLoss(a.Pow(2).Reshape(1, 2, 3), tensor.FromInts([]int{0, 1, 0}, 1, 3))
		}},
		{"cross_entropy", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.CrossEntropy(a, tensor.FromInts([]int{2, 0}), nn.Weight(weight), nn.LabelSmoothing(.2))
		}},
		{"cross_entropy, probabilities", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.CrossEntropy(a, b.Softmax(1), nn.Weight(weight), nn.LabelSmoothing(.2))
		}},
		{"multi_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.MultiMarginLoss(a, tensor.FromInts([]int{2, 0}), nn.Margin(1), nn.P(2), nn.Weight(weight))
		}},
		{"multilabel_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return nn.MultiLabelMarginLoss(a.Pow(2), tensor.FromInts([]int{2, 0, -1, 1, -1, 0}, 2, 3))
		}},
		{"dropout", func(a, b *tensor.Tensor) *tensor.Tensor {
			tensor.ManualSeed(3)
			return tensor.Dropout(a.Mul(b), .4, true)
		}},
		{"alpha_dropout", func(a, b *tensor.Tensor) *tensor.Tensor {
			tensor.ManualSeed(3)
			return tensor.AlphaDropout(a.Mul(b), .4, true)
		}},
		{"feature_dropout", func(a, b *tensor.Tensor) *tensor.Tensor {
			tensor.ManualSeed(3)
			return tensor.FeatureDropout(a.Mul(b), .4, true)
		}},
	}...)
}

package autograd_test

import "halfnote/tensor"

func init() {
	none := tensor.LossOptions{Reduction: tensor.ReduceNone}
	sum := tensor.LossOptions{Reduction: tensor.ReduceSum}
	signs := tensor.NewAs(tensor.Float64, []float64{1, -1, 1, -1, -1, 1}, 2, 3)
	signOfRows := tensor.FromInts([]int{1, -1})
	weight := tensor.NewAs(tensor.Float64, []float64{.5, 2, .25})
	half := func(x *tensor.Tensor) *tensor.Tensor { return x.Sigmoid() } // in (0, 1)
	cases = append(cases, []struct {
		name string
		f    func(a, b *tensor.Tensor) *tensor.Tensor
	}{
		{"mse_loss, each", func(a, b *tensor.Tensor) *tensor.Tensor { return a.MSELossWith(b, none) }},
		{"mse_loss, sum", func(a, b *tensor.Tensor) *tensor.Tensor { return a.MSELossWith(b, sum) }},
		{"l1_loss, each", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).L1LossWith(b, none) }},
		{"smooth_l1_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return a.SmoothL1Loss(b, 1, tensor.LossOptions{}) }},
		{"smooth_l1_loss, beta 0", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).SmoothL1Loss(b, 0, sum) }},
		{"huber_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return a.HuberLoss(b, 1.5, none) }},
		{"binary_cross_entropy", func(a, b *tensor.Tensor) *tensor.Tensor {
			return half(a).BinaryCrossEntropy(half(b), tensor.LossOptions{})
		}},
		{"binary_cross_entropy, weights", func(a, b *tensor.Tensor) *tensor.Tensor {
			return half(a).BinaryCrossEntropy(half(b), tensor.LossOptions{Reduction: tensor.ReduceNone, Weight: weight})
		}},
		{"binary_cross_entropy_with_logits", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.BinaryCrossEntropyWithLogits(half(b), tensor.LossOptions{})
		}},
		{"binary_cross_entropy_with_logits, weights", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.BinaryCrossEntropyWithLogits(half(b), tensor.LossOptions{Reduction: tensor.ReduceSum, Weight: weight, PosWeight: weight})
		}},
		{"soft_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Mul(b).SoftMarginLoss(signs, tensor.LossOptions{}) }},
		{"multilabel_soft_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Mul(b).MultilabelSoftMarginLoss(signs.ReLU(), tensor.LossOptions{Weight: weight})
		}},
		{"margin_ranking_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(2).MarginRankingLoss(b.Pow(3), signs, 0.5, tensor.LossOptions{})
		}},
		{"hinge_embedding_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Mul(b).HingeEmbeddingLoss(signs, 1, sum)
		}},
		{"cosine_embedding_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.CosineEmbeddingLoss(b, signOfRows, -0.9, none)
		}},
		{"triplet_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.TripletMarginLoss(b, a.Mul(b), 1, tensor.LossOptions{})
		}},
		{"triplet_margin_loss, swap", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.TripletMarginLoss(b, a.Mul(b).MulScalar(2), 4, tensor.LossOptions{P: 3, Swap: true, Reduction: tensor.ReduceNone})
		}},
		{"triplet_margin_with_distance_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			distance := func(x, y *tensor.Tensor) *tensor.Tensor { return x.Sub(y).Pow(2).Sum(1) }
			return a.TripletMarginWithDistanceLoss(b, a.Mul(b), distance, 9, sum)
		}},
		{"kl_div", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.KLDivLoss(half(b), tensor.LossOptions{Reduction: tensor.ReduceBatchMean})
		}},
		{"kl_div, logarithms", func(a, b *tensor.Tensor) *tensor.Tensor { return a.KLDivLoss(b, tensor.LossOptions{LogTarget: true}) }},
		{"poisson_nll_loss", func(a, b *tensor.Tensor) *tensor.Tensor { return a.PoissonNLLLoss(b, tensor.LossOptions{}) }},
		{"poisson_nll_loss, rates", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(2).PoissonNLLLoss(b.Pow(2).AddScalar(.5), tensor.LossOptions{Rates: true, Full: true})
		}},
		{"gaussian_nll_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.GaussianNLLLoss(b, a.Mul(b).Pow(2).AddScalar(.1), tensor.LossOptions{Full: true})
		}},
		{"nll_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(2).NLLLoss(tensor.FromInts([]int{2, 0}), tensor.LossOptions{Weight: weight})
		}},
		{"nll_loss, each", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(2).NLLLoss(tensor.FromInts([]int{-100, 1}), none)
		}},
		{"nll_loss2d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(2).Reshape(1, 2, 3).NLLLoss(tensor.FromInts([]int{0, 1, 0}, 1, 3), tensor.LossOptions{})
		}},
		{"cross_entropy", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.CrossEntropy(tensor.FromInts([]int{2, 0}), tensor.LossOptions{Weight: weight, LabelSmoothing: .2})
		}},
		{"cross_entropy, probabilities", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.CrossEntropy(b.Softmax(1), tensor.LossOptions{Weight: weight, LabelSmoothing: .2})
		}},
		{"multi_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.MultiMarginLoss(tensor.FromInts([]int{2, 0}), 1, tensor.LossOptions{P: 2, Weight: weight})
		}},
		{"multilabel_margin_loss", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(2).MultilabelMarginLoss(tensor.FromInts([]int{2, 0, -1, 1, -1, 0}, 2, 3), tensor.LossOptions{})
		}},
		{"dropout", func(a, b *tensor.Tensor) *tensor.Tensor {
			tensor.ManualSeed(3)
			return a.Mul(b).Dropout(.4, true)
		}},
		{"alpha_dropout", func(a, b *tensor.Tensor) *tensor.Tensor {
			tensor.ManualSeed(3)
			return a.Mul(b).AlphaDropout(.4, true)
		}},
		{"feature_dropout", func(a, b *tensor.Tensor) *tensor.Tensor {
			tensor.ManualSeed(3)
			return a.Mul(b).FeatureDropout(.4, true)
		}},
	}...)
}

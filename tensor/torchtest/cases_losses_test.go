package torchtest

import (
	"maps"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

type (
	lossOptions = []nn.Option
	loss        = func(x, target T, options ...nn.Option) T
)

var _ = family("losses", losses())

func losses() cases {
	all := cases{
		"smooth_l1_loss beta 0": func(in []T) T { return nn.SmoothL1Loss(in[0], in[1], nn.Beta(0)) },

		"binary_cross_entropy bounds": func(in []T) T {
			return nn.BinaryCrossEntropy(in[0], in[1], nn.Reduction("none"))
		},
		"binary_cross_entropy_with_logits edges": func(in []T) T {
			return nn.BinaryCrossEntropyWithLogits(in[0], in[1], nn.Reduction("none"))
		},

		"margin_ranking_loss ties": func(in []T) T {
			return nn.MarginRankingLoss(in[0], in[1], tensor.OnesLike(in[0]), nn.Margin(0))
		},
		"hinge_embedding_loss other targets": func(in []T) T {
			return nn.HingeEmbeddingLoss(in[0], tensor.FromInts([]int{1, -1, 0, 2}), nn.Margin(1), nn.Reduction("none"))
		},
		"cosine_embedding_loss rows":   cosineEmbedding,
		"cosine_embedding_loss vector": cosineEmbedding,
		"cosine_embedding_loss zeros":  cosineEmbedding,
		"triplet_margin_loss p=1": func(in []T) T {
			return nn.TripletMarginLoss(in[0], in[1], in[2], nn.Margin(9), nn.P(1))
		},
		"triplet_margin_loss vector": func(in []T) T { return nn.TripletMarginLoss(in[0], in[1], in[2], nn.Margin(9)) },
		"triplet_margin_with_distance_loss": func(in []T) T {
			distance := func(x, y T) T { return x.Sub(y).Abs().Sum(1) }
			return nn.TripletMarginWithDistanceLoss(in[0], in[1], in[2], nn.DistanceFunction(distance), nn.Margin(9), nn.DistanceSwap())
		},

		"kl_div batchmean": func(in []T) T {
			return nn.KLDiv(in[0], in[1], nn.Reduction("batchmean"))
		},
		"kl_div zeros": func(in []T) T { return nn.KLDiv(in[0], in[1], nn.Reduction("none")) },
		"gaussian_nll_loss one variance a row": func(in []T) T {
			return nn.GaussianNLLLoss(in[0], in[1], in[2], nn.Eps(0.5))
		},
		"gaussian_nll_loss small variance": func(in []T) T {
			return nn.GaussianNLLLoss(in[0], in[1], in[2], nn.Eps(0.5))
		},
	}
	for op, f := range map[string]func(in []T, o lossOptions) T{
		"mse_loss":             func(in []T, o lossOptions) T { return nn.MSELoss(in[0], in[1], o...) },
		"l1_loss":              func(in []T, o lossOptions) T { return nn.L1Loss(in[0], in[1], o...) },
		"smooth_l1_loss":       func(in []T, o lossOptions) T { return nn.SmoothL1Loss(in[0], in[1], append(o, nn.Beta(1))...) },
		"huber_loss":           func(in []T, o lossOptions) T { return nn.HuberLoss(in[0], in[1], append(o, nn.Delta(1))...) },
		"binary_cross_entropy": func(in []T, o lossOptions) T { return nn.BinaryCrossEntropy(in[0], in[1], o...) },
		"binary_cross_entropy_with_logits": func(in []T, o lossOptions) T {
			return nn.BinaryCrossEntropyWithLogits(in[0], in[1], o...)
		},
		"margin_ranking_loss": func(in []T, o lossOptions) T {
			return nn.MarginRankingLoss(in[0], in[1], in[2], append(o, nn.Margin(0))...)
		},
		"hinge_embedding_loss": func(in []T, o lossOptions) T { return nn.HingeEmbeddingLoss(in[0], in[1], append(o, nn.Margin(1))...) },
		"kl_div":               func(in []T, o lossOptions) T { return nn.KLDiv(in[0], in[1], o...) },
		"poisson_nll_loss":     func(in []T, o lossOptions) T { return nn.PoissonNLLLoss(in[0], in[1], o...) },
	} {
		for _, shape := range []string{"scalar", "one", "empty", "3-D"} {
			all[op+" "+shape] = func(in []T) T { return f(in, lossOptions{}) }
		}
		maps.Copy(all, reductions(op, f))
	}
	for op, f := range map[string]func(in []T, o lossOptions) T{
		"smooth_l1_loss beta": func(in []T, o lossOptions) T { return nn.SmoothL1Loss(in[0], in[1], append(o, nn.Beta(0.3))...) },
		"huber_loss delta":    func(in []T, o lossOptions) T { return nn.HuberLoss(in[0], in[1], append(o, nn.Delta(0.3))...) },
		"binary_cross_entropy weight": func(in []T, o lossOptions) T {
			return nn.BinaryCrossEntropy(in[0], in[1], append(o, nn.Weight(in[2]))...)
		},
		"binary_cross_entropy_with_logits weight": func(in []T, o lossOptions) T {
			return nn.BinaryCrossEntropyWithLogits(in[0], in[1], append(o, nn.Weight(in[2]))...)
		},
		"binary_cross_entropy_with_logits pos_weight": func(in []T, o lossOptions) T {
			return nn.BinaryCrossEntropyWithLogits(in[0], in[1], append(o, nn.PosWeight(in[2]))...)
		},
		"binary_cross_entropy_with_logits both": func(in []T, o lossOptions) T {
			return nn.BinaryCrossEntropyWithLogits(in[0], in[1], append(o, nn.Weight(in[2]), nn.PosWeight(in[3]))...)
		},
		"soft_margin_loss":            func(in []T, o lossOptions) T { return nn.SoftMarginLoss(in[0], in[1], o...) },
		"multilabel_soft_margin_loss": func(in []T, o lossOptions) T { return nn.MultiLabelSoftMarginLoss(in[0], in[1], o...) },
		"multilabel_soft_margin_loss weight": func(in []T, o lossOptions) T {
			return nn.MultiLabelSoftMarginLoss(in[0], in[1], append(o, nn.Weight(in[2]))...)
		},
		"margin_ranking_loss margin": func(in []T, o lossOptions) T {
			return nn.MarginRankingLoss(in[0], in[1], in[2], append(o, nn.Margin(0.7))...)
		},
		"hinge_embedding_loss margin": func(in []T, o lossOptions) T {
			return nn.HingeEmbeddingLoss(in[0], in[1], append(o, nn.Margin(0.3))...)
		},
		"cosine_embedding_loss": func(in []T, o lossOptions) T {
			return nn.CosineEmbeddingLoss(in[0], in[1], in[2], append(o, nn.Margin(-0.5))...)
		},
		"triplet_margin_loss": func(in []T, o lossOptions) T {
			return nn.TripletMarginLoss(in[0], in[1], in[2], append(o, nn.Margin(1))...)
		},
		"triplet_margin_loss swap": func(in []T, o lossOptions) T {
			return nn.TripletMarginLoss(in[0], in[1], in[2], append(o, nn.P(3), nn.DistanceSwap(), nn.Margin(3))...)
		},
		"kl_div logarithms": func(in []T, o lossOptions) T {
			return nn.KLDiv(in[0], in[1], append(o, nn.LogTarget())...)
		},
		"poisson_nll_loss full": func(in []T, o lossOptions) T {
			return nn.PoissonNLLLoss(in[0], in[1], append(o, nn.FullLoss())...)
		},
		"poisson_nll_loss rates": func(in []T, o lossOptions) T {
			return nn.PoissonNLLLoss(in[0], in[1], append(o, nn.FullLoss(), nn.LogInput(false))...)
		},
		"gaussian_nll_loss": func(in []T, o lossOptions) T { return nn.GaussianNLLLoss(in[0], in[1], in[2], o...) },
	} {
		maps.Copy(all, reductions(op, f))
	}
	all["gaussian_nll_loss sum"] = func(in []T) T {
		return nn.GaussianNLLLoss(in[0], in[1], in[2], nn.FullLoss(), nn.Reduction("sum"))
	}
	edges := func(f loss) func([]T) T {
		return func(in []T) T {
			return f(in[0].Select(0, 0), in[0].Select(0, 1), nn.Reduction("none"))
		}
	}
	for op, f := range map[string]func(in []T, o lossOptions) T{
		"nll_loss":             func(in []T, o lossOptions) T { return nn.NLLLoss(in[0], in[1], o...) },
		"nll_loss2d":           weighted(nn.NLLLoss),
		"cross_entropy planes": smooth(0.1, weighted(nn.CrossEntropy)),
		"nll_loss weight": func(in []T, o lossOptions) T {
			return weighted(nn.NLLLoss)(in, append(o, nn.IgnoreIndex(2)))
		},
		"cross_entropy": func(in []T, o lossOptions) T { return nn.CrossEntropy(in[0], in[1], o...) },
		"cross_entropy weight": func(in []T, o lossOptions) T {
			return weighted(nn.CrossEntropy)(in, append(o, nn.IgnoreIndex(2)))
		},
		"cross_entropy smooth":               smooth(0.2, func(in []T, o lossOptions) T { return nn.CrossEntropy(in[0], in[1], o...) }),
		"cross_entropy smooth weight":        smooth(0.2, weighted(nn.CrossEntropy)),
		"cross_entropy probabilities":        func(in []T, o lossOptions) T { return nn.CrossEntropy(in[0], in[1].Softmax(1), o...) },
		"cross_entropy probabilities weight": smooth(0.3, weighted(func(x, y T, o ...nn.Option) T { return nn.CrossEntropy(x, y.Softmax(1), o...) })),
		"multi_margin_loss":                  func(in []T, o lossOptions) T { return nn.MultiMarginLoss(in[0], in[1], append(o, nn.Margin(1))...) },
		"multi_margin_loss weight": weighted(func(x, y T, o ...nn.Option) T {
			return nn.MultiMarginLoss(x, y, append(o, nn.P(2), nn.Margin(0.5))...)
		}),
		"multilabel_margin_loss": func(in []T, o lossOptions) T { return nn.MultiLabelMarginLoss(in[0], in[1], o...) },
	} {
		maps.Copy(all, reductions(op, f))
	}
	for _, name := range []string{"vector", "3-D", "no rows"} {
		all["nll_loss "+name] = func(in []T) T { return nn.NLLLoss(in[0], in[1]) }
	}
	for _, name := range []string{"all ignored", "infinite"} {
		all["nll_loss "+name] = func(in []T) T { return nn.NLLLoss(in[0], in[1], nn.Reduction("sum")) }
	}
	maps.Copy(all, cases{
		"nll_loss vector none": func(in []T) T { return nn.NLLLoss(in[0], in[1], nn.Reduction("none")) },
		"cross_entropy vector": func(in []T) T { return nn.CrossEntropy(in[0], in[1], nn.LabelSmoothing(0.1)) },
		"cross_entropy vector of probabilities": func(in []T) T {
			return nn.CrossEntropy(in[0], in[1].Softmax(0))
		},
		"cross_entropy large": func(in []T) T {
			return nn.CrossEntropy(in[0], in[1], nn.Reduction("none"))
		},
		"multi_margin_loss vector":      func(in []T) T { return nn.MultiMarginLoss(in[0], in[1], nn.Margin(1)) },
		"multilabel_margin_loss vector": func(in []T) T { return nn.MultiLabelMarginLoss(in[0], in[1]) },
	})
	for name, p := range map[string]float64{
		"": 0.1, " half": 0.5, " most": 0.9, " all": 1, " none": 0, " scalar": 0.4, " empty": 0.4, " long": 0.3, " infinite": 0.5,
	} {
		all["dropout"+name] = seeded(func(x T) T { return tensor.Dropout(x, p, true) })
	}
	all["dropout not in training"] = seeded(func(x T) T { return tensor.Dropout(x, 0.4, false) })
	for _, name := range []string{"rows", "planes", "volumes"} {
		all["feature_dropout "+name] = seeded(func(x T) T { return tensor.FeatureDropout(x, 0.4, true) })
	}
	all["alpha_dropout"] = seeded(func(x T) T { return tensor.AlphaDropout(x, 0.3, true) })
	all["alpha_dropout features"] = seeded(func(x T) T { return tensor.FeatureAlphaDropout(x, 0.3, true) })
	all["mse_loss edges"] = edges(nn.MSELoss)
	all["l1_loss edges"] = edges(nn.L1Loss)
	all["smooth_l1_loss edges"] = edges(nn.SmoothL1Loss)
	all["huber_loss edges"] = edges(nn.HuberLoss)
	return all
}

func cosineEmbedding(in []T) T { return nn.CosineEmbeddingLoss(in[0], in[1], in[2], nn.Margin(0)) }

// reductions are the cases of a loss with each reduction.
func reductions(op string, f func(in []T, o lossOptions) T) cases {
	c := cases{}
	for _, r := range []string{"mean", "sum", "none"} {
		c[op+" "+r] = func(in []T) T { return f(in, lossOptions{nn.Reduction(r)}) }
	}
	return c
}

// weighted uses the third operand as class weights.
func weighted(f loss) func(in []T, o lossOptions) T {
	return func(in []T, o lossOptions) T { return f(in[0], in[1], append(o, nn.Weight(in[2]))...) }
}

func smooth(fraction float64, f func(in []T, o lossOptions) T) func(in []T, o lossOptions) T {
	return func(in []T, o lossOptions) T {
		return f(in, append(o, nn.LabelSmoothing(fraction)))
	}
}

// seeded is the function of that name in cases_losses.py.
func seeded(f func(x T) T) func(in []T) T {
	return func(in []T) T {
		tensor.ManualSeed(7)
		return f(in[0].Contiguous()) // the fixtures' operands are row-major; masks follow the layout
	}
}

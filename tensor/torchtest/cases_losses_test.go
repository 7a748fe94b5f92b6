package torchtest

import (
	"maps"

	"halfnote/tensor"
)

type lossOptions = tensor.LossOptions

var _ = family("losses", losses())

func losses() cases {
	all := cases{
		"smooth_l1_loss beta 0": func(in []T) T { return in[0].SmoothL1Loss(in[1], 0, lossOptions{}) },

		"binary_cross_entropy bounds": func(in []T) T {
			return in[0].BinaryCrossEntropy(in[1], lossOptions{Reduction: tensor.ReduceNone})
		},
		"binary_cross_entropy_with_logits edges": func(in []T) T {
			return in[0].BinaryCrossEntropyWithLogits(in[1], lossOptions{Reduction: tensor.ReduceNone})
		},

		"margin_ranking_loss ties": func(in []T) T {
			return in[0].MarginRankingLoss(in[1], tensor.OnesLike(in[0]), 0, lossOptions{})
		},
		"hinge_embedding_loss other targets": func(in []T) T {
			return in[0].HingeEmbeddingLoss(tensor.FromInts([]int{1, -1, 0, 2}), 1, lossOptions{Reduction: tensor.ReduceNone})
		},
		"cosine_embedding_loss rows":   cosineEmbedding,
		"cosine_embedding_loss vector": cosineEmbedding,
		"cosine_embedding_loss zeros":  cosineEmbedding,
		"triplet_margin_loss p=1": func(in []T) T {
			return in[0].TripletMarginLoss(in[1], in[2], 9, lossOptions{P: 1})
		},
		"triplet_margin_loss vector": func(in []T) T { return in[0].TripletMarginLoss(in[1], in[2], 9, lossOptions{}) },
		"triplet_margin_with_distance_loss": func(in []T) T {
			distance := func(x, y T) T { return x.Sub(y).Abs().Sum(1) }
			return in[0].TripletMarginWithDistanceLoss(in[1], in[2], distance, 9, lossOptions{Swap: true})
		},

		"kl_div batchmean": func(in []T) T {
			return in[0].KLDivLoss(in[1], lossOptions{Reduction: tensor.ReduceBatchMean})
		},
		"kl_div zeros": func(in []T) T { return in[0].KLDivLoss(in[1], lossOptions{Reduction: tensor.ReduceNone}) },
		"gaussian_nll_loss one variance a row": func(in []T) T {
			return in[0].GaussianNLLLoss(in[1], in[2], lossOptions{Eps: 0.5})
		},
		"gaussian_nll_loss small variance": func(in []T) T {
			return in[0].GaussianNLLLoss(in[1], in[2], lossOptions{Eps: 0.5})
		},
	}
	for op, f := range map[string]func(in []T, o lossOptions) T{
		"mse_loss":             func(in []T, o lossOptions) T { return in[0].MSELossWith(in[1], o) },
		"l1_loss":              func(in []T, o lossOptions) T { return in[0].L1LossWith(in[1], o) },
		"smooth_l1_loss":       func(in []T, o lossOptions) T { return in[0].SmoothL1Loss(in[1], 1, o) },
		"huber_loss":           func(in []T, o lossOptions) T { return in[0].HuberLoss(in[1], 1, o) },
		"binary_cross_entropy": func(in []T, o lossOptions) T { return in[0].BinaryCrossEntropy(in[1], o) },
		"binary_cross_entropy_with_logits": func(in []T, o lossOptions) T {
			return in[0].BinaryCrossEntropyWithLogits(in[1], o)
		},
		"margin_ranking_loss":  func(in []T, o lossOptions) T { return in[0].MarginRankingLoss(in[1], in[2], 0, o) },
		"hinge_embedding_loss": func(in []T, o lossOptions) T { return in[0].HingeEmbeddingLoss(in[1], 1, o) },
		"kl_div":               func(in []T, o lossOptions) T { return in[0].KLDivLoss(in[1], o) },
		"poisson_nll_loss":     func(in []T, o lossOptions) T { return in[0].PoissonNLLLoss(in[1], o) },
	} {
		for _, shape := range []string{"scalar", "one", "empty", "3-D"} {
			all[op+" "+shape] = func(in []T) T { return f(in, lossOptions{}) }
		}
		maps.Copy(all, reductions(op, f))
	}
	for op, f := range map[string]func(in []T, o lossOptions) T{
		"smooth_l1_loss beta": func(in []T, o lossOptions) T { return in[0].SmoothL1Loss(in[1], 0.3, o) },
		"huber_loss delta":    func(in []T, o lossOptions) T { return in[0].HuberLoss(in[1], 0.3, o) },
		"binary_cross_entropy weight": func(in []T, o lossOptions) T {
			o.Weight = in[2]
			return in[0].BinaryCrossEntropy(in[1], o)
		},
		"binary_cross_entropy_with_logits weight": func(in []T, o lossOptions) T {
			o.Weight = in[2]
			return in[0].BinaryCrossEntropyWithLogits(in[1], o)
		},
		"binary_cross_entropy_with_logits pos_weight": func(in []T, o lossOptions) T {
			o.PosWeight = in[2]
			return in[0].BinaryCrossEntropyWithLogits(in[1], o)
		},
		"binary_cross_entropy_with_logits both": func(in []T, o lossOptions) T {
			o.Weight, o.PosWeight = in[2], in[3]
			return in[0].BinaryCrossEntropyWithLogits(in[1], o)
		},
		"soft_margin_loss":            func(in []T, o lossOptions) T { return in[0].SoftMarginLoss(in[1], o) },
		"multilabel_soft_margin_loss": func(in []T, o lossOptions) T { return in[0].MultilabelSoftMarginLoss(in[1], o) },
		"multilabel_soft_margin_loss weight": func(in []T, o lossOptions) T {
			o.Weight = in[2]
			return in[0].MultilabelSoftMarginLoss(in[1], o)
		},
		"margin_ranking_loss margin":  func(in []T, o lossOptions) T { return in[0].MarginRankingLoss(in[1], in[2], 0.7, o) },
		"hinge_embedding_loss margin": func(in []T, o lossOptions) T { return in[0].HingeEmbeddingLoss(in[1], 0.3, o) },
		"cosine_embedding_loss": func(in []T, o lossOptions) T {
			return in[0].CosineEmbeddingLoss(in[1], in[2], -0.5, o)
		},
		"triplet_margin_loss": func(in []T, o lossOptions) T { return in[0].TripletMarginLoss(in[1], in[2], 1, o) },
		"triplet_margin_loss swap": func(in []T, o lossOptions) T {
			o.P, o.Swap = 3, true
			return in[0].TripletMarginLoss(in[1], in[2], 3, o)
		},
		"kl_div logarithms": func(in []T, o lossOptions) T {
			o.LogTarget = true
			return in[0].KLDivLoss(in[1], o)
		},
		"poisson_nll_loss full": func(in []T, o lossOptions) T {
			o.Full = true
			return in[0].PoissonNLLLoss(in[1], o)
		},
		"poisson_nll_loss rates": func(in []T, o lossOptions) T {
			o.Full, o.Rates = true, true
			return in[0].PoissonNLLLoss(in[1], o)
		},
		"gaussian_nll_loss": func(in []T, o lossOptions) T {
			o.Full = o.Reduction == tensor.ReduceSum
			return in[0].GaussianNLLLoss(in[1], in[2], o)
		},
	} {
		maps.Copy(all, reductions(op, f))
	}
	edges := func(f func(x, y T, o lossOptions) T) func([]T) T {
		return func(in []T) T {
			return f(in[0].Select(0, 0), in[0].Select(0, 1), lossOptions{Reduction: tensor.ReduceNone})
		}
	}
	for op, f := range map[string]func(in []T, o lossOptions) T{
		"nll_loss":             func(in []T, o lossOptions) T { return in[0].NLLLoss(in[1], o) },
		"nll_loss2d":           weighted(T.NLLLoss),
		"cross_entropy planes": smooth(0.1, weighted(T.CrossEntropy)),
		"nll_loss weight": func(in []T, o lossOptions) T {
			o.IgnoreIndex = []int{2}
			return weighted(T.NLLLoss)(in, o)
		},
		"cross_entropy": func(in []T, o lossOptions) T { return in[0].CrossEntropy(in[1], o) },
		"cross_entropy weight": func(in []T, o lossOptions) T {
			o.IgnoreIndex = []int{2}
			return weighted(T.CrossEntropy)(in, o)
		},
		"cross_entropy smooth":               smooth(0.2, func(in []T, o lossOptions) T { return in[0].CrossEntropy(in[1], o) }),
		"cross_entropy smooth weight":        smooth(0.2, weighted(T.CrossEntropy)),
		"cross_entropy probabilities":        func(in []T, o lossOptions) T { return in[0].CrossEntropy(in[1].Softmax(1), o) },
		"cross_entropy probabilities weight": smooth(0.3, weighted(func(x, y T, o lossOptions) T { return x.CrossEntropy(y.Softmax(1), o) })),
		"multi_margin_loss":                  func(in []T, o lossOptions) T { return in[0].MultiMarginLoss(in[1], 1, o) },
		"multi_margin_loss weight": weighted(func(x, y T, o lossOptions) T {
			o.P = 2
			return x.MultiMarginLoss(y, 0.5, o)
		}),
		"multilabel_margin_loss": func(in []T, o lossOptions) T { return in[0].MultilabelMarginLoss(in[1], o) },
	} {
		maps.Copy(all, reductions(op, f))
	}
	for _, name := range []string{"vector", "3-D", "no rows"} {
		all["nll_loss "+name] = func(in []T) T { return in[0].NLLLoss(in[1], lossOptions{}) }
	}
	for _, name := range []string{"all ignored", "infinite"} {
		all["nll_loss "+name] = func(in []T) T { return in[0].NLLLoss(in[1], lossOptions{Reduction: tensor.ReduceSum}) }
	}
	maps.Copy(all, cases{
		"nll_loss vector none": func(in []T) T { return in[0].NLLLoss(in[1], lossOptions{Reduction: tensor.ReduceNone}) },
		"cross_entropy vector": func(in []T) T { return in[0].CrossEntropy(in[1], lossOptions{LabelSmoothing: 0.1}) },
		"cross_entropy vector of probabilities": func(in []T) T {
			return in[0].CrossEntropy(in[1].Softmax(0), lossOptions{})
		},
		"cross_entropy large": func(in []T) T {
			return in[0].CrossEntropy(in[1], lossOptions{Reduction: tensor.ReduceNone})
		},
		"multi_margin_loss vector":      func(in []T) T { return in[0].MultiMarginLoss(in[1], 1, lossOptions{}) },
		"multilabel_margin_loss vector": func(in []T) T { return in[0].MultilabelMarginLoss(in[1], lossOptions{}) },
	})
	for name, p := range map[string]float64{
		"": 0.1, " half": 0.5, " most": 0.9, " all": 1, " none": 0, " scalar": 0.4, " empty": 0.4, " long": 0.3, " infinite": 0.5,
	} {
		all["dropout"+name] = seeded(func(x T) T { return x.Dropout(p, true) })
	}
	all["dropout not in training"] = seeded(func(x T) T { return x.Dropout(0.4, false) })
	for _, name := range []string{"rows", "planes", "volumes"} {
		all["feature_dropout "+name] = seeded(func(x T) T { return x.FeatureDropout(0.4, true) })
	}
	all["alpha_dropout"] = seeded(func(x T) T { return x.AlphaDropout(0.3, true) })
	all["alpha_dropout features"] = seeded(func(x T) T { return x.FeatureAlphaDropout(0.3, true) })
	all["mse_loss edges"] = edges(T.MSELossWith)
	all["l1_loss edges"] = edges(T.L1LossWith)
	all["smooth_l1_loss edges"] = edges(func(x, y T, o lossOptions) T { return x.SmoothL1Loss(y, 1, o) })
	all["huber_loss edges"] = edges(func(x, y T, o lossOptions) T { return x.HuberLoss(y, 1, o) })
	return all
}

func cosineEmbedding(in []T) T { return in[0].CosineEmbeddingLoss(in[1], in[2], 0, lossOptions{}) }

// reductions are the cases of a loss with each reduction.
func reductions(op string, f func(in []T, o lossOptions) T) cases {
	c := cases{}
	for _, r := range []tensor.Reduction{tensor.ReduceMean, tensor.ReduceSum, tensor.ReduceNone} {
		c[op+" "+r.String()] = func(in []T) T { return f(in, lossOptions{Reduction: r}) }
	}
	return c
}

// weighted uses the third operand as class weights.
func weighted(f func(x, y T, o lossOptions) T) func(in []T, o lossOptions) T {
	return func(in []T, o lossOptions) T {
		o.Weight = in[2]
		return f(in[0], in[1], o)
	}
}

func smooth(share float64, f func(in []T, o lossOptions) T) func(in []T, o lossOptions) T {
	return func(in []T, o lossOptions) T {
		o.LabelSmoothing = share
		return f(in, o)
	}
}

// seeded is the function of that name in cases_losses.py.
func seeded(f func(x T) T) func(in []T) T {
	return func(in []T) T {
		tensor.ManualSeed(7)
		return f(in[0].Contiguous()) // the fixtures' operands are row-major; masks follow the layout
	}
}

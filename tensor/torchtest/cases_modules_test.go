package torchtest

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("modules", modules())

// module is the case of a module with one input. It draws from the seed of
// cases_modules.py.
func module(make func() nn.Module) func([]T) T {
	return func(in []T) T {
		m := make()
		tensor.ManualSeed(19)
		return m.Forward(in[0].Contiguous())
	}
}

func modules() cases {
	all := cases{}
	for name, m := range map[string]func() nn.Module{
		"Flatten":        func() nn.Module { return nn.NewFlatten(0, 1) },
		"Unflatten":      func() nn.Module { return nn.NewUnflatten(1, 2, -1) },
		"Softmax2d":      func() nn.Module { return nn.NewSoftmax2d() },
		"RReLU training": func() nn.Module { return nn.NewRReLU(0.1, 0.4) },
		"RReLU": func() nn.Module {
			m := nn.NewRReLU(0.1, 0.4)
			nn.Eval(m)
			return m
		},
		"UpsamplingNearest2d": func() nn.Module {
			return nn.NewUpsamplingNearest2d(nn.ScaleFactor(2))
		},
		"UpsamplingBilinear2d": func() nn.Module { return nn.NewUpsamplingBilinear2d(nn.Size(4, 5)) },
		"LPPool1d":             func() nn.Module { return nn.NewLPPool1d(2, 3, nn.Stride(2)) },
		"LPPool2d":             func() nn.Module { return nn.NewLPPool2d(1.5, 2, nn.KernelSize(2, 3)) },
		"LPPool3d":             func() nn.Module { return nn.NewLPPool3d(3, 2, nn.Stride(1)) },
		"LPPool3d single":      func() nn.Module { return nn.NewLPPool3d(2, 2) },
		"FractionalMaxPool2d":  func() nn.Module { return nn.NewFractionalMaxPool2d(2, nn.OutputSize(4)) },
		"FractionalMaxPool2d ratio": func() nn.Module {
			return nn.NewFractionalMaxPool2d(3, nn.KernelSize(3, 2), nn.OutputRatio(0.5, 0.6))
		},
		"FractionalMaxPool2d single": func() nn.Module { return nn.NewFractionalMaxPool2d(2, nn.OutputSize(3, 1)) },
		"FractionalMaxPool3d":        func() nn.Module { return nn.NewFractionalMaxPool3d(2, nn.OutputSize(3)) },
		"FractionalMaxPool3d ratio": func() nn.Module {
			return nn.NewFractionalMaxPool3d(2, nn.KernelSize(2, 1, 3), nn.OutputRatio(0.5, 0.6, 0.7))
		},
	} {
		all[name] = module(m)
	}
	all["Softmax2d single"] = all["Softmax2d"]
	pair := func(m *nn.Pair) func([]T) T { return func(in []T) T { return m.Forward(in[0], in[1]) } }
	all["CosineSimilarity"] = pair(nn.NewCosineSimilarity())
	all["CosineSimilarity dim"] = pair(nn.NewCosineSimilarity(nn.Dim(0), nn.Eps(0.5)))
	all["PairwiseDistance"] = pair(nn.NewPairwiseDistance())
	all["PairwiseDistance keep"] = pair(nn.NewPairwiseDistance(nn.P(1), nn.Eps(0.25), nn.KeepDim()))
	triplet := func(form string, options ...nn.Option) {
		all["TripletMarginWithDistanceLoss"+form] = func(in []T) T {
			return nn.TripletMarginWithDistanceLoss(in[0], in[1], in[2], options...)
		}
	}
	triplet("")
	triplet(" swap", nn.DistanceSwap())
	triplet(" sum", nn.Reduction("sum"))
	triplet(" own", nn.Margin(2), nn.Reduction("none"), nn.DistanceFunction(func(x, y T) T { return x.Sub(y).Abs().Amax(-1) }))
	addUnpools(all)
	addFractional(all)
	for name, options := range map[string][]nn.Option{
		"": nil, " tau": {nn.Tau(0.4)}, " dim": {nn.Dim(0)}, " hard": {nn.Hard()}, " hard dim": {nn.Hard(), nn.Tau(2), nn.Dim(0)},
	} {
		all["GumbelSoftmax"+name] = func(in []T) T {
			tensor.ManualSeed(19)
			return nn.GumbelSoftmax(in[0], options...)
		}
	}
	addAdaptive(all)
	addLinearCrossEntropy(all)
	addParametrized(all)
	return all
}

func addUnpools(all cases) {
	for name, c := range map[string]struct {
		pool   *nn.MaxPool
		unpool *nn.MaxUnpool
		size   []int
	}{
		"MaxUnpool1d":        {nn.NewMaxPool1d(2), nn.NewMaxUnpool1d(2), nil},
		"MaxUnpool1d size":   {nn.NewMaxPool1d(2), nn.NewMaxUnpool1d(2), []int{7}},
		"MaxUnpool2d":        {nn.NewMaxPool2d(2), nn.NewMaxUnpool2d(2, nn.Stride(2, 2)), nil},
		"MaxUnpool2d single": {nn.NewMaxPool2d(2), nn.NewMaxUnpool2d(2), nil},
		"MaxUnpool2d overlap": {
			nn.NewMaxPool2d(3, nn.KernelSize(3, 2), nn.Stride(2), nn.Padding(1, 0)),
			nn.NewMaxUnpool2d(3, nn.KernelSize(3, 2), nn.Stride(2), nn.Padding(1, 0)), []int{1, 2, 7, 6},
		},
		"MaxUnpool3d": {nn.NewMaxPool3d(1, nn.KernelSize(1, 2, 2)), nn.NewMaxUnpool3d(1, nn.KernelSize(1, 2, 2)), nil},
	} {
		all[name] = func(in []T) T {
			_, where := c.pool.ForwardIndices(in[1])
			return c.unpool.Forward(in[0], where, c.size...)
		}
	}
}

func addFractional(all cases) {
	indexed := func(name string, make func(samples nn.Option) *nn.FractionalMaxPool) {
		all[name] = func(in []T) T {
			y, where := make(nn.RandomSamples(in[1])).ForwardIndices(in[0])
			return flat(y, where.To(y.DType()))
		}
	}
	indexed("FractionalMaxPool2d indices", func(u nn.Option) *nn.FractionalMaxPool {
		return nn.NewFractionalMaxPool2d(2, nn.OutputSize(3, 4), u)
	})
	for _, form := range []string{"ties", "NaN"} {
		indexed("FractionalMaxPool2d "+form, func(u nn.Option) *nn.FractionalMaxPool {
			return nn.NewFractionalMaxPool2d(3, nn.OutputSize(2, 3), u)
		})
	}
	indexed("FractionalMaxPool3d indices", func(u nn.Option) *nn.FractionalMaxPool {
		return nn.NewFractionalMaxPool3d(2, nn.OutputSize(2, 3, 4), u)
	})
}

func addAdaptive(all cases) {
	large := func(options ...nn.Option) *nn.AdaptiveLogSoftmaxWithLoss {
		return nn.NewAdaptiveLogSoftmaxWithLoss(8, 12, []int{3, 7}, append(options, nn.DivValue(2))...)
	}
	add := func(form string, make func() *nn.AdaptiveLogSoftmaxWithLoss, f func(a *nn.AdaptiveLogSoftmaxWithLoss, in []T) T) {
		all["AdaptiveLogSoftmaxWithLoss"+form] = func(in []T) T {
			a := make()
			return f(a, adopt(a, in))
		}
	}
	run := func(a *nn.AdaptiveLogSoftmaxWithLoss, in []T) T { return flat(a.ForwardLoss(in[0], in[1])) }
	plain := func() *nn.AdaptiveLogSoftmaxWithLoss { return large() }
	add("", plain, run)
	add(" bias", func() *nn.AdaptiveLogSoftmaxWithLoss { return large(nn.HeadBias()) }, run)
	add(" single", func() *nn.AdaptiveLogSoftmaxWithLoss { return nn.NewAdaptiveLogSoftmaxWithLoss(8, 12, []int{4}) }, run)
	add(" log_prob", plain, func(a *nn.AdaptiveLogSoftmaxWithLoss, in []T) T { return a.Forward(in[0]) })
	add(" predict", plain, func(a *nn.AdaptiveLogSoftmaxWithLoss, in []T) T { return a.Predict(in[0]) })
}

func addLinearCrossEntropy(all cases) {
	add := func(form string, options ...nn.Option) {
		all["LinearCrossEntropyLoss"+form] = func(in []T) T {
			l := nn.NewLinearCrossEntropyLoss(5, 3, options...)
			in = adopt(l, in)
			return l.Forward(in[0], in[1])
		}
	}
	places := nn.OutFeatures(2)
	add("")
	add(" options", places, nn.Bias(true), nn.LabelSmoothing(0.1), nn.Reduction("none"), nn.IgnoreIndex(1))
	add(" probabilities", places, nn.Reduction("sum"))
	all["LinearCrossEntropy"] = func(in []T) T {
		return nn.LinearCrossEntropy(in[0], in[1], in[2], nn.LinearBias(in[3]), nn.Weight(in[4]))
	}
	all["LinearCrossEntropy single"] = func(in []T) T { return nn.LinearCrossEntropy(in[0], in[1], in[2]) }
}

func addParametrized(all cases) {
	linear := func() nn.Module { return nn.NewLinear(4, 3) }
	conv := func() nn.Module { return nn.NewConv2d(3, 2, 3) }
	bias := nn.TensorName("bias")
	for name, c := range map[string]struct {
		module func() nn.Module
		norm   func(nn.Module, ...nn.Option) *nn.Parametrized
		option []nn.Option
	}{
		"WeightNorm": {linear, nn.WeightNorm, nil}, "WeightNorm dim": {linear, nn.WeightNorm, []nn.Option{nn.Dim(1)}},
		"WeightNorm whole":       {linear, nn.WeightNorm, []nn.Option{nn.NormOfWhole()}},
		"WeightNorm convolution": {conv, nn.WeightNorm, nil}, "WeightNorm bias": {linear, nn.WeightNorm, []nn.Option{bias, nn.NormOfWhole()}},
		"WeightNorm written out": {linear, nn.WeightNorm, nil}, "WeightNorm written out convolution": {conv, nn.WeightNorm, nil},
		"SpectralNorm": {linear, nn.SpectralNorm, nil}, "SpectralNorm in use": {linear, nn.SpectralNorm, nil},
		"SpectralNorm steps":       {linear, nn.SpectralNorm, []nn.Option{nn.NPowerIterations(3), nn.Dim(1)}},
		"SpectralNorm convolution": {conv, nn.SpectralNorm, nil}, "SpectralNorm bias": {linear, nn.SpectralNorm, []nn.Option{bias}},
		"SpectralNorm transposed": {func() nn.Module { return nn.NewConvTranspose2d(3, 2, 3) }, nn.SpectralNorm, nil},
	} {
		all[name] = func(in []T) T {
			tensor.ManualSeed(19)
			m := c.norm(c.module(), c.option...)
			nn.ToDType(m, in[0].DType())
			adopt(m, in)
			if name != "SpectralNorm in use" {
				nn.Train(m)
			}
			if name == "SpectralNorm" || name == "SpectralNorm in use" {
				return flat(m.Forward(in[0]), m.Forward(in[0]))
			}
			return m.Forward(in[0])
		}
	}
}

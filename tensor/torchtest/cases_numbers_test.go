package torchtest

import (
	"fmt"
	"math"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("numbers", numbers())

func numbers() cases {
	all := cases{
		"lp_pool1d zeros": lpPool(1, 2, []int{2}, poolOptions{nn.CeilMode()}),
		"lp_pool2d sizes": lpPool(2, 2, []int{2, 3}, poolOptions{nn.CeilMode()}),
		"cross_entropy vector": func(in []T) T {
			return nn.CrossEntropy(in[0], in[1], nn.Weight(in[2]))
		},
		"embedding_bag weight": func(in []T) T {
			return tensor.EmbeddingBag(tensor.FromInts([]int{0, 2, 1, 1}, 2, 2), in[0], tensor.EmbeddingBagOptions{Mode: "sum", Weights: in[1]})
		},
		"gaussian_nll_loss variance": func(in []T) T {
			return nn.GaussianNLLLoss(in[0], in[1], in[2], nn.FullLoss())
		},
	}
	options := map[string]poolOptions{"": {}, " ceil": {nn.CeilMode()}, " ceil stride": {nn.CeilMode(), nn.Stride(3)}, " stride": {nn.Stride(1)}}
	for d := 1; d <= 3; d++ {
		for name, p := range map[string]float64{"1": 1, "2": 2, "3": 3, "-1.5": -1.5, "inf": math.Inf(1), "-inf": math.Inf(-1)} {
			for what, o := range options {
				all[fmt.Sprintf("lp_pool%dd %s%s", d, name, what)] = lpPool(d, p, []int{4}, o)
			}
		}
		f := lpPool(d, 3, []int{2}, poolOptions{nn.CeilMode()})
		all[fmt.Sprintf("lp_pool%dd signs", d)] = func(in []T) T { return f(in).NanToNum() }
	}
	for _, r := range []string{"mean", "sum", "none"} {
		all["cross_entropy weight "+r] = func(in []T) T {
			return nn.CrossEntropy(in[0], in[1], nn.Weight(in[2]), nn.Reduction(r))
		}
		all["cross_entropy smooth "+r] = func(in []T) T {
			return nn.CrossEntropy(in[0], in[1], nn.Weight(in[2]), nn.Reduction(r), nn.LabelSmoothing(0.2))
		}
		all["multilabel_soft_margin_loss weight "+r] = func(in []T) T {
			return nn.MultiLabelSoftMarginLoss(in[0], in[1], nn.Weight(in[2]), nn.Reduction(r))
		}
		all["multilabel_margin_loss "+r] = func(in []T) T {
			targets := []int{1, 3, -1, 0, 0, -1, 2, 2, -1, 0, 0, 0, 3, 2, 1, 0, 2, 2, -1, 0}
			return nn.MultiLabelMarginLoss(in[0], tensor.FromInts(targets, 5, 4), nn.Reduction(r))
		}
	}
	for name, p := range map[string]float64{"0": 0, "0.5": 0.5, "1": 1, "1.5": 1.5, "2": 2, "3": 3, "inf": math.Inf(1)} {
		all["cdist "+name+" blocks"] = func(in []T) T {
			return in[0].CDist(in[1], p).SliceStep(1, 0, 300, 37).SliceStep(2, 0, 250, 31)
		}
		all["pdist "+name+" blocks"] = func(in []T) T { return in[0].PDist(p).SliceStep(0, 0, 1770, 53) }
	}
	return all
}

func lpPool(dims int, p float64, size []int, o poolOptions) func(in []T) T {
	return func(in []T) T {
		return [...]func(T, float64, int, ...nn.Option) T{nn.LPPool1d, nn.LPPool2d, nn.LPPool3d}[dims-1](in[0], p, 0, append(o, nn.KernelSize(size...))...)
	}
}

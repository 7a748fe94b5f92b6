package torchtest

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("sample", sample())

func maxPool(d int, size []int, o poolOptions) func(in []T) T {
	f := [...]func(x T, size int, o ...nn.Option) T{1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}[d]
	return func(in []T) T { return f(in[0], 0, append(o, nn.KernelSize(size...))...) }
}

func maxPoolIndices(d int, size []int, o poolOptions) func(in []T) T {
	f := [...]func(x T, size int, o ...nn.Option) (T, T){1: nn.MaxPool1dWithIndices, 2: nn.MaxPool2dWithIndices, 3: nn.MaxPool3dWithIndices}[d]
	return func(in []T) T {
		_, indices := f(in[0], 0, append(o, nn.KernelSize(size...))...)
		return indices
	}
}

func resized(o tensor.InterpolateOptions) func(in []T) T {
	return func(in []T) T { return in[0].Interpolate(o) }
}

func sampled(o tensor.GridSampleOptions) func(in []T) T {
	return func(in []T) T { return in[0].GridSample(in[1], o) }
}

func affineGrid(corners bool, sizes ...int) func(in []T) T {
	return func(in []T) T { return in[0].AffineGrid(sizes, corners) }
}

func sample() cases {
	two, three := []int{2}, []int{3}
	window := convOptions{Stride: []int{2, 1}, Padding: []int{1, 0}, Dilation: []int{1, 2}}
	all := cases{
		"max_pool2d ties":           maxPool(2, two, poolOptions{}),
		"max_pool2d border of -inf": maxPoolIndices(2, three, poolOptions{nn.Stride(1), nn.Padding(1)}),
		"max_pool2d nan":            maxPool(2, two, poolOptions{}),
		"max_unpool2d": func(in []T) T {
			return nn.MaxUnpool2d(in[0], tensor.FromInts([]int{0, 3, 8, 11}, 1, 2, 2), 2, nn.OutputSize(3, 4))
		},
		"im2col":     func(in []T) T { return in[0].Im2Col([]int{2, 3}, window) },
		"col2im":     func(in []T) T { return in[0].Col2Im([]int{5, 6}, []int{2, 3}, window) },
		"unfold":     func(in []T) T { return in[0].Unfold(1, 3, 2).Pow(2) },
		"unfold all": func(in []T) T { return in[0].Unfold(0, 4, 1).Pow(2) },

		"upsample factor recomputed": resized(tensor.InterpolateOptions{ScaleFactor: []float64{1.7}, Mode: "linear", Recompute: true}),
		"upsample bicubic":           resized(tensor.InterpolateOptions{Size: []int{7, 3}, Mode: "bicubic"}),
		"upsample bicubic corners":   resized(tensor.InterpolateOptions{Size: []int{7, 3}, Mode: "bicubic", AlignCorners: true}),
		"upsample area":              resized(tensor.InterpolateOptions{Size: []int{3, 2}, Mode: "area"}),

		"affine_grid":         affineGrid(false, 2, 1, 3, 4),
		"affine_grid corners": affineGrid(true, 2, 1, 3, 4),
		"affine_grid 3-D":     affineGrid(false, 1, 1, 2, 3, 4),

		"pixel_shuffle":   func(in []T) T { return in[0].PixelShuffle(2).Pow(2) },
		"pixel_unshuffle": func(in []T) T { return in[0].PixelUnshuffle(2).Pow(2) },
		"channel_shuffle": func(in []T) T { return in[0].ChannelShuffle(3).Pow(2) },
		"local_response_norm": func(in []T) T {
			return nn.LocalResponseNorm(in[0], 3, nn.Alpha(0.5), nn.K(2))
		},
	}
	for d := 1; d <= 3; d++ {
		name := fmt.Sprintf("max_pool%dd", d)
		all[name] = maxPool(d, two, poolOptions{})
		all[name+" stride padding dilation"] = maxPool(d, two, poolOptions{nn.Stride(1), nn.Padding(1), nn.Dilation(two...)})
		all[name+" ceil"] = maxPool(d, three, poolOptions{nn.Stride(two...), nn.Padding(1), nn.CeilMode()})
		all[name+" indices"] = maxPoolIndices(d, three, poolOptions{nn.Stride(two...), nn.Padding(1)})
		f := [...]func(x T, n ...int) T{1: func(x T, n ...int) T { return nn.AdaptiveMaxPool1d(x, n[0]) }, 2: nn.AdaptiveMaxPool2d, 3: nn.AdaptiveMaxPool3d}[d]
		all["adaptive_"+name] = func(in []T) T { return f(in[0], 3) }

		size := [][]int{1: {8}, 2: {3, 7}, 3: {5, 3, 3}}[d]
		factor := []float64{[]float64{1: 1.7, 2: 2, 3: 1.5}[d]}
		for _, mode := range []string{"nearest", "nearest-exact"} {
			all[fmt.Sprintf("upsample %s %dd", mode, d)] = resized(tensor.InterpolateOptions{Size: size, Mode: mode})
			all[fmt.Sprintf("upsample %s %dd factor", mode, d)] = resized(tensor.InterpolateOptions{ScaleFactor: factor, Mode: mode})
		}
		mode := []string{1: "linear", 2: "bilinear", 3: "trilinear"}[d]
		all["upsample "+mode] = resized(tensor.InterpolateOptions{Size: size, Mode: mode})
		all["upsample "+mode+" corners"] = resized(tensor.InterpolateOptions{Size: size, Mode: mode, AlignCorners: true})
		all["upsample "+mode+" factor"] = resized(tensor.InterpolateOptions{ScaleFactor: factor, Mode: mode})
	}
	for _, mode := range []string{"bilinear", "bicubic"} {
		all["upsample "+mode+" antialias"] = resized(tensor.InterpolateOptions{Size: []int{3, 7}, Mode: mode, Antialias: true})
		all["upsample "+mode+" antialias corners"] = resized(tensor.InterpolateOptions{Size: []int{3, 4}, Mode: mode, Antialias: true, AlignCorners: true})
	}
	for _, mode := range []string{"bilinear", "nearest", "bicubic"} {
		for _, padding := range []string{"zeros", "border", "reflection"} {
			o := tensor.GridSampleOptions{Mode: mode, PaddingMode: padding}
			all["grid_sampler "+mode+" "+padding] = sampled(o)
			o.AlignCorners = true
			all["grid_sampler "+mode+" "+padding+" corners"] = sampled(o)
		}
	}
	for _, mode := range []string{"bilinear", "nearest"} {
		all["grid_sampler "+mode+" 3-D"] = sampled(tensor.GridSampleOptions{Mode: mode, PaddingMode: "border"})
	}
	return all
}

package autograd_test

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func init() {
	type T = *tensor.Tensor
	image := func(x T) T { return x.Pow(2).Reshape(1, 1, 2, 3) }
	window := tensor.ConvOptions{Padding: []int{1}, Stride: []int{2}}
	cases = append(cases, []derivative{
		{"max_pool1d", func(a, _ T) T {
			return nn.MaxPool1d(a.Pow(2), 2, nn.Stride(1), nn.Padding(1))
		}},
		{"max_pool2d", func(a, _ T) T { return nn.MaxPool2d(image(a), 2) }},
		{"max_pool3d", func(a, _ T) T { return nn.MaxPool3d(image(a), 1, nn.KernelSize(1, 2, 2)) }},
		{"adaptive_max_pool", func(a, _ T) T { return nn.AdaptiveMaxPool1d(a.Pow(2), 2) }},
		{"im2col", func(a, _ T) T { return image(a).Im2Col([]int{2}, window) }},
		{"col2im", func(a, _ T) T {
			return a.Pow(2).Reshape(1, 6, 1).Col2Im([]int{2, 3}, []int{2, 3}, tensor.ConvOptions{})
		}},
		{"unfold", func(a, _ T) T { return a.Pow(2).Unfold(1, 2, 1) }},
		{"grid_sampler", func(a, b T) T {
			return image(a).GridSample(b.MulScalar(0.4).Reshape(1, 1, 3, 2), tensor.GridSampleOptions{})
		}},
		{"grid_sampler, bicubic, reflection", func(a, b T) T {
			return image(a).GridSample(b.Reshape(1, 1, 3, 2), tensor.GridSampleOptions{Mode: "bicubic", PaddingMode: "reflection"})
		}},
		{"affine_grid", func(a, _ T) T { return a.Pow(2).Unsqueeze(0).AffineGrid([]int{1, 1, 2, 2}, true) }},
		{"pixel_shuffle", func(a, _ T) T { return a.Pow(2).Unfold(1, 2, 1).Reshape(4, 1, 2).PixelShuffle(2) }},
		{"pixel_unshuffle", func(a, _ T) T {
			return a.Pow(2).Reshape(1, 2, 3).Pad([]int{0, 1}, tensor.PadOptions{}).PixelUnshuffle(2)
		}},
		{"channel_shuffle", func(a, _ T) T { return a.Pow(2).Reshape(1, 6, 1).ChannelShuffle(2) }},
		{"local_response_norm", func(a, _ T) T {
			return nn.LocalResponseNorm(a.Reshape(1, 6, 1), 3, nn.Alpha(1))
		}},
	}...)
	for _, mode := range []string{"nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic"} {
		for dims := 1; dims <= 3; dims++ {
			if want := map[string]int{"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}[mode]; want != 0 && want != dims {
				continue
			}
			shape := [][]int{1: {1, 2, 3}, 2: {1, 1, 2, 3}, 3: {1, 1, 1, 2, 3}}[dims]
			cases = append(cases, derivative{fmt.Sprintf("interpolate, %s %dd", mode, dims), func(a, _ T) T {
				return a.Pow(2).Reshape(shape...).Interpolate(tensor.InterpolateOptions{Size: []int{4}, Mode: mode})
			}})
		}
	}
	for _, mode := range []string{"bilinear", "bicubic"} {
		cases = append(cases, derivative{"interpolate, antialias " + mode, func(a, _ T) T {
			return image(a).Interpolate(tensor.InterpolateOptions{Size: []int{3, 2}, Mode: mode, Antialias: true})
		}})
	}
}

package autograd_test

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func init() {
	type T = *tensor.Tensor
	train := tensor.BatchNormOptions{Training: true, Eps: 0.1}
	cases = append(cases, []derivative{
		{"avg_pool1d", func(a, _ T) T {
			return nn.AvgPool1d(a.Pow(2), 2, nn.Stride(1), nn.Padding(1))
		}},
		{"avg_pool2d", func(a, _ T) T {
			return nn.AvgPool2d(a.Pow(2).Unsqueeze(0), 2, nn.CeilMode(), nn.CountIncludePad(false))
		}},
		{"avg_pool3d", func(a, _ T) T { return nn.AvgPool3d(a.Pow(2).Reshape(1, 1, 2, 3), 1, nn.KernelSize(1, 2, 2)) }},
		{"adaptive_avg_pool1d", func(a, _ T) T { return nn.AdaptiveAvgPool1d(a.Pow(2), 2) }},
		{"adaptive_avg_pool2d", func(a, _ T) T { return nn.AdaptiveAvgPool2d(a.Pow(2).Unsqueeze(0), 1, 2) }},
		{"adaptive_avg_pool3d", func(a, _ T) T { return nn.AdaptiveAvgPool3d(a.Pow(2).Reshape(1, 1, 2, 3), 1, 0, 4) }},
		{"pad", func(a, _ T) T { return a.Pow(2).Pad([]int{1, -1, 0, 2}, tensor.PadOptions{Value: 3}) }},
		{"batch_norm", func(a, b T) T {
			return tensor.BatchNorm(a.T(), nil, nil, b.Select(1, 0), b.Select(1, 1), train)
		}},
		{"batch_norm, running", func(a, b T) T {
			return tensor.BatchNorm(a, tensor.Zeros(3), tensor.Ones(3), b.Select(0, 0), b.Select(0, 1), tensor.BatchNormOptions{})
		}},
		{"instance_norm", func(a, b T) T {
			return tensor.InstanceNorm(a.Unsqueeze(0), nil, nil, b.Select(1, 0), nil, train)
		}},
		{"layer_norm", func(a, b T) T {
			return tensor.LayerNorm(a, []int{3}, b.Select(0, 0), b.Select(0, 1), tensor.NormOptions{})
		}},
		{"group_norm", func(a, b T) T {
			return tensor.GroupNorm(a.Unsqueeze(0), 1, b.Select(1, 0), b.Select(1, 1), tensor.NormOptions{})
		}},
		{"rms_norm", func(a, b T) T { return tensor.RMSNorm(a, []int{3}, b.Select(0, 0), tensor.NormOptions{}) }},
		{"renorm", func(a, _ T) T { return a.Renorm(2, 0, 1) }},
	}...)
	for _, mode := range []string{"reflect", "replicate", "circular"} {
		pad := func(x T, pad ...int) T { return x.Pow(2).Pad(pad, tensor.PadOptions{Mode: mode}) }
		cases = append(cases, []derivative{
			{"pad 1d, " + mode, func(a, _ T) T { return pad(a, 2, 1) }},
			{"pad 2d, " + mode, func(a, _ T) T { return pad(a.Unsqueeze(0), 0, 2, 1, 0) }},
			{"pad 3d, " + mode, func(a, _ T) T { return pad(a.Reshape(1, 1, 2, 3), 1, 0, 1, 1, 0, 0) }},
		}...)
	}
}

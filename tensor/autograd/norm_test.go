package autograd_test

import "halfnote/tensor"

func init() {
	type T = *tensor.Tensor
	train := tensor.BatchNormOptions{Training: true, Eps: 0.1}
	cases = append(cases, []derivative{
		{"avg_pool1d", func(a, _ T) T {
			return a.Pow(2).AvgPool1d([]int{2}, tensor.PoolOptions{Stride: []int{1}, Padding: []int{1}})
		}},
		{"avg_pool2d", func(a, _ T) T {
			return a.Pow(2).Unsqueeze(0).AvgPool2d([]int{2}, tensor.PoolOptions{CeilMode: true, ExcludePadding: true})
		}},
		{"avg_pool3d", func(a, _ T) T { return a.Pow(2).Reshape(1, 1, 2, 3).AvgPool3d([]int{1, 2, 2}, tensor.PoolOptions{}) }},
		{"adaptive_avg_pool1d", func(a, _ T) T { return a.Pow(2).AdaptiveAvgPool1d(2) }},
		{"adaptive_avg_pool2d", func(a, _ T) T { return a.Pow(2).Unsqueeze(0).AdaptiveAvgPool2d(1, 2) }},
		{"adaptive_avg_pool3d", func(a, _ T) T { return a.Pow(2).Reshape(1, 1, 2, 3).AdaptiveAvgPool3d(1, 0, 4) }},
		{"pad", func(a, _ T) T { return a.Pow(2).Pad([]int{1, -1, 0, 2}, tensor.PadOptions{Value: 3}) }},
		{"batch_norm", func(a, b T) T {
			return a.T().BatchNorm(nil, nil, b.Select(1, 0), b.Select(1, 1), train)
		}},
		{"batch_norm, running", func(a, b T) T {
			return a.BatchNorm(tensor.Zeros(3), tensor.Ones(3), b.Select(0, 0), b.Select(0, 1), tensor.BatchNormOptions{})
		}},
		{"instance_norm", func(a, b T) T {
			return a.Unsqueeze(0).InstanceNorm(nil, nil, b.Select(1, 0), nil, train)
		}},
		{"layer_norm", func(a, b T) T {
			return a.LayerNorm([]int{3}, b.Select(0, 0), b.Select(0, 1), tensor.NormOptions{})
		}},
		{"group_norm", func(a, b T) T {
			return a.Unsqueeze(0).GroupNorm(1, b.Select(1, 0), b.Select(1, 1), tensor.NormOptions{})
		}},
		{"rms_norm", func(a, b T) T { return a.RMSNorm([]int{3}, b.Select(0, 0), tensor.NormOptions{}) }},
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

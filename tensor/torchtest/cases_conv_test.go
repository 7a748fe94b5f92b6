package torchtest

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("conv", conv())

type (
	convOptions      = tensor.ConvOptions
	transposeOptions = tensor.ConvTransposeOptions
	poolOptions      = []nn.Option
	batchNormOptions = tensor.BatchNormOptions
)

// third returns operand i, or nil if it is missing.
func third(in []T) T {
	if len(in) > 2 {
		return in[2]
	}
	return nil
}

func convolve(d int, o convOptions) func(in []T) T {
	f := [...]func(x, w, b T, o convOptions) T{1: tensor.Conv1d, 2: tensor.Conv2d, 3: tensor.Conv3d}[d]
	return func(in []T) T { return f(in[0], in[1], third(in), o) }
}

func transposed(d int, o transposeOptions) func(in []T) T {
	f := [...]func(x, w, b T, o transposeOptions) T{1: tensor.ConvTranspose1d, 2: tensor.ConvTranspose2d, 3: tensor.ConvTranspose3d}[d]
	return func(in []T) T { return f(in[0], in[1], third(in), o) }
}

func avgPool(d int, size []int, o poolOptions) func(in []T) T {
	f := [...]func(x T, size int, o ...nn.Option) T{1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}[d]
	return func(in []T) T { return f(in[0], 0, append(o, nn.KernelSize(size...))...) }
}

func adaptiveAvgPool(d, n int) func(in []T) T {
	f := [...]func(x T, n ...int) T{1: func(x T, n ...int) T { return nn.AdaptiveAvgPool1d(x, n[0]) }, 2: nn.AdaptiveAvgPool2d, 3: nn.AdaptiveAvgPool3d}[d]
	return func(in []T) T { return f(in[0], n) }
}

func padded(mode string, value float64, pad ...int) func(in []T) T {
	return func(in []T) T { return in[0].Pad(pad, tensor.PadOptions{Mode: mode, Value: value}) }
}

func batchNorm(in []T) T {
	return tensor.BatchNorm(in[0], nil, nil, in[1], in[2], batchNormOptions{Training: true})
}

func conv() cases {
	all := cases{
		"conv2d one by one": convolve(2, convOptions{}),
		"conv2d depthwise":  convolve(2, convOptions{Groups: 4, Padding: []int{1}}),
		"conv2d long":       convolve(2, convOptions{}),
		"conv2d no batch":   convolve(2, convOptions{}),
		"conv2d empty":      convolve(2, convOptions{}),
		"conv_tbc":          func(in []T) T { return tensor.ConvTBC(in[0], in[1], in[2], 1) },

		"avg_pool2d divisor": avgPool(2, []int{2, 3}, poolOptions{nn.DivisorOverride(4)}),
		"lp_pool2d":          func(in []T) T { return nn.LPPool2d(in[0], 2, 2, nn.KernelSize(2, 3), nn.Stride(2)) },

		"pad":       padded("", 0, 1, 2),
		"pad value": padded("constant", 1.5, 1, 0, -1, 2, 0, 1),
		"pad cut":   padded("", 0, -1, -1, -2, 0),

		"batch_norm":               batchNorm,
		"batch_norm 2d":            batchNorm,
		"batch_norm no dimensions": batchNorm,
		"batch_norm float16":       batchNorm,
		"batch_norm bfloat16":      batchNorm,
		"batch_norm plain": func(in []T) T {
			return tensor.BatchNorm(in[0], nil, nil, nil, nil, batchNormOptions{Training: true, Eps: 0.1})
		},
		"batch_norm far from 0": func(in []T) T {
			return tensor.BatchNorm(in[0].AddScalar(100), nil, nil, nil, nil, batchNormOptions{Training: true})
		},
		"batch_norm running": func(in []T) T { return tensor.BatchNorm(in[0], in[3], in[4], in[1], in[2], batchNormOptions{}) },
		"layer_norm":         func(in []T) T { return tensor.LayerNorm(in[0], []int{7}, in[1], in[2], tensor.NormOptions{}) },
		"layer_norm two":     func(in []T) T { return tensor.LayerNorm(in[0], []int{3, 4}, in[1], in[2], tensor.NormOptions{}) },
		"layer_norm plain":   func(in []T) T { return tensor.LayerNorm(in[0], []int{5}, nil, nil, tensor.NormOptions{Eps: 0.01}) },
		"layer_norm empty":   func(in []T) T { return tensor.LayerNorm(in[0], []int{5}, nil, nil, tensor.NormOptions{}) },
		"group_norm":         func(in []T) T { return tensor.GroupNorm(in[0], 2, in[1], in[2], tensor.NormOptions{}) },
		"group_norm plain":   func(in []T) T { return tensor.GroupNorm(in[0], 3, nil, nil, tensor.NormOptions{}) },
		"instance_norm": func(in []T) T {
			return tensor.InstanceNorm(in[0], nil, nil, in[1], in[2], batchNormOptions{Training: true})
		},
		"instance_norm running": func(in []T) T { return tensor.InstanceNorm(in[0], in[1], in[2], nil, nil, batchNormOptions{}) },
		"rms_norm":              func(in []T) T { return tensor.RMSNorm(in[0], []int{7}, in[1], tensor.NormOptions{Eps: 1e-6}) },
		"rms_norm plain":        func(in []T) T { return tensor.RMSNorm(in[0], []int{3, 4}, nil, tensor.NormOptions{}) },
		"renorm":                func(in []T) T { return in[0].Renorm(2, 0, 1.5) },
		"renorm last":           func(in []T) T { return in[0].Renorm(3, 2, 1) },
	}
	for d := 1; d <= 3; d++ {
		name := fmt.Sprintf("conv%dd", d)
		dilation := []int{2, 1, 1}[:d]
		all[name] = convolve(d, convOptions{})
		all[name+" no bias"] = convolve(d, convOptions{})
		all[name+" stride padding dilation groups"] = convolve(d, convOptions{Stride: []int{2}, Padding: []int{1}, Dilation: dilation, Groups: 2})
		all[name+" same"] = convolve(d, convOptions{Same: true})
		name = fmt.Sprintf("conv_transpose%dd", d)
		all[name] = transposed(d, transposeOptions{})
		all[name+" stride padding dilation groups"] = transposed(d, transposeOptions{Stride: []int{2}, Padding: []int{1}, OutputPadding: []int{1}, Dilation: dilation, Groups: 2})
		name = fmt.Sprintf("avg_pool%dd", d)
		two, three := []int{2}, []int{3}
		all[name] = avgPool(d, two, poolOptions{})
		all[name+" padding"] = avgPool(d, three, poolOptions{nn.Stride(two...), nn.Padding(1)})
		all[name+" ceil, padding not counted"] = avgPool(d, three, poolOptions{nn.Stride(two...), nn.Padding(1), nn.CeilMode(), nn.CountIncludePad(false)})
		all[name+" ceil"] = avgPool(d, two, poolOptions{nn.Stride(two...), nn.Padding(1), nn.CeilMode()})
		name = fmt.Sprintf("adaptive_avg_pool%dd", d)
		all[name] = adaptiveAvgPool(d, 3)
		all[name+" one"] = adaptiveAvgPool(d, 1)
	}
	for _, mode := range []string{"reflect", "replicate", "circular"} {
		all["pad "+mode+" 1d"] = padded(mode, 0, 2, 1)
		all["pad "+mode+" 2d"] = padded(mode, 0, 2, 1, 0, 3)
		all["pad "+mode+" 3d"] = padded(mode, 0, 1, 1, 2, 1, 1, 0)
	}
	return all
}

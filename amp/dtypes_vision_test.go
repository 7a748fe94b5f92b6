package amp_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestVisionDTypes checks the dtypes of convolution, pooling, normalisation and sampling under
// amp.Float16.
func TestVisionDTypes(t *testing.T) {
	tensor.ManualSeed(1)
	x, w := tensor.Randn(2, 4, 6), tensor.Randn(4, 4, 3).RequireGrad()
	b, one := tensor.Zeros(4), tensor.Ones(4)
	h, plane := x.Half(), tensor.Randn(1, 2, 4, 4).Half()
	volume := tensor.Randn(1, 1, 2, 2, 2).Half()
	grid := tensor.Rand(1, 3, 3, 2)
	none := tensor.ConvOptions{}
	pool := []int{2}
	resize := func(x *tensor.Tensor, mode string) func() *tensor.Tensor {
		return func() *tensor.Tensor {
			return x.Interpolate(tensor.InterpolateOptions{Size: []int{3}, Mode: mode})
		}
	}
	for _, c := range []dtypeCheck{
		{1, "conv1d(32,32)", func() *tensor.Tensor { return tensor.Conv1d(x, w, b, none) }, "float16"},
		{1, "conv3d(16,32)", func() *tensor.Tensor { return tensor.Conv3d(volume, tensor.Randn(1, 1, 2, 2, 2), nil, none) }, "float16"},
		{1, "conv_transpose1d(32,32)", func() *tensor.Tensor { return tensor.ConvTranspose1d(x, w, b, tensor.ConvTransposeOptions{}) }, "float16"},
		{1, "conv_tbc(32,32)", func() *tensor.Tensor { return tensor.ConvTBC(x.Permute(2, 0, 1), w.Permute(2, 1, 0), b, 0) }, "float16"},
		{2, "conv1d(bf16,32)", func() *tensor.Tensor { return tensor.Conv1d(x.BFloat16(), w, b, none) }, "float16"},
		{3, "conv1d(64,32)", func() *tensor.Tensor { return tensor.Conv1d(x.Double(), w, nil, none) }, "error"},

		{4, "max_pool1d", func() *tensor.Tensor { return nn.MaxPool1d(h, pool[0], nn.KernelSize(pool...)) }, "float16"},
		{4, "avg_pool1d", func() *tensor.Tensor { return nn.AvgPool1d(h, pool[0], nn.KernelSize(pool...)) }, "float16"},
		{4, "adaptive_avg_pool1d", func() *tensor.Tensor { return nn.AdaptiveAvgPool1d(h, 1) }, "float16"},
		{4, "pad", func() *tensor.Tensor { return h.Pad([]int{1, 1}, tensor.PadOptions{}) }, "float16"},
		{4, "batch_norm in training", func() *tensor.Tensor {
			return tensor.BatchNorm(h, b.Clone(), one.Clone(), one, b, tensor.BatchNormOptions{Training: true})
		}, "float16"},
		{4, "batch_norm in use", func() *tensor.Tensor { return tensor.BatchNorm(h, b, one, one, b, tensor.BatchNormOptions{}) }, "float16"},
		{4, "instance_norm", func() *tensor.Tensor {
			return tensor.InstanceNorm(h, nil, nil, one, b, tensor.BatchNormOptions{Training: true})
		}, "float16"},

		{5, "layer_norm", func() *tensor.Tensor { return tensor.LayerNorm(h, []int{6}, nil, nil, tensor.NormOptions{}) }, "float32"},
		{5, "group_norm", func() *tensor.Tensor { return tensor.GroupNorm(h, 2, one, b, tensor.NormOptions{}) }, "float32"},
		{5, "renorm", func() *tensor.Tensor { return h.Renorm(2, 0, 1) }, "float32"},
		{5, "upsample_nearest1d", resize(h, "nearest"), "float32"},
		{5, "_upsample_nearest_exact2d", resize(plane, "nearest-exact"), "float32"},
		{5, "upsample_linear1d", resize(h, "linear"), "float32"},
		{5, "upsample_bilinear2d", resize(plane, "bilinear"), "float32"},
		{5, "upsample_trilinear3d", resize(volume, "trilinear"), "float32"},
		{5, "upsample_bicubic2d", resize(plane, "bicubic"), "float32"},

		{10, "grid_sampler(16,32)", func() *tensor.Tensor { return plane.GridSample(grid, tensor.GridSampleOptions{}) }, "float32"},
		{10, "grid_sampler(16,16)", func() *tensor.Tensor { return plane.GridSample(grid.Half(), tensor.GridSampleOptions{}) }, "float16"},
	} {
		c.run(t, amp.Float16)
	}

	// Under autocast, a convolution equals that of operands cast by hand, and gradients of leaves
	// are float32.
	var y *tensor.Tensor
	amp.Autocast(amp.Float16, func() { y = tensor.Conv1d(x, w, b, none) })
	if want := tensor.Conv1d(h, w.Half(), b.Half(), none); !tensor.Equal(y, want) {
		t.Errorf("conv1d under autocast differs from conv1d of float16")
	}
	y.Float().Sum().Backward()
	if d := w.Grad().DType(); d != tensor.Float32 {
		t.Errorf("gradient of the weight: got %v, want float32", d)
	}
}

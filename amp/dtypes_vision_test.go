package amp_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// TestVisionDTypes are the rows of TestDTypes for convolution, pooling, normalisation
// and sampling.
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
		{1, "conv1d(32,32)", func() *tensor.Tensor { return x.Conv1d(w, b, none) }, "float16"},
		{1, "conv3d(16,32)", func() *tensor.Tensor { return volume.Conv3d(tensor.Randn(1, 1, 2, 2, 2), nil, none) }, "float16"},
		{1, "conv_transpose1d(32,32)", func() *tensor.Tensor { return x.ConvTranspose1d(w, b, tensor.ConvTransposeOptions{}) }, "float16"},
		{1, "conv_tbc(32,32)", func() *tensor.Tensor { return x.Permute(2, 0, 1).ConvTBC(w.Permute(2, 1, 0), b, 0) }, "float16"},
		{2, "conv1d(bf16,32)", func() *tensor.Tensor { return x.BFloat16().Conv1d(w, b, none) }, "float16"},
		{3, "conv1d(64,32)", func() *tensor.Tensor { return x.Double().Conv1d(w, nil, none) }, "error"},

		{4, "max_pool1d", func() *tensor.Tensor { return h.MaxPool1d(pool, tensor.PoolOptions{}) }, "float16"},
		{4, "avg_pool1d", func() *tensor.Tensor { return h.AvgPool1d(pool, tensor.PoolOptions{}) }, "float16"},
		{4, "adaptive_avg_pool1d", func() *tensor.Tensor { return h.AdaptiveAvgPool1d(1) }, "float16"},
		{4, "pad", func() *tensor.Tensor { return h.Pad([]int{1, 1}, tensor.PadOptions{}) }, "float16"},
		{4, "batch_norm in training", func() *tensor.Tensor {
			return h.BatchNorm(b.Clone(), one.Clone(), one, b, tensor.BatchNormOptions{Training: true})
		}, "float16"},
		{4, "batch_norm in use", func() *tensor.Tensor { return h.BatchNorm(b, one, one, b, tensor.BatchNormOptions{}) }, "float16"},
		{4, "instance_norm", func() *tensor.Tensor {
			return h.InstanceNorm(nil, nil, one, b, tensor.BatchNormOptions{Training: true})
		}, "float16"},

		{5, "layer_norm", func() *tensor.Tensor { return h.LayerNorm([]int{6}, nil, nil, tensor.NormOptions{}) }, "float32"},
		{5, "group_norm", func() *tensor.Tensor { return h.GroupNorm(2, one, b, tensor.NormOptions{}) }, "float32"},
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

	// Under autocast, a convolution is that of operands cast by hand, and gradients of
	// leaves are float32.
	var y *tensor.Tensor
	amp.Autocast(amp.Float16, func() { y = x.Conv1d(w, b, none) })
	if want := h.Conv1d(w.Half(), b.Half(), none); !tensor.Equal(y, want) {
		t.Errorf("conv1d under autocast differs from conv1d of float16")
	}
	y.Float().Sum().Backward()
	if d := w.Grad().DType(); d != tensor.Float32 {
		t.Errorf("the weight's gradient is %v, want float32", d)
	}
}

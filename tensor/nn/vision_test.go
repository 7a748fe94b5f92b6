package nn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestVisionStrings compares printed layers with PyTorch 2.15's.
func TestVisionStrings(t *testing.T) {
	for _, c := range []struct {
		layer any
		want  string
	}{
		{nn.NewConv2d(3, 16, 3, nn.Padding(1), nn.Bias(false)), "Conv2d(3, 16, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)"},
		{nn.NewConv1d(4, 4, 3, nn.PaddingSame(), nn.Groups(2), nn.Dilation(2)), "Conv1d(4, 4, kernel_size=(3,), stride=(1,), padding=same, dilation=(2,), groups=2)"},
		{nn.NewConv2d(2, 2, 3, nn.Padding(1), nn.PaddingMode("reflect")), "Conv2d(2, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), padding_mode=reflect)"},
		{nn.NewConv3d(1, 1, 0, nn.KernelSize(1, 2, 3)), "Conv3d(1, 1, kernel_size=(1, 2, 3), stride=(1, 1, 1))"},
		{nn.NewConvTranspose2d(3, 4, 2, nn.Stride(2), nn.OutputPadding(1)), "ConvTranspose2d(3, 4, kernel_size=(2, 2), stride=(2, 2), output_padding=(1, 1))"},
		{nn.NewBatchNorm2d(3), "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"},
		{nn.NewBatchNorm1d(2, nn.Eps(0.001), nn.CumulativeAverage()), "BatchNorm1d(2, eps=0.001, momentum=None, affine=True, bias=True, track_running_stats=True)"},
		{nn.NewInstanceNorm2d(3), "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)"},
		{nn.NewLayerNorm([]int{5}), "LayerNorm((5,), eps=1e-05, elementwise_affine=True, bias=True)"},
		{nn.NewLayerNorm([]int{2, 3}, nn.Bias(false)), "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=False)"},
		{nn.NewLayerNorm([]int{2}, nn.Affine(false)), "LayerNorm((2,), eps=1e-05, elementwise_affine=False, bias=False)"},
		{nn.NewGroupNorm(2, 4), "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"},
		{nn.NewRMSNorm([]int{3}), "RMSNorm((3,), eps=None, elementwise_affine=True)"},
		{nn.NewMaxPool2d(2), "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"},
		{nn.NewMaxPool2d(0, nn.KernelSize(3, 2), nn.Stride(2), nn.Padding(1), nn.CeilMode()), "MaxPool2d(kernel_size=(3, 2), stride=2, padding=1, dilation=1, ceil_mode=True)"},
		{nn.NewAvgPool2d(2), "AvgPool2d(kernel_size=2, stride=2, padding=0)"},
		{nn.NewAvgPool1d(3), "AvgPool1d(kernel_size=(3,), stride=(3,), padding=(0,))"},
		{nn.NewAvgPool3d(2, nn.Padding(1)), "AvgPool3d(kernel_size=2, stride=2, padding=1)"},
		{nn.NewAdaptiveAvgPool2d(1), "AdaptiveAvgPool2d(output_size=1)"},
		{nn.NewAdaptiveAvgPool2d(1, 2), "AdaptiveAvgPool2d(output_size=(1, 2))"},
		{nn.NewUpsample(nn.ScaleFactor(2)), "Upsample(scale_factor=2.0, mode='nearest')"},
		{nn.NewUpsample(nn.Size(3, 4), nn.Mode("bilinear")), "Upsample(size=(3, 4), mode='bilinear')"},
		{nn.NewZeroPad2d(1), "ZeroPad2d((1, 1, 1, 1))"},
		{nn.NewReplicationPad1d(1, 2), "ReplicationPad1d((1, 2))"},
		{nn.NewConstantPad1d(2.5, 1), "ConstantPad1d(padding=(1, 1), value=2.5)"},
		{nn.NewUnfold(2), "Unfold(kernel_size=2, dilation=1, padding=0, stride=1)"},
		{nn.NewFold(3, 3, 2), "Fold(output_size=(3, 3), kernel_size=2, dilation=1, padding=0, stride=1)"},
		{nn.NewPixelShuffle(2), "PixelShuffle(upscale_factor=2)"},
		{nn.NewLocalResponseNorm(5), "LocalResponseNorm(5, alpha=0.0001, beta=0.75, k=1.0)"},
		{nn.NewIdentity(), "Identity()"},
		{nn.NewMaxUnpool1d(3, nn.Stride(2), nn.Padding(1)), "MaxUnpool1d(kernel_size=(3,), stride=(2,), padding=(1,))"},
		{nn.NewMaxUnpool3d(0, nn.KernelSize(1, 2, 3)), "MaxUnpool3d(kernel_size=(1, 2, 3), stride=(1, 2, 3), padding=(0, 0, 0))"},
		{nn.NewFractionalMaxPool2d(2, nn.OutputSize(3)), "FractionalMaxPool2d()"},
		{nn.NewLPPool1d(2, 3), "LPPool1d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)"},
		{nn.NewLPPool2d(1.5, 0, nn.KernelSize(2, 3), nn.Stride(1, 2)), "LPPool2d(norm_type=1.5, kernel_size=(2, 3), stride=(1, 2), ceil_mode=False)"},
		{nn.NewLPPool3d(2, 2, nn.Stride(1), nn.CeilMode()), "LPPool3d(norm_type=2, kernel_size=2, stride=1, ceil_mode=True)"},
		{nn.NewUpsamplingNearest2d(nn.ScaleFactor(2)), "UpsamplingNearest2d(scale_factor=2.0, mode='nearest')"},
		{nn.NewUpsamplingBilinear2d(nn.Size(3, 4)), "UpsamplingBilinear2d(size=(3, 4), mode='bilinear')"},
		{nn.NewUpsamplingBilinear2d(nn.Size(3)), "UpsamplingBilinear2d(size=3, mode='bilinear')"},
	} {
		if got := fmt.Sprint(c.layer); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestVisionShapes checks the shapes of layers' results for inputs (2, 4, 6, …).
func TestVisionShapes(t *testing.T) {
	for _, c := range []struct {
		layer nn.Module
		dims  int
		want  []int
	}{
		{nn.NewConv1d(4, 3, 3, nn.Stride(2)), 1, []int{2, 3, 2}},
		{nn.NewConv2d(4, 3, 2, nn.PaddingSame(), nn.PaddingMode("circular")), 2, []int{2, 3, 6, 6}},
		{nn.NewConv3d(4, 3, 3), 3, []int{2, 3, 4, 4, 4}},
		{nn.NewConvTranspose1d(4, 3, 3), 1, []int{2, 3, 8}},
		{nn.NewConvTranspose2d(4, 3, 2, nn.Stride(2)), 2, []int{2, 3, 12, 12}},
		{nn.NewConvTranspose3d(4, 3, 1), 3, []int{2, 3, 6, 6, 6}},
		{nn.NewInstanceNorm1d(4), 1, []int{2, 4, 6}},
		{nn.NewInstanceNorm3d(4), 3, []int{2, 4, 6, 6, 6}},
		{nn.NewBatchNorm3d(4), 3, []int{2, 4, 6, 6, 6}},
		{nn.NewRMSNorm([]int{6}), 1, []int{2, 4, 6}},
		{nn.NewMaxPool1d(2), 1, []int{2, 4, 3}},
		{nn.NewMaxPool3d(2, nn.Stride(1)), 3, []int{2, 4, 5, 5, 5}},
		{nn.NewAvgPool1d(4, nn.Stride(1), nn.Padding(1)), 1, []int{2, 4, 5}},
		{nn.NewAdaptiveMaxPool1d(2), 1, []int{2, 4, 2}},
		{nn.NewAdaptiveMaxPool2d(2, 0), 2, []int{2, 4, 2, 6}},
		{nn.NewAdaptiveMaxPool3d(1), 3, []int{2, 4, 1, 1, 1}},
		{nn.NewAdaptiveAvgPool1d(2), 1, []int{2, 4, 2}},
		{nn.NewAdaptiveAvgPool3d(5), 3, []int{2, 4, 5, 5, 5}},
		{nn.NewReflectionPad1d(1), 1, []int{2, 4, 8}},
		{nn.NewReflectionPad2d(1, 2, 0, 0), 2, []int{2, 4, 6, 9}},
		{nn.NewReflectionPad3d(1), 3, []int{2, 4, 8, 8, 8}},
		{nn.NewReplicationPad2d(1), 2, []int{2, 4, 8, 8}},
		{nn.NewReplicationPad3d(1), 3, []int{2, 4, 8, 8, 8}},
		{nn.NewCircularPad1d(1), 1, []int{2, 4, 8}},
		{nn.NewCircularPad2d(1), 2, []int{2, 4, 8, 8}},
		{nn.NewCircularPad3d(1), 3, []int{2, 4, 8, 8, 8}},
		{nn.NewZeroPad1d(1), 1, []int{2, 4, 8}},
		{nn.NewZeroPad3d(1), 3, []int{2, 4, 8, 8, 8}},
		{nn.NewConstantPad2d(1, 1), 2, []int{2, 4, 8, 8}},
		{nn.NewConstantPad3d(1, 1), 3, []int{2, 4, 8, 8, 8}},
		{nn.NewUpsample(nn.ScaleFactor(1, 0.5)), 2, []int{2, 4, 6, 3}},
		{nn.NewUnfold(3), 2, []int{2, 36, 16}},
		{nn.NewPixelShuffle(2), 2, []int{2, 1, 12, 12}},
		{nn.NewPixelUnshuffle(2), 2, []int{2, 16, 3, 3}},
		{nn.NewChannelShuffle(2), 1, []int{2, 4, 6}},
		{nn.NewLocalResponseNorm(3), 2, []int{2, 4, 6, 6}},
	} {
		shape := []int{2, 4, 6, 6, 6}[:2+c.dims]
		y := c.layer.Forward(tensor.Randn(shape...))
		if !slices.Equal(y.Shape(), c.want) {
			t.Errorf("%v: result for input %v: got shape %v, want %v", c.layer, shape, y.Shape(), c.want)
		}
	}
}

// TestConvolutionInitialWeights compares the first two weights and the last bias of each layer
// in turn with PyTorch's after torch.manual_seed(3).
func TestConvolutionInitialWeights(t *testing.T) {
	g := nn.InitFrom(tensor.NewGenerator(3))
	for _, c := range []struct {
		name string
		l    nn.Convolution
		want [3]float64
	}{
		{"Conv1d", nn.NewConv1d(2, 3, 2, g).Convolution, [3]float64{-0.4957364797592163, -0.39443063735961914, -0.445823073387146}},
		{"Conv2d", nn.NewConv2d(4, 4, 3, nn.Groups(2), g).Convolution, [3]float64{-0.019136551767587662, -0.1529211550951004, -0.0958453044295311}},
		{"Conv3d", nn.NewConv3d(1, 1, 2, g).Convolution, [3]float64{0.10442842543125153, -0.2964595854282379, -0.17590758204460144}},
		{"ConvTranspose1d", nn.NewConvTranspose1d(2, 3, 2, g).Convolution, [3]float64{0.06944064050912857, 0.16990765929222107, -0.27186647057533264}},
		{"ConvTranspose2d", nn.NewConvTranspose2d(4, 2, 0, nn.KernelSize(1, 2), nn.Groups(2), g).Convolution, [3]float64{-0.5981602072715759, 0.5936699509620667, -0.7053277492523193}},
		{"ConvTranspose3d", nn.NewConvTranspose3d(1, 1, 2, g).Convolution, [3]float64{-0.16219758987426758, 0.095621757209301, -0.08521692454814911}},
	} {
		w, b := c.l.Weight.Float64s(), c.l.Bias.Float64s()
		if got := [3]float64{w[0], w[1], b[len(b)-1]}; got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBatchNormLayer(t *testing.T) {
	b := nn.NewBatchNorm1d(2, nn.CumulativeAverage())
	for _, x := range []float64{2, 4} {
		b.Forward(tensor.New([]float64{x - 1, 0, x + 1, 2}, 2, 2))
	}
	// The averages of the means 2 and 4 and 1 and 1, and of the variances 2 and 2.
	if got := b.RunningMean.Float64s(); math.Abs(got[0]-3) > 1e-6 || math.Abs(got[1]-1) > 1e-6 {
		t.Errorf("running mean: got %v, want [3, 1]", got)
	}
	if got := b.RunningVar.Float64s(); math.Abs(got[0]-2) > 1e-6 || b.NumBatchesTracked.Item() != 2 || b.NumBatchesTracked.DType() != tensor.Int64 {
		t.Errorf("running variance: got %v after %v batches, want 2 after 2", got, b.NumBatchesTracked)
	}
	var names []string
	for name := range nn.StateDict(b) {
		names = append(names, name)
	}
	slices.Sort(names)
	if got, want := strings.Join(names, " "), "bias num_batches_tracked running_mean running_var weight"; got != want {
		t.Errorf("state: got %s, want %s", got, want)
	}
	if len(nn.Parameters(b)) != 2 {
		t.Errorf("got %d parameters, want 2", len(nn.Parameters(b)))
	}
	nn.Eval(b)
	if y := b.Forward(tensor.New([]float64{3, 1}, 1, 2).Half()); y.DType() != tensor.Float16 || y.Float64s()[0] != 0 {
		t.Errorf("in evaluation: got %v, want zeros in float16", y)
	}
	nn.Half(b)
	if b.RunningMean.DType() != tensor.Float16 || b.NumBatchesTracked.DType() != tensor.Int64 {
		t.Errorf("converted to float16: got %v and %v, want float16 and int64", b.RunningMean.DType(), b.NumBatchesTracked.DType())
	}
	plain := nn.NewBatchNorm2d(1, nn.TrackRunningStats(false), nn.Affine(false))
	nn.Eval(plain)
	if y := plain.Forward(tensor.New([]float64{1, 3}, 1, 1, 1, 2)).Float64s(); math.Abs(y[1]-1) > 1e-4 {
		t.Errorf("without running statistics: got %v, want about [-1, 1]", y)
	}
}

func TestVisionErrors(t *testing.T) {
	for _, c := range []struct {
		body func()
		want string
	}{
		{func() { nn.NewConv2d(3, 4, 3, nn.Groups(2)) }, "new_conv2d: 3 to 4 channels, groups 2, kernel (3, 3)"},
		{func() { nn.NewConv2d(3, 4, 0) }, "new_conv2d: 3 to 4 channels, groups 1, kernel (0, 0)"},
		{func() { nn.NewConv2d(3, 4, 3, nn.Eps(1)) }, "new_conv2d: option Eps is not supported here"},
		{func() { nn.NewConvTranspose1d(3, 4, 3, nn.PaddingSame()) }, "new_conv_transpose1d: option PaddingSame"},
		{func() { nn.NewBatchNorm2d(0) }, "new_batch_norm2d: 0 channels"},
		{func() { nn.NewBatchNorm2d(3).Forward(tensor.Zeros(2, 3)) }, "batch_norm2d: shape (2, 3): input is 2-D; want 4-D"},
		{func() { nn.NewGroupNorm(3, 4) }, "new_group_norm: groups 3, channels 4"},
		{func() { nn.NewZeroPad2d(1, 2) }, "new_zero_pad2d: padding (1, 2); want 1 or 4 values"},
		{func() { nn.NewAvgPool1d(2, nn.DivisorOverride(3)) }, "option DivisorOverride"},
	} {
		if err := tensor.Try(c.body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that contains %q", err, c.want)
		}
	}
}

package nn

import (
	"fmt"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// NewIdentity returns a module that returns its input. It is torch.nn.Identity.
func NewIdentity() *Func {
	return &Func{"Identity()", func(x *tensor.Tensor) *tensor.Tensor { return x }}
}

// pad returns a module that pads the last dims dimensions.
func pad(name string, dims int, list []int, o tensor.PadOptions) *Func {
	if len(list) == 1 {
		list = perDimension(list, 2*dims, 0)
	}
	if len(list) != 2*dims {
		panic(&tensor.Error{Op: "new_" + snake(name), Why: text.Sprintf("padding %v; want 1 or %d values", list, 2*dims)})
	}
	text := fmt.Sprintf("%s(%s)", name, tuple(list))
	if strings.HasPrefix(name, "Constant") {
		text = fmt.Sprintf("%s(padding=%s, value=%v)", name, tuple(list), o.Value)
	}
	return &Func{text, func(x *tensor.Tensor) *tensor.Tensor { return x.Pad(list, o) }}
}

// NewConstantPad1d returns a module that pads the last dimension with value: padding is one
// number for both sides, or one each. It is torch.nn.ConstantPad1d.
func NewConstantPad1d(value float64, padding ...int) *Func {
	return pad("ConstantPad1d", 1, padding, tensor.PadOptions{Value: value})
}

// NewConstantPad2d is NewConstantPad1d for the last two dimensions, last dimension first. It
// is torch.nn.ConstantPad2d.
func NewConstantPad2d(value float64, padding ...int) *Func {
	return pad("ConstantPad2d", 2, padding, tensor.PadOptions{Value: value})
}

// NewConstantPad3d is NewConstantPad2d for the last three dimensions. It is
// torch.nn.ConstantPad3d.
func NewConstantPad3d(value float64, padding ...int) *Func {
	return pad("ConstantPad3d", 3, padding, tensor.PadOptions{Value: value})
}

// NewZeroPad1d returns a module that pads the last dimension with zeros: padding is one number
// for both sides, or one each. It is torch.nn.ZeroPad1d.
func NewZeroPad1d(padding ...int) *Func { return pad("ZeroPad1d", 1, padding, tensor.PadOptions{}) }

// NewZeroPad2d is NewZeroPad1d for the last two dimensions, last dimension first. It is
// torch.nn.ZeroPad2d.
func NewZeroPad2d(padding ...int) *Func { return pad("ZeroPad2d", 2, padding, tensor.PadOptions{}) }

// NewZeroPad3d is NewZeroPad2d for the last three dimensions. It is torch.nn.ZeroPad3d.
func NewZeroPad3d(padding ...int) *Func { return pad("ZeroPad3d", 3, padding, tensor.PadOptions{}) }

// NewReflectionPad1d returns a module that mirrors the last dimension at its ends: padding is
// one number for both sides, or one each. It is torch.nn.ReflectionPad1d.
func NewReflectionPad1d(padding ...int) *Func {
	return pad("ReflectionPad1d", 1, padding, tensor.PadOptions{Mode: "reflect"})
}

// NewReflectionPad2d is NewReflectionPad1d for the last two dimensions, last dimension first.
// It is torch.nn.ReflectionPad2d.
func NewReflectionPad2d(padding ...int) *Func {
	return pad("ReflectionPad2d", 2, padding, tensor.PadOptions{Mode: "reflect"})
}

// NewReflectionPad3d is NewReflectionPad2d for the last three dimensions. It is
// torch.nn.ReflectionPad3d.
func NewReflectionPad3d(padding ...int) *Func {
	return pad("ReflectionPad3d", 3, padding, tensor.PadOptions{Mode: "reflect"})
}

// NewReplicationPad1d returns a module that repeats the last dimension's ends: padding is one
// number for both sides, or one each. It is torch.nn.ReplicationPad1d.
func NewReplicationPad1d(padding ...int) *Func {
	return pad("ReplicationPad1d", 1, padding, tensor.PadOptions{Mode: "replicate"})
}

// NewReplicationPad2d is NewReplicationPad1d for the last two dimensions, last dimension first.
// It is torch.nn.ReplicationPad2d.
func NewReplicationPad2d(padding ...int) *Func {
	return pad("ReplicationPad2d", 2, padding, tensor.PadOptions{Mode: "replicate"})
}

// NewReplicationPad3d is NewReplicationPad2d for the last three dimensions. It is
// torch.nn.ReplicationPad3d.
func NewReplicationPad3d(padding ...int) *Func {
	return pad("ReplicationPad3d", 3, padding, tensor.PadOptions{Mode: "replicate"})
}

// NewCircularPad1d returns a module that wraps the last dimension around: padding is one number
// for both sides, or one each. It is torch.nn.CircularPad1d.
func NewCircularPad1d(padding ...int) *Func {
	return pad("CircularPad1d", 1, padding, tensor.PadOptions{Mode: "circular"})
}

// NewCircularPad2d is NewCircularPad1d for the last two dimensions, last dimension first. It
// is torch.nn.CircularPad2d.
func NewCircularPad2d(padding ...int) *Func {
	return pad("CircularPad2d", 2, padding, tensor.PadOptions{Mode: "circular"})
}

// NewCircularPad3d is NewCircularPad2d for the last three dimensions. It is
// torch.nn.CircularPad3d.
func NewCircularPad3d(padding ...int) *Func {
	return pad("CircularPad3d", 3, padding, tensor.PadOptions{Mode: "circular"})
}

// Size is the size of NewUpsample's result: one number for all dimensions, or one per dimension.
// It is size.
func Size(n ...int) Option { return Option{"Size", func(c *config) { c.resize.Size = n }} }

// ScaleFactor is the ratio of the size of NewUpsample's result to that of the input: one number
// for all dimensions, or one per dimension. It is scale_factor.
func ScaleFactor(ratio ...float64) Option {
	return Option{"ScaleFactor", func(c *config) { c.resize.ScaleFactor = ratio }}
}

// AlignCorners aligns the corner elements of NewUpsample's input and result, in linear and cubic
// modes. It is align_corners=True.
func AlignCorners() Option {
	return Option{"AlignCorners", func(c *config) { c.resize.AlignCorners = true }}
}

// RecomputeScaleFactor computes positions from the ratio of the sizes instead of ScaleFactor. It
// is recompute_scale_factor=True.
func RecomputeScaleFactor() Option {
	return Option{"RecomputeScaleFactor", func(c *config) { c.resize.Recompute = true }}
}

// NewUpsample returns a module that resizes the dimensions of (n, c, …) after the second. It takes
// either Size or ScaleFactor; Mode, "nearest" by default, "nearest-exact", "linear", "bilinear",
// "trilinear", "bicubic" or "area"; AlignCorners and RecomputeScaleFactor. It is
// torch.nn.Upsample.
func NewUpsample(options ...Option) *Func {
	c := configure("new_upsample", config{mode: "nearest"}, options, "Size", "ScaleFactor", "Mode", "AlignCorners", "RecomputeScaleFactor")
	c.resize.Mode = c.mode
	return upsample("Upsample", c.resize)
}

// NewUpsamplingNearest2d returns a module that resizes (n, c, h, w) by repeating elements. It
// takes either Size or ScaleFactor. It is torch.nn.UpsamplingNearest2d.
func NewUpsamplingNearest2d(options ...Option) *Func {
	o := configure("new_upsampling_nearest2d", config{}, options, "Size", "ScaleFactor").resize
	o.Mode = "nearest"
	return upsample("UpsamplingNearest2d", o)
}

// NewUpsamplingBilinear2d returns a module that resizes (n, c, h, w) by bilinear interpolation
// with aligned corners. It takes either Size or ScaleFactor. It is
// torch.nn.UpsamplingBilinear2d.
func NewUpsamplingBilinear2d(options ...Option) *Func {
	o := configure("new_upsampling_bilinear2d", config{}, options, "Size", "ScaleFactor").resize
	o.Mode, o.AlignCorners = "bilinear", true
	return upsample("UpsamplingBilinear2d", o)
}

func upsample(name string, o tensor.InterpolateOptions) *Func {
	var text string
	if len(o.Size) == 1 {
		text = fmt.Sprintf("size=%d", o.Size[0])
	} else if len(o.Size) > 1 {
		text = "size=" + tuple(o.Size)
	} else {
		var factors []string
		for _, f := range o.ScaleFactor {
			factors = append(factors, python(f))
		}
		text = "scale_factor=" + strings.Join(factors, ", ")
		if len(factors) > 1 {
			text = "scale_factor=(" + strings.Join(factors, ", ") + ")"
		}
	}
	return &Func{fmt.Sprintf("%s(%s, mode='%s')", name, text, o.Mode), func(x *tensor.Tensor) *tensor.Tensor { return x.Interpolate(o) }}
}

// NewUnfold returns a module that extracts the windows of (n, c, h, w). It takes KernelSize,
// Stride, Padding and Dilation. It is torch.nn.Unfold.
func NewUnfold(size int, options ...Option) *Func {
	window, o, text := unfolding("unfold", size, options)
	return &Func{"Unfold(" + text, func(x *tensor.Tensor) *tensor.Tensor { return x.Im2Col(window, o) }}
}

// NewFold returns a module that sums windows into (n, c, height, width), the transpose of
// Unfold. It takes KernelSize, Stride, Padding and Dilation. It is torch.nn.Fold.
func NewFold(height, width, size int, options ...Option) *Func {
	window, o, text := unfolding("fold", size, options)
	sizes := []int{height, width}
	return &Func{fmt.Sprintf("Fold(output_size=%s, %s", tuple(sizes), text), func(x *tensor.Tensor) *tensor.Tensor { return x.Col2Im(sizes, window, o) }}
}

func unfolding(op string, size int, options []Option) (window []int, o tensor.ConvOptions, text string) {
	c := configure(op, config{}, options, "KernelSize", "Stride", "Padding", "Dilation").vision
	if window = c.kernel; len(window) == 0 {
		window = []int{size}
	}
	text = fmt.Sprintf("kernel_size=%s, dilation=%s, padding=%s, stride=%s)", brief(window),
		brief(given(c.dilation, 1)), brief(given(c.padding, 0)), brief(given(c.stride, 1)))
	return window, tensor.ConvOptions{Stride: c.stride, Padding: c.padding, Dilation: c.dilation}, text
}

// NewPixelShuffle returns a module that rearranges upscaleFactor² channels into square blocks of
// pixels. It is torch.nn.PixelShuffle.
func NewPixelShuffle(upscaleFactor int) *Func {
	return &Func{fmt.Sprintf("PixelShuffle(upscale_factor=%d)", upscaleFactor), func(x *tensor.Tensor) *tensor.Tensor { return x.PixelShuffle(upscaleFactor) }}
}

// NewPixelUnshuffle returns a module computing the inverse of PixelShuffle. It is torch.nn.PixelUnshuffle.
func NewPixelUnshuffle(downscaleFactor int) *Func {
	return &Func{fmt.Sprintf("PixelUnshuffle(downscale_factor=%d)", downscaleFactor), func(x *tensor.Tensor) *tensor.Tensor { return x.PixelUnshuffle(downscaleFactor) }}
}

// NewChannelShuffle returns a module that interleaves the channels of its groups. It is
// torch.nn.ChannelShuffle.
func NewChannelShuffle(groups int) *Func {
	return &Func{fmt.Sprintf("ChannelShuffle(groups=%d)", groups), func(x *tensor.Tensor) *tensor.Tensor { return x.ChannelShuffle(groups) }}
}

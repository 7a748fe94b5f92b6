package nn

import (
	"fmt"
	"strings"

	"halfnote/tensor"
)

// Identity returns a module that returns its input. It is torch.nn.Identity.
func Identity() *Activation {
	return &Activation{"Identity()", func(x *tensor.Tensor) *tensor.Tensor { return x }}
}

// pad returns a module that pads the last dims dimensions.
func pad(name string, dims int, list []int, o tensor.PadOptions) *Activation {
	if len(list) == 1 {
		list = perDimension(list, 2*dims, 0)
	}
	if len(list) != 2*dims {
		panic(&tensor.Error{Op: "new_" + snake(name), Why: fmt.Sprintf("padding %v; expected 1 or %d values", list, 2*dims)})
	}
	text := fmt.Sprintf("%s(%s)", name, tuple(list))
	if strings.HasPrefix(name, "Constant") {
		text = fmt.Sprintf("%s(padding=%s, value=%v)", name, tuple(list), o.Value)
	}
	return &Activation{text, func(x *tensor.Tensor) *tensor.Tensor { return x.Pad(list, o) }}
}

// ConstantPad1d returns a module that pads the last dimension with value: padding is one
// number for both sides, or one each. It is torch.nn.ConstantPad1d.
func ConstantPad1d(value float64, padding ...int) *Activation {
	return pad("ConstantPad1d", 1, padding, tensor.PadOptions{Value: value})
}

// ConstantPad2d is ConstantPad1d for the last two dimensions, last dimension first. It
// is torch.nn.ConstantPad2d.
func ConstantPad2d(value float64, padding ...int) *Activation {
	return pad("ConstantPad2d", 2, padding, tensor.PadOptions{Value: value})
}

// ConstantPad3d is ConstantPad2d for the last three dimensions. It is
// torch.nn.ConstantPad3d.
func ConstantPad3d(value float64, padding ...int) *Activation {
	return pad("ConstantPad3d", 3, padding, tensor.PadOptions{Value: value})
}

// ZeroPad1d returns a module that pads the last dimension with zeros: padding is one number
// for both sides, or one each. It is torch.nn.ZeroPad1d.
func ZeroPad1d(padding ...int) *Activation { return pad("ZeroPad1d", 1, padding, tensor.PadOptions{}) }

// ZeroPad2d is ZeroPad1d for the last two dimensions, last dimension first. It is
// torch.nn.ZeroPad2d.
func ZeroPad2d(padding ...int) *Activation { return pad("ZeroPad2d", 2, padding, tensor.PadOptions{}) }

// ZeroPad3d is ZeroPad2d for the last three dimensions. It is torch.nn.ZeroPad3d.
func ZeroPad3d(padding ...int) *Activation { return pad("ZeroPad3d", 3, padding, tensor.PadOptions{}) }

// ReflectionPad1d returns a module that mirrors the last dimension at its ends: padding is
// one number for both sides, or one each. It is torch.nn.ReflectionPad1d.
func ReflectionPad1d(padding ...int) *Activation {
	return pad("ReflectionPad1d", 1, padding, tensor.PadOptions{Mode: "reflect"})
}

// ReflectionPad2d is ReflectionPad1d for the last two dimensions, last dimension first.
// It is torch.nn.ReflectionPad2d.
func ReflectionPad2d(padding ...int) *Activation {
	return pad("ReflectionPad2d", 2, padding, tensor.PadOptions{Mode: "reflect"})
}

// ReflectionPad3d is ReflectionPad2d for the last three dimensions. It is
// torch.nn.ReflectionPad3d.
func ReflectionPad3d(padding ...int) *Activation {
	return pad("ReflectionPad3d", 3, padding, tensor.PadOptions{Mode: "reflect"})
}

// ReplicationPad1d returns a module that repeats the last dimension's ends: padding is one
// number for both sides, or one each. It is torch.nn.ReplicationPad1d.
func ReplicationPad1d(padding ...int) *Activation {
	return pad("ReplicationPad1d", 1, padding, tensor.PadOptions{Mode: "replicate"})
}

// ReplicationPad2d is ReplicationPad1d for the last two dimensions, last dimension first.
// It is torch.nn.ReplicationPad2d.
func ReplicationPad2d(padding ...int) *Activation {
	return pad("ReplicationPad2d", 2, padding, tensor.PadOptions{Mode: "replicate"})
}

// ReplicationPad3d is ReplicationPad2d for the last three dimensions. It is
// torch.nn.ReplicationPad3d.
func ReplicationPad3d(padding ...int) *Activation {
	return pad("ReplicationPad3d", 3, padding, tensor.PadOptions{Mode: "replicate"})
}

// CircularPad1d returns a module that wraps the last dimension around: padding is one number
// for both sides, or one each. It is torch.nn.CircularPad1d.
func CircularPad1d(padding ...int) *Activation {
	return pad("CircularPad1d", 1, padding, tensor.PadOptions{Mode: "circular"})
}

// CircularPad2d is CircularPad1d for the last two dimensions, last dimension first. It
// is torch.nn.CircularPad2d.
func CircularPad2d(padding ...int) *Activation {
	return pad("CircularPad2d", 2, padding, tensor.PadOptions{Mode: "circular"})
}

// CircularPad3d is CircularPad2d for the last three dimensions. It is
// torch.nn.CircularPad3d.
func CircularPad3d(padding ...int) *Activation {
	return pad("CircularPad3d", 3, padding, tensor.PadOptions{Mode: "circular"})
}

// Upsample returns a module that resizes (n, c, …). It is
// torch.nn.Upsample.
func Upsample(o tensor.InterpolateOptions) *Activation {
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
	mode := o.Mode
	if mode == "" {
		mode = "nearest"
	}
	return &Activation{fmt.Sprintf("Upsample(%s, mode='%s')", text, mode), func(x *tensor.Tensor) *tensor.Tensor { return x.Interpolate(o) }}
}

// UpsamplingNearest2d returns a module that resizes (n, c, h, w) by repeating elements: o
// gives sizes or factors. It is torch.nn.UpsamplingNearest2d.
func UpsamplingNearest2d(o tensor.InterpolateOptions) *Activation {
	o.Mode = "nearest"
	return renamed("UpsamplingNearest2d", Upsample(o))
}

// UpsamplingBilinear2d returns a module that resizes (n, c, h, w) by bilinear interpolation
// with aligned corners: o gives sizes or factors. It is torch.nn.UpsamplingBilinear2d.
func UpsamplingBilinear2d(o tensor.InterpolateOptions) *Activation {
	o.Mode, o.AlignCorners = "bilinear", true
	return renamed("UpsamplingBilinear2d", Upsample(o))
}

// renamed returns a with another name before its arguments.
func renamed(name string, a *Activation) *Activation {
	_, given, _ := strings.Cut(a.name, "(")
	return &Activation{name + "(" + given, a.f}
}

// Unfold returns a module that extracts the windows of (n, c, h, w). It takes KernelSize,
// Stride, Padding and Dilation. It is torch.nn.Unfold.
func Unfold(size int, options ...Option) *Activation {
	window, o, text := unfolding("unfold", size, options)
	return &Activation{"Unfold(" + text, func(x *tensor.Tensor) *tensor.Tensor { return x.Im2Col(window, o) }}
}

// Fold returns a module that sums windows into (n, c, height, width), the transpose of
// Unfold. It takes KernelSize, Stride, Padding and Dilation. It is torch.nn.Fold.
func Fold(height, width, size int, options ...Option) *Activation {
	window, o, text := unfolding("fold", size, options)
	sizes := []int{height, width}
	return &Activation{fmt.Sprintf("Fold(output_size=%s, %s", tuple(sizes), text), func(x *tensor.Tensor) *tensor.Tensor { return x.Col2Im(sizes, window, o) }}
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

// PixelShuffle returns a module that rearranges by² channels into square blocks of
// pixels. It is torch.nn.PixelShuffle.
func PixelShuffle(by int) *Activation {
	return &Activation{fmt.Sprintf("PixelShuffle(upscale_factor=%d)", by), func(x *tensor.Tensor) *tensor.Tensor { return x.PixelShuffle(by) }}
}

// PixelUnshuffle returns a module computing the inverse of PixelShuffle. It is torch.nn.PixelUnshuffle.
func PixelUnshuffle(by int) *Activation {
	return &Activation{fmt.Sprintf("PixelUnshuffle(downscale_factor=%d)", by), func(x *tensor.Tensor) *tensor.Tensor { return x.PixelUnshuffle(by) }}
}

// ChannelShuffle returns a module that interleaves the channels of its groups. It is
// torch.nn.ChannelShuffle.
func ChannelShuffle(groups int) *Activation {
	return &Activation{fmt.Sprintf("ChannelShuffle(groups=%d)", groups), func(x *tensor.Tensor) *tensor.Tensor { return x.ChannelShuffle(groups) }}
}

// LocalResponseNorm returns a module that divides by a power of the mean square of
// size neighbouring channels. It is torch.nn.LocalResponseNorm.
func LocalResponseNorm(size int, o tensor.LocalResponseNormOptions) *Activation {
	shown := o
	for _, d := range []struct {
		v         *float64
		otherwise float64
	}{{&shown.Alpha, 1e-4}, {&shown.Beta, 0.75}, {&shown.K, 1}} {
		if *d.v == 0 {
			*d.v = d.otherwise
		}
	}
	text := fmt.Sprintf("LocalResponseNorm(%d, alpha=%s, beta=%s, k=%s)", size, python(shown.Alpha), python(shown.Beta), python(shown.K))
	return &Activation{text, func(x *tensor.Tensor) *tensor.Tensor { return x.LocalResponseNorm(size, o) }}
}

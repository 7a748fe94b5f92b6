package nn

import (
	"fmt"
	"strings"

	"halfnote/tensor"
)

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

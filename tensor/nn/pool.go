package nn

import (
	"fmt"

	"halfnote/tensor"
)

// poolOptions returns the options of pooling over dims dimensions.
func (c visionConfig) poolOptions() tensor.PoolOptions {
	return tensor.PoolOptions{Stride: c.stride, Padding: c.padding, Dilation: c.dilation, CeilMode: c.ceil, ExcludePadding: c.excludePadding, Divisor: c.divisor}
}

// window returns the size of a pooling's window, size or the value of KernelSize, and fills
// in the stride.
func (c *visionConfig) window(size int) []int {
	if len(c.kernel) == 0 {
		c.kernel = []int{size}
	}
	if len(c.stride) == 0 {
		c.stride = c.kernel
	}
	return c.kernel
}

func maxPool(dims, size int, options []Option) *MaxPool {
	name := fmt.Sprintf("MaxPool%dd", dims)
	c := configure(snake(name), config{}, options, "KernelSize", "Stride", "Padding", "Dilation", "CeilMode").vision
	window, o := c.window(size), c.poolOptions()
	text := fmt.Sprintf("%s(kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s)", name,
		brief(window), brief(c.stride), brief(given(c.padding, 0)), brief(given(c.dilation, 1)), truth(c.ceil))
	return &MaxPool{Func{text, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func([]int, tensor.PoolOptions) *tensor.Tensor{x.MaxPool1d, x.MaxPool2d, x.MaxPool3d}[dims-1](window, o)
	}}, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func([]int, tensor.PoolOptions) *tensor.Tensor{x.MaxPoolIndices1d, x.MaxPoolIndices2d, x.MaxPoolIndices3d}[dims-1](window, o)
	}}
}

// NewMaxPool1d returns a module computing the largest element of each window of (n, c, l). It takes
// KernelSize, Stride, Padding, Dilation and CeilMode. It is torch.nn.MaxPool1d.
func NewMaxPool1d(size int, options ...Option) *MaxPool { return maxPool(1, size, options) }

// NewMaxPool2d is NewMaxPool1d for (n, c, h, w). It is torch.nn.MaxPool2d.
func NewMaxPool2d(size int, options ...Option) *MaxPool { return maxPool(2, size, options) }

// NewMaxPool3d is NewMaxPool1d for (n, c, d, h, w). It is torch.nn.MaxPool3d.
func NewMaxPool3d(size int, options ...Option) *MaxPool { return maxPool(3, size, options) }

func lpPool(dims int, p float64, size int, options []Option) *Func {
	name := fmt.Sprintf("LPPool%dd", dims)
	c := configure(snake(name), config{}, options, "KernelSize", "Stride", "CeilMode").vision
	stride := "None"
	if len(c.stride) > 0 {
		stride = brief(c.stride)
	}
	window, o := c.window(size), c.poolOptions()
	text := fmt.Sprintf("%s(norm_type=%v, kernel_size=%s, stride=%s, ceil_mode=%s)", name, p, brief(window), stride, truth(c.ceil))
	return &Func{text, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func(float64, []int, tensor.PoolOptions) *tensor.Tensor{x.LPPool1d, x.LPPool2d, x.LPPool3d}[dims-1](p, window, o)
	}}
}

// NewLPPool1d returns a module computing the norm of order p of each window of (n, c, l). It
// takes KernelSize, Stride and CeilMode. It is torch.nn.LPPool1d.
func NewLPPool1d(p float64, size int, options ...Option) *Func {
	return lpPool(1, p, size, options)
}

// NewLPPool2d is NewLPPool1d for (n, c, h, w). It is torch.nn.LPPool2d.
func NewLPPool2d(p float64, size int, options ...Option) *Func {
	return lpPool(2, p, size, options)
}

// NewLPPool3d is NewLPPool1d for (n, c, d, h, w). It is torch.nn.LPPool3d.
func NewLPPool3d(p float64, size int, options ...Option) *Func {
	return lpPool(3, p, size, options)
}

func avgPool(dims, size int, options []Option) *Func {
	name := fmt.Sprintf("AvgPool%dd", dims)
	takes := []string{"KernelSize", "Stride", "Padding", "CeilMode", "CountIncludePad"}
	if dims > 1 {
		takes = append(takes, "DivisorOverride")
	}
	c := configure(snake(name), config{}, options, takes...).vision
	window, o := c.window(size), c.poolOptions()
	show := brief
	if dims == 1 {
		show = tuple
	}
	text := fmt.Sprintf("%s(kernel_size=%s, stride=%s, padding=%s)", name, show(window), show(c.stride), show(given(c.padding, 0)))
	return &Func{text, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func([]int, tensor.PoolOptions) *tensor.Tensor{x.AvgPool1d, x.AvgPool2d, x.AvgPool3d}[dims-1](window, o)
	}}
}

// NewAvgPool1d returns a module computing the mean of each window of (n, c, l). It takes
// KernelSize, Stride, Padding, CeilMode and CountIncludePad. It is
// torch.nn.AvgPool1d.
func NewAvgPool1d(size int, options ...Option) *Func { return avgPool(1, size, options) }

// NewAvgPool2d is NewAvgPool1d for (n, c, h, w); it takes DivisorOverride too. It is
// torch.nn.AvgPool2d.
func NewAvgPool2d(size int, options ...Option) *Func { return avgPool(2, size, options) }

// NewAvgPool3d is NewAvgPool2d for (n, c, d, h, w). It is torch.nn.AvgPool3d.
func NewAvgPool3d(size int, options ...Option) *Func { return avgPool(3, size, options) }

func adaptive(name string, places []int, f func(x *tensor.Tensor) *tensor.Tensor) *Func {
	size := tuple(places)
	if len(places) == 1 {
		size = fmt.Sprint(places[0])
	}
	return &Func{fmt.Sprintf("%s(output_size=%s)", name, size), f}
}

// NewAdaptiveAvgPool1d returns a module computing the means of places even parts of (n, c, l).
// It is torch.nn.AdaptiveAvgPool1d.
func NewAdaptiveAvgPool1d(places int) *Func {
	return adaptive("AdaptiveAvgPool1d", []int{places}, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool1d(places) })
}

// NewAdaptiveAvgPool2d is NewAdaptiveAvgPool1d for (n, c, h, w), with one number for both
// dimensions or one each; 0 keeps a size. It is torch.nn.AdaptiveAvgPool2d.
func NewAdaptiveAvgPool2d(places ...int) *Func {
	return adaptive("AdaptiveAvgPool2d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool2d(places...) })
}

// NewAdaptiveAvgPool3d is NewAdaptiveAvgPool2d for (n, c, d, h, w). It is
// torch.nn.AdaptiveAvgPool3d.
func NewAdaptiveAvgPool3d(places ...int) *Func {
	return adaptive("AdaptiveAvgPool3d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool3d(places...) })
}

// NewAdaptiveMaxPool1d returns a module computing the largest elements of places even parts of
// (n, c, l). It is torch.nn.AdaptiveMaxPool1d.
func NewAdaptiveMaxPool1d(places int) *Func {
	return adaptive("AdaptiveMaxPool1d", []int{places}, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveMaxPool1d(places) })
}

// NewAdaptiveMaxPool2d is NewAdaptiveMaxPool1d for (n, c, h, w), with one number for both
// dimensions or one each; 0 keeps a size. It is torch.nn.AdaptiveMaxPool2d.
func NewAdaptiveMaxPool2d(places ...int) *Func {
	return adaptive("AdaptiveMaxPool2d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveMaxPool2d(places...) })
}

// NewAdaptiveMaxPool3d is NewAdaptiveMaxPool2d for (n, c, d, h, w). It is
// torch.nn.AdaptiveMaxPool3d.
func NewAdaptiveMaxPool3d(places ...int) *Func {
	return adaptive("AdaptiveMaxPool3d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveMaxPool3d(places...) })
}

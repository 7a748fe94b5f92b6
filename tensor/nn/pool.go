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
	return &MaxPool{Activation{text, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func([]int, tensor.PoolOptions) *tensor.Tensor{x.MaxPool1d, x.MaxPool2d, x.MaxPool3d}[dims-1](window, o)
	}}, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func([]int, tensor.PoolOptions) *tensor.Tensor{x.MaxPoolIndices1d, x.MaxPoolIndices2d, x.MaxPoolIndices3d}[dims-1](window, o)
	}}
}

// MaxPool1d returns a module computing the largest element of each window of (n, c, l). It takes
// KernelSize, Stride, Padding, Dilation and CeilMode. It is torch.nn.MaxPool1d.
func MaxPool1d(size int, options ...Option) *MaxPool { return maxPool(1, size, options) }

// MaxPool2d is MaxPool1d for (n, c, h, w). It is torch.nn.MaxPool2d.
func MaxPool2d(size int, options ...Option) *MaxPool { return maxPool(2, size, options) }

// MaxPool3d is MaxPool1d for (n, c, d, h, w). It is torch.nn.MaxPool3d.
func MaxPool3d(size int, options ...Option) *MaxPool { return maxPool(3, size, options) }

func lpPool(dims int, p float64, size int, options []Option) *Activation {
	name := fmt.Sprintf("LPPool%dd", dims)
	c := configure(snake(name), config{}, options, "KernelSize", "Stride", "CeilMode").vision
	stride := "None"
	if len(c.stride) > 0 {
		stride = brief(c.stride)
	}
	window, o := c.window(size), c.poolOptions()
	text := fmt.Sprintf("%s(norm_type=%v, kernel_size=%s, stride=%s, ceil_mode=%s)", name, p, brief(window), stride, truth(c.ceil))
	return &Activation{text, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func(float64, []int, tensor.PoolOptions) *tensor.Tensor{x.LPPool1d, x.LPPool2d, x.LPPool3d}[dims-1](p, window, o)
	}}
}

// LPPool1d returns a module computing the norm of order p of each window of (n, c, l). It
// takes KernelSize, Stride and CeilMode. It is torch.nn.LPPool1d.
func LPPool1d(p float64, size int, options ...Option) *Activation {
	return lpPool(1, p, size, options)
}

// LPPool2d is LPPool1d for (n, c, h, w). It is torch.nn.LPPool2d.
func LPPool2d(p float64, size int, options ...Option) *Activation {
	return lpPool(2, p, size, options)
}

// LPPool3d is LPPool1d for (n, c, d, h, w). It is torch.nn.LPPool3d.
func LPPool3d(p float64, size int, options ...Option) *Activation {
	return lpPool(3, p, size, options)
}

func avgPool(dims, size int, options []Option) *Activation {
	name := fmt.Sprintf("AvgPool%dd", dims)
	takes := []string{"KernelSize", "Stride", "Padding", "CeilMode", "ExcludePadding"}
	if dims > 1 {
		takes = append(takes, "Divisor")
	}
	c := configure(snake(name), config{}, options, takes...).vision
	window, o := c.window(size), c.poolOptions()
	show := brief
	if dims == 1 {
		show = tuple
	}
	text := fmt.Sprintf("%s(kernel_size=%s, stride=%s, padding=%s)", name, show(window), show(c.stride), show(given(c.padding, 0)))
	return &Activation{text, func(x *tensor.Tensor) *tensor.Tensor {
		return [...]func([]int, tensor.PoolOptions) *tensor.Tensor{x.AvgPool1d, x.AvgPool2d, x.AvgPool3d}[dims-1](window, o)
	}}
}

// AvgPool1d returns a module computing the mean of each window of (n, c, l). It takes
// KernelSize, Stride, Padding, CeilMode and ExcludePadding. It is
// torch.nn.AvgPool1d.
func AvgPool1d(size int, options ...Option) *Activation { return avgPool(1, size, options) }

// AvgPool2d is AvgPool1d for (n, c, h, w); it takes Divisor too. It is
// torch.nn.AvgPool2d.
func AvgPool2d(size int, options ...Option) *Activation { return avgPool(2, size, options) }

// AvgPool3d is AvgPool2d for (n, c, d, h, w). It is torch.nn.AvgPool3d.
func AvgPool3d(size int, options ...Option) *Activation { return avgPool(3, size, options) }

func adaptive(name string, places []int, f func(x *tensor.Tensor) *tensor.Tensor) *Activation {
	size := tuple(places)
	if len(places) == 1 {
		size = fmt.Sprint(places[0])
	}
	return &Activation{fmt.Sprintf("%s(output_size=%s)", name, size), f}
}

// AdaptiveAvgPool1d returns a module computing the means of places even parts of (n, c, l).
// It is torch.nn.AdaptiveAvgPool1d.
func AdaptiveAvgPool1d(places int) *Activation {
	return adaptive("AdaptiveAvgPool1d", []int{places}, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool1d(places) })
}

// AdaptiveAvgPool2d is AdaptiveAvgPool1d for (n, c, h, w), with one number for both
// dimensions or one each; 0 keeps a size. It is torch.nn.AdaptiveAvgPool2d.
func AdaptiveAvgPool2d(places ...int) *Activation {
	return adaptive("AdaptiveAvgPool2d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool2d(places...) })
}

// AdaptiveAvgPool3d is AdaptiveAvgPool2d for (n, c, d, h, w). It is
// torch.nn.AdaptiveAvgPool3d.
func AdaptiveAvgPool3d(places ...int) *Activation {
	return adaptive("AdaptiveAvgPool3d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveAvgPool3d(places...) })
}

// AdaptiveMaxPool1d returns a module computing the largest elements of places even parts of
// (n, c, l). It is torch.nn.AdaptiveMaxPool1d.
func AdaptiveMaxPool1d(places int) *Activation {
	return adaptive("AdaptiveMaxPool1d", []int{places}, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveMaxPool1d(places) })
}

// AdaptiveMaxPool2d is AdaptiveMaxPool1d for (n, c, h, w), with one number for both
// dimensions or one each; 0 keeps a size. It is torch.nn.AdaptiveMaxPool2d.
func AdaptiveMaxPool2d(places ...int) *Activation {
	return adaptive("AdaptiveMaxPool2d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveMaxPool2d(places...) })
}

// AdaptiveMaxPool3d is AdaptiveMaxPool2d for (n, c, d, h, w). It is
// torch.nn.AdaptiveMaxPool3d.
func AdaptiveMaxPool3d(places ...int) *Activation {
	return adaptive("AdaptiveMaxPool3d", places, func(x *tensor.Tensor) *tensor.Tensor { return x.AdaptiveMaxPool3d(places...) })
}

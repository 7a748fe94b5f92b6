package nn

import (
	"fmt"

	"halfnote/tensor"
)

// visionConfig holds the options of convolution, pooling and normalisation. nil and 0 mean
// a layer's default.
type visionConfig struct {
	kernel, stride, padding, dilation, outputPadding []int
	groups, divisor                                  int
	same, ceil, excludePadding                       bool
	mode                                             string
	momentum                                         float64
	cumulative, affine, track                        bool
	outputSize                                       []int
	outputRatio                                      []float64
	samples                                          *tensor.Tensor
}

func vision(name string, set func(c *visionConfig)) Option {
	return Option{name, func(c *config) { set(&c.vision) }}
}

// KernelSize sets the kernel's size along each dimension, instead of the constructor's one
// size.
func KernelSize(n ...int) Option {
	return vision("KernelSize", func(c *visionConfig) { c.kernel = n })
}

// Stride is the step of a kernel or window, one number or one per dimension; by default 1
// for convolutions and the window's size for pooling.
func Stride(n ...int) Option { return vision("Stride", func(c *visionConfig) { c.stride = n }) }

// Padding is the number of elements added on both sides, one number or one per dimension; 0
// by default.
func Padding(n ...int) Option { return vision("Padding", func(c *visionConfig) { c.padding = n }) }

// PaddingSame adds the zeros that preserve the sizes. It is padding="same".
func PaddingSame() Option { return vision("PaddingSame", func(c *visionConfig) { c.same = true }) }

// PaddingMode is the padding mode of a convolution: "zeros" by default, "reflect",
// "replicate" or "circular".
func PaddingMode(mode string) Option {
	return vision("PaddingMode", func(c *visionConfig) { c.mode = mode })
}

// OutputPadding is the number of elements that a transposed convolution adds at the end; 0
// by default.
func OutputPadding(n ...int) Option {
	return vision("OutputPadding", func(c *visionConfig) { c.outputPadding = n })
}

// Dilation is the spacing of a kernel's elements, one number or one per dimension; 1 by
// default.
func Dilation(n ...int) Option { return vision("Dilation", func(c *visionConfig) { c.dilation = n }) }

// Groups splits channels into n independent groups; 1 by default.
func Groups(n int) Option { return vision("Groups", func(c *visionConfig) { c.groups = n }) }

// CeilMode lets a pooling's last window extend beyond the input. It is ceil_mode=True.
func CeilMode() Option { return vision("CeilMode", func(c *visionConfig) { c.ceil = true }) }

// CountIncludePad sets whether an average's divisor counts padding; on by default. It is
// count_include_pad.
func CountIncludePad(on bool) Option {
	return vision("CountIncludePad", func(c *visionConfig) { c.excludePadding = !on })
}

// DivisorOverride is the divisor of an average pooling, instead of the number of elements in the
// window. It is divisor_override.
func DivisorOverride(n int) Option {
	return vision("DivisorOverride", func(c *visionConfig) { c.divisor = n })
}

// Momentum is the weight of a batch in the running statistics; 0.1 by default.
func Momentum(m float64) Option { return vision("Momentum", func(c *visionConfig) { c.momentum = m }) }

// CumulativeAverage makes running statistics the averages of all batches so far. It
// is momentum=None.
func CumulativeAverage() Option {
	return vision("CumulativeAverage", func(c *visionConfig) { c.cumulative = true })
}

// Affine turns a normalisation's weight and bias on or off: on by default, except for
// InstanceNorm.
func Affine(on bool) Option { return vision("Affine", func(c *visionConfig) { c.affine = on }) }

// TrackRunningStats turns a normalisation's running statistics on or off: on by default,
// except for InstanceNorm.
func TrackRunningStats(on bool) Option {
	return vision("TrackRunningStats", func(c *visionConfig) { c.track = on })
}

// perDimension returns list as n numbers: a single number repeats, and an empty list gives
// otherwise n times.
func perDimension(list []int, n, otherwise int) []int {
	out := make([]int, n)
	for i := range out {
		switch {
		case len(list) == n:
			out[i] = list[i]
		case len(list) > 0:
			out[i] = list[0]
		default:
			out[i] = otherwise
		}
	}
	return out
}

// brief is tuple, but prints one number if all are equal, as torch prints an argument given
// as one number.
func brief(list []int) string {
	for _, n := range list {
		if n != list[0] {
			return tuple(list)
		}
	}
	return fmt.Sprint(list[0])
}

// given returns list, or otherwise if it is empty.
func given(list []int, otherwise int) []int { return perDimension(list, max(1, len(list)), otherwise) }

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

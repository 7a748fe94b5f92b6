package nn

import (
	"fmt"

	"halfnote/tensor"
)

// visionConfig is what options of convolution, pooling and normalisation set. nil
// and 0 leave a layer's default.
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

// KernelSize gives the kernel another size along each dimension, instead of the one
// number that the constructor was given.
func KernelSize(n ...int) Option {
	return vision("KernelSize", func(c *visionConfig) { c.kernel = n })
}

// Stride is how far a kernel or window steps, one number or one a dimension: 1 for
// convolutions and the window's size for pooling by default.
func Stride(n ...int) Option { return vision("Stride", func(c *visionConfig) { c.stride = n }) }

// Padding is how many elements are added on both sides, one number or one a
// dimension: 0 by default.
func Padding(n ...int) Option { return vision("Padding", func(c *visionConfig) { c.padding = n }) }

// SamePadding adds as many zeros as keep the sizes. It is padding="same".
func SamePadding() Option { return vision("SamePadding", func(c *visionConfig) { c.same = true }) }

// PaddingMode is what a convolution pads with: "zeros" by default, "reflect",
// "replicate" or "circular".
func PaddingMode(mode string) Option {
	return vision("PaddingMode", func(c *visionConfig) { c.mode = mode })
}

// OutputPadding is how many elements a transposed convolution adds behind: 0 by
// default.
func OutputPadding(n ...int) Option {
	return vision("OutputPadding", func(c *visionConfig) { c.outputPadding = n })
}

// Dilation is the distance of a kernel's elements, one number or one a dimension: 1
// by default.
func Dilation(n ...int) Option { return vision("Dilation", func(c *visionConfig) { c.dilation = n }) }

// Groups cuts channels into n parts that do not see each other: 1 by default.
func Groups(n int) Option { return vision("Groups", func(c *visionConfig) { c.groups = n }) }

// CeilMode lets a pooling's last window end outside. It is ceil_mode=True.
func CeilMode() Option { return vision("CeilMode", func(c *visionConfig) { c.ceil = true }) }

// ExcludePadding leaves padding out of an average's divisor. It is
// count_include_pad=False.
func ExcludePadding() Option {
	return vision("ExcludePadding", func(c *visionConfig) { c.excludePadding = true })
}

// Divisor is what an average pooling divides by, instead of the window's elements.
// It is divisor_override.
func Divisor(n int) Option { return vision("Divisor", func(c *visionConfig) { c.divisor = n }) }

// Momentum is the share of a batch in the running statistics: 0.1 by default.
func Momentum(m float64) Option { return vision("Momentum", func(c *visionConfig) { c.momentum = m }) }

// CumulativeAverage makes running statistics the averages of all batches so far. It
// is momentum=None.
func CumulativeAverage() Option {
	return vision("CumulativeAverage", func(c *visionConfig) { c.cumulative = true })
}

// Affine says whether a normalisation has weight and bias: yes by default, but for
// InstanceNorm.
func Affine(on bool) Option { return vision("Affine", func(c *visionConfig) { c.affine = on }) }

// TrackRunningStats says whether a normalisation keeps running statistics to use
// after training: yes by default, but for InstanceNorm.
func TrackRunningStats(on bool) Option {
	return vision("TrackRunningStats", func(c *visionConfig) { c.track = on })
}

// perDimension returns list as n numbers: its only one n times, or otherwise.
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

// brief is tuple, but one number if all are alike, as torch prints what was given
// as one.
func brief(list []int) string {
	for _, n := range list {
		if n != list[0] {
			return tuple(list)
		}
	}
	return fmt.Sprint(list[0])
}

// given returns list as it was given, or otherwise.
func given(list []int, otherwise int) []int { return perDimension(list, max(1, len(list)), otherwise) }

package nn

import (
	"fmt"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// pool is a pooling with its options.
type pool struct {
	name   string
	dims   int
	window []int
	stride []int // as given; nil by default
	c      visionConfig
	o      plumbing.PoolOptions
}

func newPool(kind string, dims, size int, options []Option, takes ...string) pool {
	p := pool{name: fmt.Sprintf("%s%dd", kind, dims), dims: dims}
	p.c = configure(snake(p.name), config{}, options, append(takes, "KernelSize", "Stride", "CeilMode")...).vision
	p.stride = p.c.stride
	p.window = p.c.window(size)
	p.o = plumbing.PoolOptions{Stride: p.c.stride, Padding: p.c.padding, Dilation: p.c.dilation, CeilMode: p.c.ceil, ExcludePadding: p.c.excludePadding, Divisor: p.c.divisor}
	return p
}

func newMaxPool(dims, size int, options []Option) pool {
	return newPool("MaxPool", dims, size, options, "Padding", "Dilation")
}

func (p pool) max(x *tensor.Tensor) *tensor.Tensor {
	return functional.MaxPool(x, p.dims, p.window, p.o)
}

func (p pool) indices(x *tensor.Tensor) *tensor.Tensor {
	return functional.MaxPoolIndices(x, p.dims, p.window, p.o)
}

func maxPool(dims, size int, options []Option) *MaxPool {
	p := newMaxPool(dims, size, options)
	text := fmt.Sprintf("%s(kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s)", p.name,
		brief(p.window), brief(p.c.stride), brief(given(p.c.padding, 0)), brief(given(p.c.dilation, 1)), truth(p.c.ceil))
	return &MaxPool{Func{text, p.max}, p.indices}
}

// MaxPool1d returns the largest elements of x (…, l) in windows of size elements, or NaN for a
// window that contains one: (…, l'), where l' = (l + 2 padding - dilation (size-1) - 1) /
// stride + 1. Padding elements are -Inf. The gradient goes to the first of equal elements. It
// takes KernelSize, Stride, Padding, Dilation and CeilMode. It is
// torch.nn.functional.max_pool1d.
func MaxPool1d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newMaxPool(1, size, options).max(x)
}

// MaxPool2d is MaxPool1d for x (…, h, w). It is torch.nn.functional.max_pool2d.
func MaxPool2d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newMaxPool(2, size, options).max(x)
}

// MaxPool3d is MaxPool1d for x (…, d, h, w). It is torch.nn.functional.max_pool3d.
func MaxPool3d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newMaxPool(3, size, options).max(x)
}

// MaxPool1dWithIndices returns the result of MaxPool1d and the positions of its elements along
// the last dimension of x, as int64. It is torch.nn.functional.max_pool1d_with_indices.
func MaxPool1dWithIndices(x *tensor.Tensor, size int, options ...Option) (y, indices *tensor.Tensor) {
	p := newMaxPool(1, size, options)
	return p.max(x), p.indices(x)
}

// MaxPool2dWithIndices is MaxPool1dWithIndices for MaxPool2d: row-major positions in (h, w). It
// is torch.nn.functional.max_pool2d_with_indices.
func MaxPool2dWithIndices(x *tensor.Tensor, size int, options ...Option) (y, indices *tensor.Tensor) {
	p := newMaxPool(2, size, options)
	return p.max(x), p.indices(x)
}

// MaxPool3dWithIndices is MaxPool2dWithIndices for MaxPool3d. It is
// torch.nn.functional.max_pool3d_with_indices.
func MaxPool3dWithIndices(x *tensor.Tensor, size int, options ...Option) (y, indices *tensor.Tensor) {
	p := newMaxPool(3, size, options)
	return p.max(x), p.indices(x)
}

// NewMaxPool1d returns MaxPool1d as a module. It is torch.nn.MaxPool1d.
func NewMaxPool1d(size int, options ...Option) *MaxPool { return maxPool(1, size, options) }

// NewMaxPool2d returns MaxPool2d as a module. It is torch.nn.MaxPool2d.
func NewMaxPool2d(size int, options ...Option) *MaxPool { return maxPool(2, size, options) }

// NewMaxPool3d returns MaxPool3d as a module. It is torch.nn.MaxPool3d.
func NewMaxPool3d(size int, options ...Option) *MaxPool { return maxPool(3, size, options) }

func newLPPool(dims int, size int, options []Option) pool {
	return newPool("LPPool", dims, size, options)
}

func (p pool) lp(x *tensor.Tensor, norm float64) *tensor.Tensor {
	return functional.LPPool(x, p.dims, norm, p.window, p.o)
}

func lpPool(dims int, norm float64, size int, options []Option) *Func {
	p := newLPPool(dims, size, options)
	stride := "None"
	if len(p.stride) > 0 {
		stride = brief(p.stride)
	}
	text := fmt.Sprintf("%s(norm_type=%v, kernel_size=%s, stride=%s, ceil_mode=%s)", p.name, norm, brief(p.window), stride, truth(p.c.ceil))
	return &Func{text, func(x *tensor.Tensor) *tensor.Tensor { return p.lp(x, norm) }}
}

// LPPool1d returns the p-norms of x (…, l) over windows of size elements, for nonzero p; for
// ±Inf the largest or smallest |x|. If a window extends beyond x, its sum of powers is scaled to
// the full window. The gradient is 0 where a norm is 0. It takes KernelSize, Stride and
// CeilMode. It is torch.nn.functional.lp_pool1d.
func LPPool1d(x *tensor.Tensor, p float64, size int, options ...Option) *tensor.Tensor {
	return newLPPool(1, size, options).lp(x, p)
}

// LPPool2d is LPPool1d for x (…, h, w). It is torch.nn.functional.lp_pool2d.
func LPPool2d(x *tensor.Tensor, p float64, size int, options ...Option) *tensor.Tensor {
	return newLPPool(2, size, options).lp(x, p)
}

// LPPool3d is LPPool1d for x (…, d, h, w). It is torch.nn.functional.lp_pool3d.
func LPPool3d(x *tensor.Tensor, p float64, size int, options ...Option) *tensor.Tensor {
	return newLPPool(3, size, options).lp(x, p)
}

// NewLPPool1d returns LPPool1d as a module. It is torch.nn.LPPool1d.
func NewLPPool1d(p float64, size int, options ...Option) *Func { return lpPool(1, p, size, options) }

// NewLPPool2d returns LPPool2d as a module. It is torch.nn.LPPool2d.
func NewLPPool2d(p float64, size int, options ...Option) *Func { return lpPool(2, p, size, options) }

// NewLPPool3d returns LPPool3d as a module. It is torch.nn.LPPool3d.
func NewLPPool3d(p float64, size int, options ...Option) *Func { return lpPool(3, p, size, options) }

func newAvgPool(dims, size int, options []Option) pool {
	takes := []string{"Padding", "CountIncludePad"}
	if dims > 1 {
		takes = append(takes, "DivisorOverride")
	}
	return newPool("AvgPool", dims, size, options, takes...)
}

func (p pool) avg(x *tensor.Tensor) *tensor.Tensor {
	return functional.AvgPool(x, p.dims, p.window, p.o)
}

func avgPool(dims, size int, options []Option) *Func {
	p := newAvgPool(dims, size, options)
	show := brief
	if dims == 1 {
		show = tuple
	}
	return &Func{fmt.Sprintf("%s(kernel_size=%s, stride=%s, padding=%s)", p.name, show(p.window), show(p.c.stride), show(given(p.c.padding, 0))), p.avg}
}

// AvgPool1d returns the means of x (…, l) over windows of size elements: (…, l'), where l' = (l
// + 2 padding - size) / stride + 1. Padding elements are 0. It sums and divides in float32 and
// rounds once. It takes KernelSize, Stride, Padding, CeilMode and CountIncludePad. It is
// torch.nn.functional.avg_pool1d.
func AvgPool1d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newAvgPool(1, size, options).avg(x)
}

// AvgPool2d is AvgPool1d for x (…, h, w); it takes DivisorOverride too. It is
// torch.nn.functional.avg_pool2d.
func AvgPool2d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newAvgPool(2, size, options).avg(x)
}

// AvgPool3d is AvgPool2d for x (…, d, h, w). It is torch.nn.functional.avg_pool3d.
func AvgPool3d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newAvgPool(3, size, options).avg(x)
}

// NewAvgPool1d returns AvgPool1d as a module. It is torch.nn.AvgPool1d.
func NewAvgPool1d(size int, options ...Option) *Func { return avgPool(1, size, options) }

// NewAvgPool2d returns AvgPool2d as a module. It is torch.nn.AvgPool2d.
func NewAvgPool2d(size int, options ...Option) *Func { return avgPool(2, size, options) }

// NewAvgPool3d returns AvgPool3d as a module. It is torch.nn.AvgPool3d.
func NewAvgPool3d(size int, options ...Option) *Func { return avgPool(3, size, options) }

func adaptive(name string, places []int, f func(x *tensor.Tensor, dims int, places []int) *tensor.Tensor, dims int) *Func {
	size := tuple(places)
	if len(places) == 1 {
		size = fmt.Sprint(places[0])
	}
	return &Func{fmt.Sprintf("%s(output_size=%s)", name, size), func(x *tensor.Tensor) *tensor.Tensor { return f(x, dims, places) }}
}

// AdaptiveAvgPool1d splits x (…, l) into the given number of even parts and returns their
// means: (…, places). The parts overlap if l is not a multiple of places. It is
// torch.nn.functional.adaptive_avg_pool1d.
func AdaptiveAvgPool1d(x *tensor.Tensor, places int) *tensor.Tensor {
	return functional.AdaptiveAvgPool(x, 1, []int{places})
}

// AdaptiveAvgPool2d is AdaptiveAvgPool1d for x (…, h, w), with one number for both dimensions or
// one per dimension; 0 keeps a size. It is torch.nn.functional.adaptive_avg_pool2d.
func AdaptiveAvgPool2d(x *tensor.Tensor, places ...int) *tensor.Tensor {
	return functional.AdaptiveAvgPool(x, 2, places)
}

// AdaptiveAvgPool3d is AdaptiveAvgPool2d for x (…, d, h, w). It is
// torch.nn.functional.adaptive_avg_pool3d.
func AdaptiveAvgPool3d(x *tensor.Tensor, places ...int) *tensor.Tensor {
	return functional.AdaptiveAvgPool(x, 3, places)
}

// AdaptiveMaxPool1d splits x (…, l) into the given number of even parts and returns their
// largest elements: (…, places). The parts overlap if l is not a multiple of places. It is
// torch.nn.functional.adaptive_max_pool1d.
func AdaptiveMaxPool1d(x *tensor.Tensor, places int) *tensor.Tensor {
	return functional.AdaptiveMaxPool(x, 1, []int{places})
}

// AdaptiveMaxPool2d is AdaptiveMaxPool1d for x (…, h, w), with one number for both dimensions or
// one per dimension; 0 keeps a size. It is torch.nn.functional.adaptive_max_pool2d.
func AdaptiveMaxPool2d(x *tensor.Tensor, places ...int) *tensor.Tensor {
	return functional.AdaptiveMaxPool(x, 2, places)
}

// AdaptiveMaxPool3d is AdaptiveMaxPool2d for x (…, d, h, w). It is
// torch.nn.functional.adaptive_max_pool3d.
func AdaptiveMaxPool3d(x *tensor.Tensor, places ...int) *tensor.Tensor {
	return functional.AdaptiveMaxPool(x, 3, places)
}

// NewAdaptiveAvgPool1d returns AdaptiveAvgPool1d as a module. It is torch.nn.AdaptiveAvgPool1d.
func NewAdaptiveAvgPool1d(outputSize int) *Func {
	return adaptive("AdaptiveAvgPool1d", []int{outputSize}, functional.AdaptiveAvgPool, 1)
}

// NewAdaptiveAvgPool2d returns AdaptiveAvgPool2d as a module. It is torch.nn.AdaptiveAvgPool2d.
func NewAdaptiveAvgPool2d(outputSize ...int) *Func {
	return adaptive("AdaptiveAvgPool2d", outputSize, functional.AdaptiveAvgPool, 2)
}

// NewAdaptiveAvgPool3d returns AdaptiveAvgPool3d as a module. It is torch.nn.AdaptiveAvgPool3d.
func NewAdaptiveAvgPool3d(outputSize ...int) *Func {
	return adaptive("AdaptiveAvgPool3d", outputSize, functional.AdaptiveAvgPool, 3)
}

// NewAdaptiveMaxPool1d returns AdaptiveMaxPool1d as a module. It is torch.nn.AdaptiveMaxPool1d.
func NewAdaptiveMaxPool1d(outputSize int) *Func {
	return adaptive("AdaptiveMaxPool1d", []int{outputSize}, functional.AdaptiveMaxPool, 1)
}

// NewAdaptiveMaxPool2d returns AdaptiveMaxPool2d as a module. It is torch.nn.AdaptiveMaxPool2d.
func NewAdaptiveMaxPool2d(outputSize ...int) *Func {
	return adaptive("AdaptiveMaxPool2d", outputSize, functional.AdaptiveMaxPool, 2)
}

// NewAdaptiveMaxPool3d returns AdaptiveMaxPool3d as a module. It is torch.nn.AdaptiveMaxPool3d.
func NewAdaptiveMaxPool3d(outputSize ...int) *Func {
	return adaptive("AdaptiveMaxPool3d", outputSize, functional.AdaptiveMaxPool, 3)
}

// MaxPool is max pooling as a module; ForwardIndices also returns the indices of the largest
// elements.
type MaxPool struct {
	Func
	indices func(x *tensor.Tensor) *tensor.Tensor
}

// ForwardIndices returns the largest element of each window of x and its index in the plane, in
// row-major order, as int64: the arguments of MaxUnpool. It is return_indices=True.
func (m *MaxPool) ForwardIndices(x *tensor.Tensor) (y, indices *tensor.Tensor) {
	return m.Forward(x), m.indices(x)
}

// MaxUnpool puts elements back at the indices that a max pooling returned. All other elements are
// 0.
type MaxUnpool struct {
	text                    string
	window, stride, padding []int
}

// NewMaxUnpool1d returns a partial inverse of MaxPool1d for (n, c, l). It takes KernelSize,
// Stride and Padding, as given to the pooling. It is torch.nn.MaxUnpool1d.
func NewMaxUnpool1d(size int, options ...Option) *MaxUnpool { return newMaxUnpool(1, size, options) }

// NewMaxUnpool2d is NewMaxUnpool1d for (n, c, h, w). It is torch.nn.MaxUnpool2d.
func NewMaxUnpool2d(size int, options ...Option) *MaxUnpool { return newMaxUnpool(2, size, options) }

// NewMaxUnpool3d is NewMaxUnpool1d for (n, c, d, h, w). It is torch.nn.MaxUnpool3d.
func NewMaxUnpool3d(size int, options ...Option) *MaxUnpool { return newMaxUnpool(3, size, options) }

// MaxUnpool1d returns x (…, l) unpooled: zeros with x's elements at the indices that
// MaxPool1dWithIndices returns. It takes KernelSize, Stride and Padding, as given to the
// pooling, and OutputSize, by default the smallest size that the pooling maps to x's. It is
// torch.nn.functional.max_unpool1d.
func MaxUnpool1d(x, indices *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return unpooled(1, x, indices, size, options)
}

// MaxUnpool2d is MaxUnpool1d for x (…, h, w). It is torch.nn.functional.max_unpool2d.
func MaxUnpool2d(x, indices *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return unpooled(2, x, indices, size, options)
}

// MaxUnpool3d is MaxUnpool1d for x (…, d, h, w). It is torch.nn.functional.max_unpool3d.
func MaxUnpool3d(x, indices *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return unpooled(3, x, indices, size, options)
}

func unpooled(dims int, x, indices *tensor.Tensor, size int, options []Option) *tensor.Tensor {
	m, output := maxUnpool(dims, size, options, "OutputSize")
	return m.Forward(x, indices, output...)
}

func newMaxUnpool(dims, size int, options []Option) *MaxUnpool {
	m, _ := maxUnpool(dims, size, options)
	return m
}

func maxUnpool(dims, size int, options []Option, takes ...string) (m *MaxUnpool, output []int) {
	name := fmt.Sprintf("MaxUnpool%dd", dims)
	c := configure(snake(name), config{}, options, append(takes, "KernelSize", "Stride", "Padding")...).vision
	c.window(size)
	full := func(list []int) []int { return perDimension(list, dims, 0) }
	m = &MaxUnpool{window: full(c.kernel), stride: full(c.stride), padding: full(c.padding)}
	m.text = fmt.Sprintf("%s(kernel_size=%s, stride=%s, padding=%s)", name, tuple(m.window), tuple(m.stride), tuple(m.padding))
	if slices.Min(m.window) < 1 || slices.Min(m.stride) < 1 || slices.Min(m.padding) < 0 {
		panic(&tensor.Error{Op: snake(name), Why: m.text + "; want sizes and strides of at least 1 and padding of at least 0"})
	}
	return m, c.outputSize
}

// Forward returns x (…, l), (…, h, w) or (…, d, h, w) unpooled; indices are positions in the
// plane. size is the size of the plane, by default the smallest that the pooling maps to x's
// size. It panics unless each size differs from that by less than a stride. The derivative
// gathers elements.
func (m *MaxUnpool) Forward(x, indices *tensor.Tensor, size ...int) *tensor.Tensor {
	dims := len(m.window)
	op := snake(m.text[:len("MaxUnpool1d")])
	required(op, "input", x)
	required(op, "indices", indices)
	lead := x.Dim() - dims
	if lead < 1 || lead > 2 || !slices.Equal(x.Shape(), indices.Shape()) {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape(), indices.Shape()}, Why: fmt.Sprintf("want input %d-D or %d-D, and indices of its shape", dims+1, dims+2)})
	}
	plane := m.plane(op, x.Shape()[lead:], size)
	rows := 1
	for _, n := range plane[:dims-1] {
		rows *= n
	}
	// Indices are positions in a flattened plane.
	flat := func(t *tensor.Tensor) *tensor.Tensor { return t.Flatten(lead).Unsqueeze(-2) }
	y := functional.MaxUnpool(flat(x), flat(indices), rows, plane[dims-1])
	return y.Reshape(append(x.Shape()[:lead], plane...)...)
}

// plane returns the sizes that x's sizes are unpooled to. size may give the plane's sizes or
// all of the result's.
func (m *MaxUnpool) plane(op string, sizes, size []int) []int {
	dims := len(sizes)
	if len(size) == dims+1 || len(size) == dims+2 {
		size = size[len(size)-dims:]
	}
	plane := make([]int, dims)
	for d, n := range sizes {
		plane[d] = (n-1)*m.stride[d] + m.window[d] - 2*m.padding[d]
	}
	if len(size) == 0 {
		return plane
	}
	fits := len(size) == dims
	for d := 0; fits && d < dims; d++ {
		fits = size[d] > plane[d]-m.stride[d] && size[d] < plane[d]+m.stride[d]
	}
	if !fits {
		panic(&tensor.Error{Op: op, Why: text.Sprintf("output size is %v; want %v, each plus or minus less than the stride %v", size, plane, m.stride)})
	}
	return size
}

// String returns what torch prints.
func (m *MaxUnpool) String() string { return m.text }

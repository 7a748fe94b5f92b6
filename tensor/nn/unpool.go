package nn

import (
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
)

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

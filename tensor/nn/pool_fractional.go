package nn

import (
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// FractionalMaxPool is max pooling over windows whose positions are drawn for each plane at
// each call: B. Graham, "Fractional Max-Pooling" (2014).
type FractionalMaxPool struct {
	name    string
	window  []int
	size    []int     // sizes of the result, or nil
	ratio   []float64 // ratios of the result's sizes to the input's, or nil
	samples *tensor.Tensor
}

// OutputSize is the size of a fractional pooling's result: one number, or one per
// dimension.
func OutputSize(n ...int) Option {
	return vision("OutputSize", func(c *visionConfig) { c.outputSize = n })
}

// OutputRatio is the ratio of a fractional pooling's result to its input, above 0 and below
// 1: one number, or one per dimension.
func OutputRatio(r ...float64) Option {
	return vision("OutputRatio", func(c *visionConfig) { c.outputRatio = r })
}

// RandomSamples places a fractional pooling's windows by x (n, c, dimensions), numbers in
// [0, 1), instead of drawing them. It is _random_samples.
func RandomSamples(x *tensor.Tensor) Option {
	return vision("RandomSamples", func(c *visionConfig) { c.samples = x })
}

// NewFractionalMaxPool2d returns a fractional max pooling of (n, c, h, w) or (c, h, w) with
// windows of the given size. It takes one of OutputSize and OutputRatio, KernelSize and
// RandomSamples. The generator that tensor.ManualSeed seeds draws float32 numbers, the same
// as torch's for float32. It is torch.nn.FractionalMaxPool2d.
func NewFractionalMaxPool2d(size int, options ...Option) *FractionalMaxPool {
	return newFractionalMaxPool(2, size, options)
}

// NewFractionalMaxPool3d is NewFractionalMaxPool2d for (n, c, d, h, w) or (c, d, h, w). It
// is torch.nn.FractionalMaxPool3d.
func NewFractionalMaxPool3d(size int, options ...Option) *FractionalMaxPool {
	return newFractionalMaxPool(3, size, options)
}

// FractionalMaxPool2d is NewFractionalMaxPool2d applied to x. It is
// torch.nn.functional.fractional_max_pool2d.
func FractionalMaxPool2d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newFractionalMaxPool(2, size, options).Forward(x)
}

// FractionalMaxPool3d is NewFractionalMaxPool3d applied to x. It is
// torch.nn.functional.fractional_max_pool3d.
func FractionalMaxPool3d(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	return newFractionalMaxPool(3, size, options).Forward(x)
}

func newFractionalMaxPool(dims, size int, options []Option) *FractionalMaxPool {
	name := fmt.Sprintf("FractionalMaxPool%dd", dims)
	op := snake(name)
	c := configure(op, config{}, options, "KernelSize", "OutputSize", "OutputRatio", "RandomSamples").vision
	f := &FractionalMaxPool{name: name, window: perDimension(c.window(size), dims, 0), samples: c.samples}
	if (len(c.outputSize) == 0) == (len(c.outputRatio) == 0) {
		panic(&tensor.Error{Op: op, Why: text.Sprintf("OutputSize %v and OutputRatio %v; want exactly one of them", c.outputSize, c.outputRatio)})
	}
	if len(c.outputSize) > 0 {
		f.size = perDimension(c.outputSize, dims, 0)
	} else {
		f.ratio = slices.Repeat(c.outputRatio[:1], dims)
		if len(c.outputRatio) == dims {
			f.ratio = c.outputRatio
		}
	}
	for _, r := range f.ratio {
		if !(r > 0 && r < 1) {
			panic(&tensor.Error{Op: op, Why: text.Sprintf("OutputRatio is %v; want numbers above 0 and below 1", f.ratio)})
		}
	}
	return f
}

// Forward returns the largest element of each window.
func (f *FractionalMaxPool) Forward(x *tensor.Tensor) *tensor.Tensor {
	y, _ := f.ForwardIndices(x)
	return y
}

// ForwardIndices returns Forward's result and the index of each largest element in its plane, in
// row-major order, as int64. It is return_indices=True.
func (f *FractionalMaxPool) ForwardIndices(x *tensor.Tensor) (y, indices *tensor.Tensor) {
	dims := len(f.window)
	op := snake(f.name)
	required(op, "input", x)
	if x.DType().IsStorage() {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("dtype %v is for storage only; convert the input, for example with x.Half() or x.Float()", x.DType())})
	}
	if x.Dim() != dims+1 && x.Dim() != dims+2 {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("input is %d-D; want %d-D or %d-D", x.Dim(), dims+1, dims+2)})
	}
	if x.Dim() == dims+1 {
		y, indices = f.ForwardIndices(x.Unsqueeze(0))
		return y.Squeeze(0), indices.Squeeze(0)
	}
	starts := f.starts(op, x)
	indices = f.largest(x.Detach(), starts)
	return tensor.Apply(picked{op}, x, indices), indices
}

// places returns the sizes of the result for an input of sizes.
func (f *FractionalMaxPool) places(op string, sizes []int) []int {
	places := slices.Clone(f.size)
	for d := range f.ratio {
		places = append(places, int(float64(sizes[d])*f.ratio[d]))
	}
	for d, n := range places {
		if n < 1 || f.window[d] < 1 || n > sizes[d]-f.window[d]+1 {
			panic(&tensor.Error{Op: op, Why: text.Sprintf("windows of %v at %v positions in a plane of %v; want at least one position and no more than fit", f.window, places, sizes)})
		}
	}
	return places
}

// starts returns the first index of each window in its plane, in row-major order: (n, c, places…).
func (f *FractionalMaxPool) starts(op string, x *tensor.Tensor) *tensor.Tensor {
	dims := len(f.window)
	shape := x.Shape()
	sizes := shape[2:]
	places := f.places(op, sizes)
	samples := f.samples
	if want := []int{shape[0], shape[1], dims}; samples == nil {
		samples = tensor.Rand(want...).To(x.DType())
	} else if !slices.Equal(samples.Shape(), want) {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape, samples.Shape()}, Why: text.Sprintf("RandomSamples has the wrong shape; want %v", want)})
	}
	interval := intervals[float32]
	if x.DType() == tensor.Float64 {
		interval = intervals[float64]
	}
	drawn := samples.Float64s()
	var at *tensor.Tensor
	step := 1
	for d := dims - 1; d >= 0; d-- {
		// torch takes the numbers of a plane in another order: width first in two
		// dimensions, depth first in three.
		which := d
		if dims == 2 {
			which = 1 - d
		}
		var starts []int
		for plane := range shape[0] * shape[1] {
			for _, s := range interval(drawn[plane*dims+which], sizes[d], places[d], f.window[d]) {
				starts = append(starts, s*step)
			}
		}
		along := slices.Repeat([]int{1}, dims)
		along[d] = places[d]
		part := tensor.FromInts(starts, append([]int{shape[0], shape[1]}, along...)...)
		if at == nil {
			at = part
		} else {
			at = at.Add(part)
		}
		step *= sizes[d]
	}
	return at.ToDevice(x.Device())
}

// intervals returns the first index of each window along a dimension, as torch's
// fractional_max_pool_generate_intervals does, in arithmetic of the input's dtype.
func intervals[F float32 | float64](sample float64, size, places, window int) []int {
	starts := make([]int, places)
	if places > 1 {
		alpha, u := F(size-window)/F(places-1), F(sample)
		for i := range places - 1 {
			starts[i] = int(F(F(i)+u)*alpha) - int(u*alpha)
		}
	}
	starts[places-1] = size - window
	return starts
}

// largest returns the index of the largest element of each window: the first of equal ones,
// or the last NaN.
func (f *FractionalMaxPool) largest(x, starts *tensor.Tensor) *tensor.Tensor {
	sizes := x.Shape()[2:]
	var best, at *tensor.Tensor
	for tap := range product(f.window) {
		offset, step := 0, 1
		for d := len(sizes) - 1; d >= 0; d-- {
			offset += tap % f.window[d] * step
			tap /= f.window[d]
			step *= sizes[d]
		}
		index := starts.AddScalar(float64(offset))
		v := x.Flatten(2).Gather(-1, index.Flatten(2)).Reshape(index.Shape()...)
		if best == nil {
			best, at = v, index
			continue
		}
		better := v.Gt(best).Or(v.Ne(v))
		best, at = better.Where(v, best), better.Where(index, at)
	}
	return at
}

func product(list []int) int {
	n := 1
	for _, m := range list {
		n *= m
	}
	return n
}

// String returns what torch prints.
func (f *FractionalMaxPool) String() string { return f.name + "()" }

// picked gathers the elements of planes (n, c, …) at an index.
type picked struct{ name string }

func (p picked) Info() tensor.Info {
	return tensor.Info{Name: p.name, Torch: "torch.nn.functional." + p.name, Saved: tensor.SavesIndices}
}

func (picked) Forward(in []*tensor.Tensor) *tensor.Tensor {
	return in[0].Flatten(2).Gather(-1, in[1].Flatten(2)).Reshape(in[1].Shape()...)
}

func (picked) VJP(dy, _ *tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	zeros := zerosLike(dy, in[0].Shape()...).Flatten(2)
	dx := zeros.ScatterAdd(-1, in[1].Flatten(2), dy.Flatten(2))
	return []*tensor.Tensor{dx.Reshape(in[0].Shape()...), nil}
}

package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// Max pooling is two operations: one finds the positions of the maxima, the other takes the
// elements there.

// maxPoolIndices is the position, in row-major order over the last dims dimensions, of the
// largest element in each window. Of equal elements it is the first, and NaN counts as
// largest.
type maxPoolIndices struct {
	dims   int
	window // window at each place; without a kernel, the parts of adaptive pooling
	places []int
}

func (m maxPoolIndices) Info() Info {
	return info("max_pool"+nd(m.dims)+"_with_indices", "torch.nn.functional.max_pool"+nd(m.dims), NoDerivative)
}
func (maxPoolIndices) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

func (m maxPoolIndices) Forward(in []*Tensor) *Tensor {
	x := in[0]
	lead := len(x.shape) - m.dims
	y := newTensor(x.mem.backend, Int64, append(slices.Clone(x.shape[:lead]), m.places...))
	if y.Numel() == 0 {
		return y
	}
	if m.kernel == nil {
		m.adaptive(compact(x), y)
		return y
	}
	padded := m.pad(x, math.Inf(-1))
	v := m.view(padded, m.places)
	found := unsetTensor(x.mem.backend, Int64, append(slices.Clone(y.shape), keepDims(m.kernel, seq(m.dims))...))
	run(driver.Kernel{Code: driver.ArgMax}, found, v)
	dropTemporaries(x, padded)
	m.locate(y, shaped(found, y.shape), x.shape[lead:])
	release(found)
	return y
}

// locate sets y to the positions in the plane that correspond to found, the kernel elements
// found at each place. Padding is found only where all other elements are -Inf; then the first
// element is the maximum.
func (m maxPoolIndices) locate(y, found *Tensor, sizes []int) {
	lead := len(y.shape) - m.dims
	coordinate := unsetTensor(y.mem.backend, Int64, y.shape)
	zero := constant(y, Int64, 0)
	step := 1
	for d, n := range slices.Backward(sizes) {
		offsets := hostSlice[int]("max_pool", m.taps())
		inner := size(m.kernel[d+1:])
		for k := range offsets {
			offsets[k] = k / inner % m.kernel[d] * m.dilation[d]
		}
		// The table is repeated to found's rank and indexed along the last axis.
		table := along(y, Int64, offsets, append(slices.Repeat([]int{1}, len(y.shape)-1), len(offsets)), len(y.shape)-1)
		run(driver.Kernel{Code: driver.Gather, Axis: len(y.shape) - 1}, coordinate, table.alias(0, append(slices.Clone(y.shape[:len(y.shape)-1]), len(offsets)), table.stride), found)
		starts := hostSlice[int]("max_pool", m.places[d])
		for p := range starts {
			starts[p] = p*m.stride[d] - m.lo[d]
		}
		run(driver.Kernel{Code: driver.Add}, coordinate, coordinate, along(y, Int64, starts, y.shape, lead+d))
		runBroadcast(driver.Kernel{Code: driver.Max}, coordinate, coordinate, zero)
		run(driver.Kernel{Code: driver.Affine, Alpha: float64(step)}, coordinate, coordinate)
		run(driver.Kernel{Code: driver.Add}, y, y, coordinate)
		step *= n
	}
	release(coordinate)
}

// adaptive sets y to the positions of the largest elements of each part of x, one part at a
// time.
func (m maxPoolIndices) adaptive(x, y *Tensor) {
	lead := len(x.shape) - m.dims
	sizes := x.shape[lead:]
	eachPart(m.places, sizes, y, x, func(to, from *Tensor) {
		part := maxPoolIndices{dims: m.dims, places: slices.Repeat([]int{1}, m.dims), window: window{
			kernel: from.shape[lead:], stride: slices.Repeat([]int{1}, m.dims), dilation: slices.Repeat([]int{1}, m.dims), lo: make([]int, m.dims),
		}}
		found := unsetTensor(x.mem.backend, Int64, to.shape)
		run(driver.Kernel{Code: driver.ArgMax}, found, from)
		at := from.offset - x.offset
		for d := range part.lo {
			part.lo[d] = -(at / x.stride[lead+d])
			at %= x.stride[lead+d]
		}
		part.locate(to, found, sizes)
		release(found)
	})
}

// maxPool takes the elements at the given positions from each plane of x.
type maxPool struct{ dims int }

func (m maxPool) Info() Info {
	return info("max_pool"+nd(m.dims), "torch.nn.functional.max_pool"+nd(m.dims), SavesOperands)
}
func (m maxPool) Forward(in []*Tensor) *Tensor {
	x, index := compact(in[0]), compact(in[1])
	y := unsetTensor(x.mem.backend, x.dtype, index.shape)
	flat := func(t *Tensor) *Tensor { return shaped(t, m.flat(t)) }
	run(driver.Kernel{Code: driver.Gather, Axis: len(x.shape) - m.dims}, flat(y), flat(x), flat(index))
	return y
}
func (m maxPool) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	// The positions come from the forward operation and are not checked: a check would
	// wait for the device.
	zeros, index := constant(dy, dy.dtype, 0).expandTo(m.flat(in[0])), m.flat(in[1])
	dx := apply(scatterAdd{len(index) - 1}, zeros, dy.Reshape(index...), in[1].Reshape(index...))
	return []*Tensor{dx.Reshape(in[0].shape...), nil}
}

// flat returns t's shape with the dimensions of a plane joined into one.
func (m maxPool) flat(t *Tensor) []int {
	lead := len(t.shape) - m.dims
	return append(slices.Clone(t.shape[:lead]), size(t.shape[lead:]))
}

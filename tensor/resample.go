package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// resample resizes the last dimensions of a tensor, one after the other from the last: element
// j of dimension d is a weighted sum of elements of the old dimension. It is linear in its
// input, so it appears in its own derivatives.
type resample struct{ lines []line }

// resampling is an operation that resamples.
type resampling interface {
	Op
	resampled() resample
}

func (r resample) resampled() resample          { return r }
func (r resample) Forward(in []*Tensor) *Tensor { return r.forward(in[0]) }

// adjoint returns the gradient of op's operand.
func adjoint(op resampling, dy *Tensor) []*Tensor {
	return []*Tensor{apply(resampleGrad{op}, dy)}
}

// resampleGrad is the adjoint of an operation that resamples.
type resampleGrad struct{ of resampling }

func (resampleGrad) Info() Info {
	return info("resample_backward", "torch.ops.aten.upsample_nearest2d_backward", SavesNothing)
}
func (r resampleGrad) Forward(in []*Tensor) *Tensor { return r.of.resampled().backward(in[0]) }
func (r resampleGrad) VJP(d, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(r.of, d)}
}

// line lists the contributions to each element of a dimension of size elements: for tap t,
// weight[t][j] times element index[t][j]. Without weights there is one tap of weight 1.
type line struct {
	size   int
	index  [][]int
	weight [][]float64
}

// kept reports whether the line leaves its dimension unchanged.
func (l line) kept() bool {
	return l.weight == nil && slices.Equal(l.index[0], seq(l.size))
}

// forward returns x resampled, computed in float32 if there are weights.
func (r resample) forward(x *Tensor) *Tensor {
	y := x
	lead := len(x.shape) - len(r.lines)
	if slices.ContainsFunc(r.lines, func(l line) bool { return l.weight != nil }) {
		y = wide(x)
	}
	for d, l := range slices.Backward(r.lines) {
		if l.kept() {
			continue
		}
		next := l.take(y, lead+d)
		dropTemporaries(x, y)
		y = next
	}
	if y.mem == x.mem {
		return duplicate(x)
	}
	return narrow(y, x.dtype)
}

// take returns x resampled along dim.
func (l line) take(x *Tensor, dim int) *Tensor {
	shape := slices.Clone(x.shape)
	shape[dim] = len(l.index[0])
	var sum *Tensor
	for t, index := range l.index {
		y := newTensor(x.mem.backend, x.dtype, shape)
		run(driver.Kernel{Code: driver.Gather, Axis: dim}, y, x, along(x, Int64, index, shape, dim))
		if l.weight != nil {
			run(driver.Kernel{Code: driver.Mul}, y, y, along(x, x.dtype, l.weight[t], shape, dim))
		}
		if sum == nil {
			sum = y
			continue
		}
		run(driver.Kernel{Code: driver.Add}, sum, sum, y)
		release(y)
	}
	return sum
}

// backward returns the adjoint of forward at dy.
func (r resample) backward(dy *Tensor) *Tensor {
	lead := len(dy.shape) - len(r.lines)
	x := wide(dy)
	for d, l := range r.lines {
		if l.kept() {
			continue
		}
		next := l.put(x, lead+d)
		dropTemporaries(dy, x)
		x = next
	}
	if x.mem == dy.mem {
		return duplicate(dy)
	}
	return narrow(x, dy.dtype)
}

// put is the adjoint of take.
func (l line) put(dy *Tensor, dim int) *Tensor {
	shape := slices.Clone(dy.shape)
	shape[dim] = l.size
	x := newTensor(dy.mem.backend, dy.dtype, shape)
	for t, index := range l.index {
		part := dy
		if l.weight != nil {
			part = pairwise("", driver.Mul, dy, along(dy, dy.dtype, l.weight[t], dy.shape, dim))
		}
		run(driver.Kernel{Code: driver.ScatterAdd, Axis: dim}, x, part, along(dy, Int64, index, dy.shape, dim))
		dropTemporaries(dy, part)
	}
	return x
}

// along returns list as dimension dim, broadcast to shape, on x's device.
func along[E int | float64](x *Tensor, d DType, list []E, shape []int, dim int) *Tensor {
	t := newTensor(x.mem.backend, d, []int{len(list)})
	data := hostSlice[float64]("interpolate", len(list))
	for i, v := range list {
		data[i] = float64(v)
	}
	t.setFloat64s(data)
	stride := make([]int, len(shape))
	stride[dim] = 1
	return t.alias(0, shape, stride)
}

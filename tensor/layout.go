package tensor

import "slices"

// The result of an elementwise operation has the memory layout of its operands, as in torch's
// TensorIterator: the result for a transposed matrix is a transposed matrix. Random numbers
// fill memory from its start, so the layout decides the element that each number goes to.

// stridesOf returns the strides of operands broadcast to shape, 0 where they repeat.
func stridesOf(shape []int, in []*Tensor) [][]int {
	strides := make([][]int, len(in))
	for i, t := range in {
		strides[i] = expandStride(t, shape)
	}
	return strides
}

// memoryOrder returns the dimensions of shape from the outermost in memory to the innermost, or
// nil for row-major order. The first operand's strides decide; where it repeats or has equal
// strides, the next operand's do. It is TensorIterator's reorder_dimensions
// (aten/src/ATen/TensorIterator.cpp), and infer_dense_strides for one operand.
func memoryOrder(shape []int, strides ...[]int) []int {
	order := seq(len(shape))
	slices.Reverse(order) // innermost first while sorting
	for i := 1; i < len(order); i++ {
		at := i
		for j := i - 1; j >= 0; j-- {
			c := compareDimensions(order[j], order[at], shape, strides)
			if c < 0 {
				break
			}
			if c > 0 {
				order[j], order[at] = order[at], order[j]
				at = j
			}
		}
	}
	slices.Reverse(order)
	if slices.IsSorted(order) {
		return nil
	}
	return order
}

// liesInRows reports whether an order of dimensions is row-major, ignoring those of size 1.
func liesInRows(shape, order []int) bool {
	return slices.IsSorted(slices.DeleteFunc(slices.Clone(order), func(d int) bool { return shape[d] == 1 }))
}

// compareDimensions returns 1 if dimension a lies outside b, -1 if inside, and 0 if no operand
// decides.
func compareDimensions(a, b int, shape []int, strides [][]int) int {
	for _, s := range strides {
		switch {
		case s[a] == 0 || s[b] == 0:
		case s[a] < s[b]:
			return -1
		case s[a] > s[b], shape[a] > shape[b]:
			return 1
		}
	}
	return 0
}

// undone returns the inverse of order.
func undone(order []int) []int {
	out := make([]int, len(order))
	for i, d := range order {
		out[d] = i
	}
	return out
}

// arranged returns the elements of shape in order.
func arranged(shape, order []int) []int {
	out := make([]int, len(order))
	for i, d := range order {
		out[i] = shape[d]
	}
	return out
}

// drawn calls draw with t's sizes from the outermost in memory to the innermost, and returns
// its result in t's shape.
func (t *Tensor) drawn(draw func(shape []int) *Tensor) *Tensor {
	order := memoryOrder(t.shape, t.stride)
	if order == nil {
		return draw(slices.Clone(t.shape))
	}
	return inOrder(draw(arranged(t.shape, order)), undone(order))
}

// inOrder returns y, a new tensor, with its dimensions in another order.
func inOrder(y *Tensor, order []int) *Tensor {
	z := *y
	z.shape, z.stride = arranged(y.shape, order), arranged(y.stride, order)
	return &z
}

func sliced(x *Tensor, s slice) *Tensor {
	shape := slices.Clone(x.shape)
	shape[s.dim] = s.to - s.from
	return x.alias(x.offset+s.from*x.stride[s.dim], shape, x.stride)
}

func permuted(x *Tensor, order []int) *Tensor {
	shape, stride := make([]int, len(order)), make([]int, len(order))
	for i, d := range order {
		shape[i], stride[i] = x.shape[d], x.stride[d]
	}
	return x.alias(x.offset, shape, stride)
}

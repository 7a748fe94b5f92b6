package tensor

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"halfnote/internal/text"
)

func shapeString(shape []int) string { return text.Shape(shape) }

// size returns the number of elements.
func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// rowMajor returns the strides of a contiguous tensor.
func rowMajor(shape []int) []int {
	stride := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		stride[i] = n
		n *= max(shape[i], 1)
	}
	return stride
}

// checkShape returns a copy of shape. It panics if a size is negative or the number of elements
// overflows.
func checkShape(op string, shape []int) []int {
	for _, s := range shape {
		if s < 0 {
			panic(named(&Error{Op: op, Shapes: [][]int{shape}, Why: "a size is negative; want sizes of at least 0"}))
		}
	}
	checkSize(op, shape, 1)
	return slices.Clone(shape)
}

// checkSize panics if the size in bytes overflows. It counts sizes of 0 as 1, because strides
// must not overflow either.
func checkSize(op string, shape []int, bytes int) {
	n := uint64(bytes)
	for _, s := range shape {
		hi, lo := bits.Mul64(n, uint64(max(s, 1)))
		if hi != 0 || lo > math.MaxInt {
			panic(named(&Error{Op: op, Shapes: [][]int{shape}, Why: fmt.Sprintf("the size overflows; the limit is %d bytes", math.MaxInt)}))
		}
		n = lo
	}
}

// axis returns dim counted from the front, for a tensor of rank n.
func axis(op string, t *Tensor, dim, n int) int {
	if dim < -n || dim >= n {
		fail(op, []*Tensor{t}, "dimension %d is out of range; want %d to %d", dim, -n, n-1)
	}
	if dim < 0 {
		dim += n
	}
	return dim
}

// axes returns dims counted from the front and sorted, or all dimensions if none are given.
func axes(op string, t *Tensor, dims []int) []int {
	given(op, t)
	n := len(t.shape)
	if len(dims) == 0 {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	out := make([]int, len(dims))
	for i, d := range dims {
		out[i] = axis(op, t, d, max(n, 1)) // a scalar has a dimension 0 too
	}
	slices.Sort(out)
	if len(slices.Compact(slices.Clone(out))) != len(out) {
		fail(op, []*Tensor{t}, "dimensions %v contain a duplicate", dims)
	}
	return out[:min(len(out), n)]
}

// keepDims returns shape with size 1 along dims.
func keepDims(shape, dims []int) []int {
	out := slices.Clone(shape)
	for _, d := range dims {
		out[d] = 1
	}
	return out
}

// dropDims returns shape without dims, which are sorted.
func dropDims(shape, dims []int) []int {
	out := make([]int, 0, len(shape))
	for i, s := range shape {
		if _, drop := slices.BinarySearch(dims, i); !drop {
			out = append(out, s)
		}
	}
	return out
}

// broadcast returns the shape that all of in broadcast to, by the rule of torch and NumPy:
// sizes aligned at the end must be equal or 1.
func broadcast(op string, in []*Tensor) []int {
	if len(in) == 0 {
		panic(named(&Error{Op: op, Why: "no operands; want at least one tensor"}))
	}
	given(op, in...)
	out := in[0].shape
	for _, t := range in[1:] {
		var ok bool
		if out, ok = broadcastShapes(out, t.shape); !ok {
			fail(op, in, "cannot broadcast; want sizes that are equal or 1, aligned at the end")
		}
	}
	return out
}

func broadcastShapes(a, b []int) ([]int, bool) {
	if slices.Equal(a, b) {
		return a, true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	shift := len(a) - len(b)
	for i, s := range b {
		switch t := &out[i+shift]; {
		case *t == 1:
			*t = s
		case s != *t && s != 1:
			return nil, false
		}
	}
	return out, true
}

// expandStride returns the strides that broadcast a tensor to shape. The caller has checked
// that it broadcasts.
func expandStride(t *Tensor, shape []int) []int {
	if slices.Equal(t.shape, shape) {
		return t.stride
	}
	stride := make([]int, len(shape))
	shift := len(shape) - len(t.shape)
	for i, s := range t.shape {
		if s == shape[i+shift] {
			stride[i+shift] = t.stride[i]
		}
	}
	return stride
}

// viewStride returns the strides that show the same elements in another shape, if such strides
// exist: dimensions that are contiguous with each other may be split differently. It follows
// the rule in the documentation of torch.Tensor.view.
func viewStride(shape, stride, to []int) ([]int, bool) {
	if size(to) == 0 {
		return rowMajor(to), true
	}
	out := make([]int, len(to))
	j := len(to) - 1
	for i := len(shape) - 1; i >= 0; {
		// A run: dimensions i down to k+1, contiguous with each other.
		run, step, k := shape[i], stride[i], i-1
		for k >= 0 && (shape[k] == 1 || run == 1 || stride[k] == step*run) {
			if run == 1 && shape[k] != 1 {
				step = stride[k]
			}
			run *= shape[k]
			k--
		}
		got := 1
		for j >= 0 && (got < run || to[j] == 1) {
			out[j] = step * got
			got *= to[j]
			j--
		}
		if got != run {
			return nil, false
		}
		i = k
	}
	for ; j >= 0; j-- {
		out[j] = 1 // only sizes of 1 remain
	}
	return out, true
}

// seq returns 0, 1, … n-1.
func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

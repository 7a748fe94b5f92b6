package tensor

import (
	"fmt"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// Positions are int64 index tensors whose range has been checked before a kernel runs.

// positions returns index as int64 numbers from 0 to n-1, positions in dimension dim of x. If
// wrap, numbers from -n to -1 count from the end. It panics if one is out of range, except
// during graph capture, whose replays will have other positions.
func positions(op string, x, index *Tensor, dim, n int, wrap bool) *Tensor {
	p := index.Detach()
	switch index.dtype {
	case Int64:
	case Int32:
		p = convert(index, Int64)
		if near := index.nearest(); near != index {
			p.remember(convert(near, Int64))
		}
	default:
		failDType(op, []*Tensor{x, index}, "index must be int64 or int32, for example from tensor.FromInts")
	}
	if p.Numel() == 0 {
		return p
	}
	least := 0
	if wrap {
		least = -n
	}
	if capturing() && p.Device() != CPU && p.nearest() == p {
		if wrap {
			p = wrapped(p, n)
		}
		return p
	}
	low, high := extremeOf(driver.ReduceMin, p.nearest()), extremeOf(driver.ReduceMax, p.nearest())
	if low < least || high >= n {
		for i, j := range p.Int64s() {
			pollAt(i)
			if int(j) < least || int(j) >= n {
				e := &Error{Op: op, Shapes: [][]int{x.shape, index.shape}}
				e.Why = fmt.Sprintf("index %d%s is out of range for dimension %d of size %d; %s", j, placeIn(index.shape, i), dim, n, expectedRange(least, n))
				panic(named(e))
			}
		}
	}
	if low < 0 {
		p = wrapped(p, n)
	}
	return p
}

// wrapped returns p with n added to negative positions.
func wrapped(p *Tensor, n int) *Tensor {
	negative := newTensor(p.mem.backend, Bool, p.shape)
	runBroadcast(driver.Kernel{Code: driver.Less}, negative, p, constant(p, Int64, 0))
	y := affineOf(p, 1, float64(n))
	runBroadcast(driver.Kernel{Code: driver.Where}, y, negative, y, p)
	return y
}

func expectedRange(least, n int) string {
	if n == 0 {
		return "want none, as the dimension is empty"
	}
	return fmt.Sprintf("want %d to %d", least, n-1)
}

// placeIn returns " at (1, 2)" for element i of a tensor.
func placeIn(shape []int, i int) string {
	if len(shape) == 0 {
		return ""
	}
	at := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		at[d] = i % shape[d]
		i /= shape[d]
	}
	return text.Sprintf(" at %v", at)
}

// extremeOf returns the smallest or largest of integers.
func extremeOf(c driver.Code, p *Tensor) int {
	return int(reduce(c, p, seq(len(p.shape)), Int64).Int64s()[0])
}

// vectorAlong returns a vector of positions as a view of the given shape, along dim.
func vectorAlong(index *Tensor, shape []int, dim int) *Tensor {
	stride := make([]int, len(shape))
	stride[dim] = index.stride[0]
	return index.alias(index.offset, shape, stride)
}

// repeated returns a scalar as a view of the given shape.
func repeated(scalar *Tensor, shape []int) *Tensor {
	return scalar.alias(scalar.offset, shape, make([]int, len(shape)))
}

// zerosOf returns zeros of dy's dtype in the given shape, as a broadcast scalar.
func zerosOf(dy *Tensor, shape []int) *Tensor { return constant(dy, dy.dtype, 0).expandTo(shape) }

// raised returns t with at least 1 dimension.
func raised(t *Tensor) *Tensor {
	if len(t.shape) == 0 {
		return t.Reshape(1)
	}
	return t
}

// vector returns index as a vector, for operations that select along one dimension.
func vector(op string, t, index *Tensor) *Tensor {
	given(op, t, index)
	if len(index.shape) > 1 {
		fail(op, []*Tensor{t, index}, "index must be a vector")
	}
	return raised(index)
}

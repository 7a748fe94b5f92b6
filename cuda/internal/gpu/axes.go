//go:build cuda && linux && cgo

package gpu

import (
	"math/bits"
	"unsafe"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// pointer returns the address of a view's first element.
func pointer(v driver.View) drv.Ptr {
	b := bufferOf(v.Buffer)
	return b.at() + drv.Ptr(v.Offset*v.DType.Size())
}

const (
	maxViews = 4
	maxRank  = 8
	maxItems = 1<<31 - 1 // limit of 32-bit counters in kernels
)

// divider is Divider of common.cuh.
type divider struct{ by, factor, shift uint32 }

func dividerOf(n int) divider {
	n = max(n, 1)
	shift := bits.Len32(uint32(n - 1))
	return divider{uint32(n), uint32((uint64(1)<<shift-uint64(n))<<32/uint64(n) + 1), uint32(shift)}
}

// axes is Axes of common.cuh.
type axes struct {
	rank   uint32
	size   [maxRank]divider
	_      uint32
	stride [maxViews][maxRank]int64
}

// bytesOf returns a struct's bytes as a kernel parameter.
func bytesOf[T any](p *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

// walk is an iteration order for views of one shape: axes of size 1 are dropped, and adjacent
// axes are merged where all views allow it.
type walk struct {
	n      int // number of elements
	shape  []int
	stride [][]int // strides, by view
}

// walkOf returns the walk through views of the first view's shape.
func walkOf(views ...driver.View) walk {
	w := walk{n: views[0].Len(), stride: make([][]int, len(views))}
	for axis, size := range views[0].Shape {
		if size == 1 {
			continue
		}
		last := len(w.shape) - 1
		joins := last >= 0
		for i, v := range views {
			joins = joins && w.stride[i][last] == size*v.Stride[axis]
		}
		if joins {
			w.shape[last] *= size
		} else {
			w.shape = append(w.shape, size)
		}
		for i, v := range views {
			if joins {
				w.stride[i][last] = v.Stride[axis]
			} else {
				w.stride[i] = append(w.stride[i], v.Stride[axis])
			}
		}
	}
	return w
}

// step returns the constant distance between view i's elements, if there is one.
func (w walk) step(i int) (step int, ok bool) {
	switch len(w.shape) {
	case 0:
		return 1, true
	case 1:
		return w.stride[i][0], true
	}
	for _, s := range w.stride[i] {
		if s != 0 {
			return 0, false
		}
	}
	return 0, true
}

// axes returns the parameter of a kernel that covers the whole walk.
func (w walk) axes() *axes { return w.axesOf(w.shape, 0) }

// axesOf returns the parameter for the axes from first, with the given sizes.
func (w walk) axesOf(shape []int, first int) *axes {
	a := &axes{rank: uint32(max(1, len(shape)))}
	a.size[0] = dividerOf(1)
	for i, n := range shape {
		a.size[i] = dividerOf(n)
		for v := range w.stride {
			a.stride[v][i] = int64(w.stride[v][first+i])
		}
	}
	return a
}

// parts calls f for each part of the walk that fits a kernel: at most maxItems elements and
// maxRank axes. offset holds the first element of each view.
func (w walk) parts(f func(a *axes, n int, offset []int)) {
	offset := make([]int, len(w.stride))
	var split func(axis, n int, shape []int)
	split = func(axis, n int, shape []int) {
		if n == 0 {
			return
		}
		if len(shape)-axis <= maxRank && n <= maxItems {
			f(w.axesOf(shape[axis:], axis), n, offset)
			return
		}
		inner := n / shape[axis]
		if len(shape)-axis <= maxRank && inner <= maxItems { // several at once
			most := maxItems / max(inner, 1)
			for from := 0; from < shape[axis]; from += most {
				some := append([]int(nil), shape...)
				some[axis] = min(most, shape[axis]-from)
				split(axis, some[axis]*inner, some)
				for v := range offset {
					offset[v] += some[axis] * w.stride[v][axis]
				}
			}
		} else {
			for range shape[axis] {
				split(axis+1, inner, shape)
				for v := range offset {
					offset[v] += w.stride[v][axis]
				}
			}
		}
		for v := range offset {
			offset[v] -= shape[axis] * w.stride[v][axis]
		}
	}
	split(0, w.n, w.shape)
}

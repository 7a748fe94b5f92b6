//go:build cuda && linux && cgo

package gpu

import (
	"fmt"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return len(src) == 2 && src[0] == dst && src[1] == driver.Int64
	}, gather}, driver.Gather)
}

// gather sets dst to elements of x at the positions in index along the axis.
func gather(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	x, index := src[0], src[1]
	step := x.Stride[k.Axis]
	x.Shape, x.Stride = dst.Shape, append([]int(nil), x.Stride...)
	x.Stride[k.Axis] = 0
	w := walkOf(dst, x, index)
	bytes := dst.DType.Size()
	width := w.widen(bytes, 1, pointer(dst)|pointer(x), step)
	bytes *= width
	w.parts(func(axes *axes, n int, offset []int) {
		a := newArgs()
		a.I32(int32(n))
		a.Ptr(pointer(dst) + drv.Ptr(offset[0]*bytes))
		a.Ptr(pointer(x) + drv.Ptr(offset[1]*bytes))
		a.Ptr(pointer(index) + drv.Ptr(offset[2]*8))
		a.I64(int64(step / width))
		a.Bytes(bytesOf(axes))
		b.launchItems(kernel{"position", fmt.Sprintf("gather_%d", 8*bytes)}, n, a)
	})
}

// widen merges adjacent elements into one of at most 16 bytes, if views 0 and 1, with elements of
// size bytes, allow it and view 2 repeats there. It returns the number merged, least or more,
// otherwise 1. at holds the pointers' bits; steps are further strides.
func (w *walk) widen(size, least int, at drv.Ptr, steps ...int) int {
	last := len(w.shape) - 1
	if last < 0 || w.stride[0][last] != 1 || w.stride[1][last] != 1 || w.stride[2][last] != 0 {
		return 1
	}
	n := 16 / size
	for _, s := range append(append(append(steps, w.shape[last], int(at)/size), w.stride[0][:last]...), w.stride[1][:last]...) {
		for s%n != 0 {
			n /= 2
		}
	}
	if n < least {
		return 1
	}
	w.n /= n
	w.shape[last] /= n
	for v := range 2 {
		for axis := range last {
			w.stride[v][axis] /= n
		}
	}
	return n
}

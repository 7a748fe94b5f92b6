package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
)

// beyond is the size in bytes from which on results are written around the caches: they
// would be read first, and drive out what is there.
const beyond = 16 << 20

// goAround has w write around the caches if that is to be and it can.
func (w *writer[T]) goAround(dst driver.View, src []driver.View) {
	w.around = w.asIs() && w.layout.dense() && goesAround(dst, src)
}

// goesAround reports whether dst is to be written around the caches: it is large and none
// of src, which are read in between.
func goesAround(dst driver.View, src []driver.View) bool {
	if loops.Stream == nil || dst.Len()*dst.DType.Size() < beyond {
		return false
	}
	for _, v := range src {
		if v.Buffer == dst.Buffer {
			return false
		}
	}
	return true
}

// fence is to be called after the last put of a goroutine.
func (w *writer[T]) fence() {
	if w.around {
		loops.Fence()
	}
}

// around copies src to dst around the caches, as far as it can.
func around[E any](dst, src []E) {
	n := 0
	if at := unsafe.Pointer(unsafe.SliceData(dst)); uintptr(at)%64 == 0 {
		size := int(unsafe.Sizeof(*new(E)))
		if n = len(src) * size &^ 255; n > 0 {
			loops.Stream(at, unsafe.Pointer(unsafe.SliceData(src)), n)
		}
		n /= size
	}
	copy(dst[n:], src[n:])
}

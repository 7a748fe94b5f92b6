package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
)

// streamMin is the size in bytes from which results are written with non-temporal stores, which
// bypass the caches: normal stores would read the memory first and evict other data.
const streamMin = 16 << 20

// chooseStreaming makes w use non-temporal stores if that pays and is possible.
func (w *writer[T]) chooseStreaming(dst driver.View, src []driver.View) {
	w.streaming = w.asIs() && w.layout.dense() && streams(dst, src)
}

// streams reports whether dst is to be written with non-temporal stores: it is large, and not one
// of src, which are read between the writes.
func streams(dst driver.View, src []driver.View) bool {
	if loops.Stream == nil || dst.Len()*dst.DType.Size() < streamMin {
		return false
	}
	for _, v := range src {
		if v.Buffer == dst.Buffer {
			return false
		}
	}
	return true
}

// fence completes the writes of a goroutine. It must follow the last put.
func (w *writer[T]) fence() {
	if w.streaming {
		loops.Fence()
	}
}

// streamCopy copies src to dst with non-temporal stores as far as alignment allows.
func streamCopy[E any](dst, src []E) {
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

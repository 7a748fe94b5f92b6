package cpu

import (
	"slices"
	"unsafe"

	"halfnote/tensor/driver"
)

// streamMin is the size in bytes from which results are written with non-temporal stores, which
// bypass the caches: normal stores would read the memory first and evict other data.
const streamMin = 16 << 20

// streamFunctionMin is the same for elementary functions. They compute while the stores wait, so that they gain
// earlier than passes that only move data.
const streamFunctionMin = 8 << 20

// chooseStreaming makes w use non-temporal stores if that pays and is possible.
func (w *writer[T]) chooseStreaming(dst driver.View, src []driver.View) {
	w.streaming = w.asIs() && w.layout.dense() && streams(dst, src, streamMin)
}

// streams reports whether dst is to be written with non-temporal stores: it has at least a number of bytes, and is not one
// of src, which are read between the writes.
func streams(dst driver.View, src []driver.View, least int) bool {
	return loops.Stream != nil && dst.Len()*dst.DType.Size() >= least && !changesOperand(dst, src)
}

// changesOperand reports whether dst lies in the memory of one of src.
func changesOperand(dst driver.View, src []driver.View) bool {
	return slices.ContainsFunc(src, func(v driver.View) bool { return v.Buffer == dst.Buffer })
}

// fetchMin is the size in bytes from which new results are fetched into the cache before they are
// written: their memory is probably not in the second cache. This pays for float32 passes that wait
// for memory. Halves and elementary functions are slower with it, as measured.
const fetchMin = 256 << 10

// fetches reports whether dst is to be fetched before it is written: it is large, and not one of src,
// which are read before.
func fetches(dst driver.View, src []driver.View) bool {
	return loops.Fetch != nil && dst.Len()*dst.DType.Size() >= fetchMin && !changesOperand(dst, src)
}

// fetch brings elements lo … lo+n-1 into the cache for writing. They are contiguous and need no
// conversion.
func (w *writer[T]) fetch(lo, n int) {
	part := w.wide[w.layout.offset+lo:][:n]
	loops.Fetch(unsafe.Pointer(&part[0]), n*int(unsafe.Sizeof(part[0])))
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

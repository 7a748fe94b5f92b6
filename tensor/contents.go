package tensor

import (
	"unsafe"

	"halfnote/tensor/driver"
)

// plain are the types of elements as they lie in memory.
type plain interface {
	uint8 | uint16 | uint32 | float32 | float64 | int64 | uint64
}

// contents returns a copy of the memory of a contiguous tensor, whose elements have E's
// size.
func contents[E plain](t *Tensor) []E {
	out := hostSlice[E]("read", t.Bytes()/int(unsafe.Sizeof(*new(E))))
	inPieces(out, func(at int, part []byte) { t.mem.backend.Read(part, t.mem.buffer, t.offset*t.dtype.Size()+at) })
	return out
}

// setContents sets the memory of a new tensor, whose elements have E's size, and returns it.
func setContents[E plain](t *Tensor, data []E) *Tensor {
	inPieces(data, func(at int, part []byte) { t.mem.backend.Write(t.mem.buffer, at, part) })
	return t
}

// inPieces calls f for parts of data's memory that take about a millisecond, and lets an
// interrupt through before each.
func inPieces[E plain](data []E, f func(at int, part []byte)) {
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(*new(E))))
	for at := 0; at < len(all); at += 4 * chunk {
		driver.Poll()
		f(at, all[at:min(at+4*chunk, len(all))])
	}
}

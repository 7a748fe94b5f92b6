package tensor

import (
	"unsafe"

	"halfnote/tensor/driver"
)

// plain is the constraint for element types as they are laid out in memory.
type plain interface {
	uint8 | uint16 | uint32 | float32 | float64 | int | int64 | uint64
}

// contents returns a copy of the memory of a contiguous tensor. E must have the size of its
// elements.
func contents[E plain](t *Tensor) []E {
	out := hostSlice[E]("read", t.Bytes()/int(unsafe.Sizeof(*new(E))))
	inPieces(out, func(at int, part []byte) { t.mem.backend.Read(part, t.mem.buffer, t.offset*t.dtype.Size()+at) })
	return out
}

// setContents sets the memory of a new tensor and returns it. E must have the size of its
// elements.
func setContents[E plain](t *Tensor, data []E) *Tensor {
	inPieces(data, func(at int, part []byte) { t.mem.backend.Write(t.mem.buffer, at, part) })
	return t
}

// inPieces calls f for pieces of data that take about a millisecond each, and polls for an
// interrupt before each.
func inPieces[E plain](data []E, f func(at int, part []byte)) {
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(*new(E))))
	for at := 0; at < len(all); at += 4 * chunk {
		driver.Poll()
		f(at, all[at:min(at+4*chunk, len(all))])
	}
}

// memoryOf is Bytes of plumbing.Memory.
func memoryOf(t *Tensor, write bool) []byte {
	t.given("memory")
	m, ok := t.mem.backend.(driver.Mapper)
	if !ok || !t.IsContiguous() {
		return nil
	}
	t.share()
	if write {
		t.mem.version.Add(1)
	}
	return m.Map(t.mem.buffer, t.offset*t.dtype.Size(), t.Bytes())
}

// sharedOf is Shared of plumbing.Memory.
func sharedOf(t *Tensor, write bool) ([]byte, driver.Sharer) {
	t.given("memory")
	d, ok := t.mem.backend.(driver.Sharer)
	if !ok || !t.IsContiguous() {
		return nil, nil
	}
	t.share()
	if write {
		t.mem.version.Add(1)
	}
	return d.Share(t.mem.buffer, t.offset*t.dtype.Size(), t.Bytes()), d
}

// withdraw is Withdraw of plumbing.Memory.
func withdraw(t *Tensor) {
	t.given("memory")
	release(t)
}

// lend is Lend of plumbing.Memory.
func lend(t, from *Tensor) {
	given("memory", t, from)
	if have, want := from.mem.buffer.Bytes(), t.mem.buffer.Bytes(); have != want || from.mem.backend != t.mem.backend {
		fail("memory", []*Tensor{t, from}, "%d bytes for a tensor of %d; want the same size and device", have, want)
	}
	t.share()
	from.share()
	t.mem.buffer = from.mem.buffer
}

package tensor

import (
	"fmt"
	"unsafe"

	"halfnote/tensor/driver"
)

// hostSlice returns n zeros on the host for op. It panics if n is negative or memory is short.
// All allocations whose size comes from the user are made here.
func hostSlice[E any](op string, n int) []E {
	if err := driver.Room(n, int(unsafe.Sizeof(*new(E)))); err != nil {
		panic(named(&Error{Op: op, Why: err.Error()}))
	}
	return make([]E, n)
}

// hostViews returns a slice for n views. It panics if there is not enough memory for the views
// themselves.
func hostViews(op string, n int) []*Tensor {
	const each = 256 // approximate bytes of a view with its shape and strides
	if err := driver.Room(n, each); err != nil {
		panic(named(&Error{Op: op, Why: err.Error()}))
	}
	return make([]*Tensor, n)
}

// checkLeast panics unless the argument n, called name, is at least least.
func checkLeast(op, name string, n, least int) {
	if n < least {
		panic(named(&Error{Op: op, Why: fmt.Sprintf("%s is %d; want at least %d", name, n, least)}))
	}
}

// pollAt polls for an interrupt about every millisecond.
func pollAt(i int) {
	if i&(1<<16-1) == 0 {
		driver.Poll()
	}
}

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

// Bytes returns the elements of a contiguous tensor, in the host's byte order, without a copy; they are valid while t is reachable. It
// returns nil for a tensor that is not contiguous or whose device has separate memory. With write it counts a change of t in place.
func (memory) Bytes(t *Tensor, write bool) []byte {
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

// Shared is Bytes for a tensor whose device other libraries can use; p is memory of that device. It returns nil for other tensors.
func (memory) Shared(t *Tensor, write bool) (p []byte, device driver.Sharer) {
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

// Unset returns a tensor on the CPU whose elements are undefined, for callers that set all of them.
func (memory) Unset(d DType, shape ...int) *Tensor {
	known("memory", d)
	return unsetTensor(CPU.backend(), d, checkShape("memory", shape))
}

// Withdraw gives back the memory of t and its views. Until Lend nothing may use it.
func (memory) Withdraw(t *Tensor) {
	t.given("memory")
	release(t)
}

// Lend gives t and its views the memory of from, of the same size. Unlike an assignment it is not a change of t in place.
func (memory) Lend(t, from *Tensor) {
	given("memory", t, from)
	if have, want := from.mem.buffer.Bytes(), t.mem.buffer.Bytes(); have != want || from.mem.backend != t.mem.backend {
		fail("memory", []*Tensor{t, from}, "%d bytes for a tensor of %d; want the same size and device", have, want)
	}
	t.share()
	from.share()
	t.mem.buffer = from.mem.buffer
}

// origin is the CPU tensor that integers on a device were copied from: class numbers, token
// ids, masks. While neither has changed, they are read on the CPU, without synchronising with
// the device.
type origin struct {
	of             *Tensor // contiguous source on the CPU, of the copy's shape
	version, copys int64   // versions of both when the copy was made
}

// remember records that y is a copy of x on another device.
func (y *Tensor) remember(x *Tensor) {
	if x.Device() == CPU && !x.dtype.IsFloat() {
		x.share()
		y.mem.origin = &origin{x, x.mem.version.Load(), y.mem.version.Load()}
	}
}

// nearest returns the CPU tensor that t was copied from, if there is one that still has t's
// elements, otherwise t.
func (t *Tensor) nearest() *Tensor {
	o := t.mem.origin
	if o == nil || t.replayed() || o.of.mem.version.Load() != o.version || t.mem.version.Load() != o.copys || o.of.dtype != t.dtype {
		return t
	}
	return o.of.alias(o.of.offset+t.offset, t.shape, t.stride)
}

// brought returns new CPU integers on the default device.
func (t *Tensor) brought() *Tensor {
	if b := here(); b != t.mem.backend {
		return clone{from: CPU, to: Device(b.Name())}.Forward([]*Tensor{t})
	}
	return t
}

package live

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"

	"halfnote/internal/text"
)

// TooMuch is the value of the panic of a cell that runs out of memory. Asked is the size of
// the request in bytes, or 0 if the cell is stopped because it has used up the memory. SetBy is what set the limit.
type TooMuch struct {
	Asked, Used, Limit int64
	SetBy              string
}

func (t TooMuch) Error() string {
	by := cmp.Or(t.SetBy, "GOMEMLIMIT")
	switch {
	case t.Asked != 0:
		return fmt.Sprintf("out of memory: %s requested, more than is left of %s (%s sets the limit)", text.Bytes(t.Asked), text.Bytes(t.Limit), by)
	}
	return fmt.Sprintf("out of memory: %s are in use, and the limit is %s (%s sets it)", text.Bytes(t.Used), text.Bytes(t.Limit), by)
}

// RuntimeError makes TooMuch a runtime.Error.
func (TooMuch) RuntimeError() {}

// Room panics if n elements of size bytes do not fit into memory: Go itself would end
// the process. Invalid lengths are left to Go.
func (r *Registry) Room(n, size int) {
	const small = 16 << 20
	if r.Memory == 0 || n < 0 || size <= 0 || n < small/size {
		return
	}
	asked := int64(n) * int64(size)
	if asked/int64(size) != int64(n) {
		return
	}
	used := r.used()
	if asked > r.Memory-used || r.scattered(asked) {
		runtime.GC()
		used = r.used()
	}
	if asked > r.Memory-used || r.scattered(asked) {
		panic(TooMuch{asked, used, r.Memory, r.MemorySetBy})
	}
}

// scattered reports whether a block of so many bytes needs more addresses than the system still gives, and is unlikely to fit into one of the free
// parts of the heap.
func (r *Registry) scattered(asked int64) bool {
	const step = 64 << 20 // the heap grows by multiples of it
	if r.Addresses == nil {
		return false
	}
	left := int64(r.Addresses())
	return left > 0 && left < asked+step && unused() < 4*asked
}

// full returns the cause for stopping the cell if memory is used up.
func (r *Registry) full() (TooMuch, bool) {
	if r.Memory == 0 || r.used() <= r.Memory {
		return TooMuch{}, false
	}
	defer r.hold()() // a loop would take the rest while the collector looks for garbage
	runtime.GC()
	used := r.used()
	return TooMuch{0, used, r.Memory, r.MemorySetBy}, used > r.Memory
}

// hold makes goroutines of cells wait at their next poll, until release is called.
func (r *Registry) hold() (release func()) {
	held := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding.Store(&held)
	atomic.StoreUint32(&r.flag, 1)
	r.hurry()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.holding.Store(nil)
		close(held)
		r.lower()
	}
}

// used returns the bytes of the heap that hold objects and stacks of goroutines, plus those that Mapped reports.
func (r *Registry) used() int64 {
	objects, stacks := heap()
	n := objects + stacks
	if r.Mapped != nil {
		n += r.Mapped()
	}
	return n
}

// heap returns the bytes of the heap that hold objects and stacks of goroutines.
func heap() (objects, stacks int64) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64())
}

// unused returns the bytes of the heap that hold nothing.
func unused() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() + s[1].Value.Uint64())
}

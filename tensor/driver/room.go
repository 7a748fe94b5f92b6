package driver

import (
	"fmt"
	"math/bits"
	"runtime"
	"runtime/metrics"
	"sync/atomic"

	"halfnote/internal/text"
)

// Room returns an error unless n elements of size bytes each fit into the memory left below
// [Limit]. Callers that allocate by a user's number call it first, because Go ends a process that
// runs out of memory. The error states the request, the free memory and the source of the
// limit.
func Room(n, size int) error {
	const small = 16 << 20 // not worth checking
	if n < 0 {
		return fmt.Errorf("%d elements requested; want at least 0", n)
	}
	if size <= 0 || n <= small/size {
		return nil
	}
	limit, _ := Limit()
	over, asked := bits.Mul64(uint64(n), uint64(size))
	if over != 0 || asked > 1<<62 {
		return fmt.Errorf("%d elements of %d bytes requested, more than any machine has; want a smaller number", n, size)
	}
	if limit == 0 {
		return nil
	}
	if int64(asked) > limit-inUse() {
		runtime.GC()
	}
	if free := max(0, limit-inUse()); int64(asked) > free {
		return NoRoom(int64(asked), free)
	}
	return nil
}

// NoRoom returns the error of a request for more bytes than are free.
func NoRoom(asked, free int64) error {
	limit, setBy := Limit()
	return fmt.Errorf("%s requested, %s of %s free; request less, or raise the limit, which is %s", text.Bytes(asked), text.Bytes(max(0, free)), text.Bytes(limit), setBy)
}

// inUse returns the bytes of objects on Go's heap and of tensors outside it.
func inUse() int64 {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	return int64(heap[0].Value.Uint64()) + Mapped()
}

var mapped atomic.Int64

// Mapped returns how many bytes of memory backends hold outside Go's heap, which Go's statistics lack. It waits for no lock, so that code may
// ask in the middle of an allocation.
func Mapped() int64 { return mapped.Load() }

// AddMapped adds bytes to what [Mapped] returns. A backend calls it when it maps memory, and with a negative number when it returns some.
func AddMapped(bytes int64) { mapped.Add(bytes) }

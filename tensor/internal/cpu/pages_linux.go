package cpu

import (
	"syscall"
	"unsafe"

	"halfnote/tensor/driver"
)

// vast is the size in bytes from which memory is mapped and unmapped directly: Go would clear memory
// that is already zero, and keep unused pages until its garbage collector finds them.
const vast = 4 << 20

// huge is the size of a huge page. Huge pages reduce the cost of touching new memory to a third, as
// measured.
const huge = 2 << 20

// newPages returns n zeros, in huge pages if the system has some, or nil if it is out of memory.
func newPages(n int) []uint64 {
	bytes, err := syscall.Mmap(-1, 0, n*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil
	}
	driver.AddMapped(int64(n) * 8)
	_ = syscall.Madvise(bytes, syscall.MADV_HUGEPAGE) // only a hint
	return unsafe.Slice((*uint64)(unsafe.Pointer(&bytes[0])), n)
}

// freePages returns the memory of newPages to the system.
func freePages(words []uint64) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), cap(words)*8)
	if err := syscall.Munmap(bytes); err != nil {
		panic("cpu: munmap: " + err.Error())
	}
	driver.AddMapped(-int64(len(bytes)))
}

package cpu

import (
	"syscall"
	"unsafe"
)

// vast is the size in bytes from which memory is mapped and unmapped without Go: Go would
// clear memory that is already zero, and keep unused pages until its garbage collector finds
// them.
const vast = 4 << 20

// huge is the size of a huge page: where there are some, taking memory costs a third, as
// measured.
const huge = 2 << 20

// newPages returns n zeros, of which the system has been told that they are wanted in huge
// pages, or nil if it has not got them.
func newPages(n int) []uint64 {
	bytes, err := syscall.Mmap(-1, 0, n*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil
	}
	_ = syscall.Madvise(bytes, syscall.MADV_HUGEPAGE) // it is advice
	return unsafe.Slice((*uint64)(unsafe.Pointer(&bytes[0])), n)
}

// freePages gives the system back what newPages returned.
func freePages(words []uint64) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), cap(words)*8)
	if err := syscall.Munmap(bytes); err != nil {
		panic("cpu: memory is not given back: " + err.Error())
	}
}

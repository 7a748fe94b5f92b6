package cpu

import (
	"os"
	"syscall"
	"unsafe"
)

// returnPages gives the pages that lie in words as a whole back to the system. They hold
// zeros when they are used again.
func returnPages(words []uint64) {
	if len(words) == 0 {
		return
	}
	page := uintptr(os.Getpagesize())
	start := uintptr(unsafe.Pointer(&words[0]))
	first := (start + page - 1) &^ (page - 1)
	last := (start + uintptr(len(words))*8) &^ (page - 1)
	if first < last {
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
		_ = syscall.Madvise(bytes[first-start:last-start], syscall.MADV_DONTNEED) // it is advice
	}
}

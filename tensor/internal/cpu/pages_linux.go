package cpu

import (
	"os"
	"syscall"
	"unsafe"
)

// returnPages gives the pages of words back to the system. They hold zeros when they are
// used again.
func returnPages(words []uint64) { advise(words, os.Getpagesize(), syscall.MADV_DONTNEED) }

// wantHugePages asks for huge pages where words has not been used yet: fewer of them are
// to be found when it is, and by the processor later on.
func wantHugePages(words []uint64) { advise(words, 2<<20, syscall.MADV_HUGEPAGE) }

// advise advises the system on the pages of this size that lie in words as a whole. What
// it does not take, as on systems without huge pages, it does without.
func advise(words []uint64, page int, advice int) {
	if len(words) == 0 {
		return
	}
	start := uintptr(unsafe.Pointer(&words[0]))
	first := (start + uintptr(page) - 1) &^ (uintptr(page) - 1)
	last := (start + uintptr(len(words))*8) &^ (uintptr(page) - 1)
	if first < last {
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
		_ = syscall.Madvise(bytes[first-start:last-start], advice)
	}
}

package loader

import (
	"syscall"
	"unsafe"
)

const sysMemfdCreate = syscall.SYS_MEMFD_CREATE

// synchronize makes processors fetch the instructions of text, which were written through writable: the caches of data
// are written back, and those of instructions emptied.
func synchronize(text, writable []byte) {
	if len(text) > 0 {
		synchronizeCaches(unsafe.SliceData(text), unsafe.SliceData(writable), len(text))
	}
}

// synchronizeCaches is the sequence for self-modifying code of the Arm Architecture Reference Manual, B2.2.5.
//
//go:noescape
func synchronizeCaches(text, writable *byte, n int)

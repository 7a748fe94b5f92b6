//go:build unix

package ptx

import "syscall"

// allocate returns n bytes outside the Go heap: kernels compute addresses as plain numbers, which the
// race detector's checks do not allow for memory of the heap.
func allocate(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func release(mem []byte) { _ = syscall.Munmap(mem) }

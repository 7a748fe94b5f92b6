//go:build ((linux && (cgo || mpi)) || darwin) && (amd64 || arm64)

package mpi

import "github.com/ebitengine/purego"

type shared uintptr

// open loads a shared library. Open MPI's plugins look up its symbols globally.
func open(path string) (library, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	return shared(h), err
}

// program returns the symbols of this program and of the C library.
func program() library { return shared(purego.RTLD_DEFAULT) }

func (h shared) symbol(name string) uintptr {
	p, err := purego.Dlsym(uintptr(h), name)
	if err != nil {
		return 0
	}
	return p
}

//go:uintptrescapes
func (h shared) call(function uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(function, args...)
	return int32(r)
}

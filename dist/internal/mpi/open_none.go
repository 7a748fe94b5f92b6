//go:build !((linux && (cgo || mpi)) || darwin) || !(amd64 || arm64)

package mpi

import "errors"

func open(path string) (library, error) {
	return nil, errors.New("this build of the program cannot load shared libraries; MPI needs Linux or macOS, and on Linux a C compiler for the build, or the build tag mpi and glibc")
}

func program() library { return nil }

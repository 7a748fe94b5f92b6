//go:build !((linux || darwin) && (amd64 || arm64)) || static

package mpi

import "errors"

func open(path string) (library, error) {
	return nil, errors.New("this build of the program cannot load shared libraries; MPI needs Linux or macOS and a build without the tag static")
}

func program() library { return nil }

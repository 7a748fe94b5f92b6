//go:build !unix

package ptx

import (
	"errors"
	"runtime"
)

// allocate fails: there is no memory outside the Go heap that a program may ask for on every system.
func allocate(int) ([]byte, error) {
	return nil, errors.New("kernels with variables of their own cannot be interpreted on " + runtime.GOOS + "; use Linux or another Unix system")
}

func release([]byte) {}

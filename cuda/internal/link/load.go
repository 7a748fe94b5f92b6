//go:build cuda && linux && cgo

package link

/*
#cgo LDFLAGS: -L${SRCDIR}/ld -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"os"
	"sync"
	"unsafe"
)

// driverFile is what the loader finds where a driver is installed as usual; the
// other two are where WSL and NixOS keep theirs.
var driverFile = []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"}

var loaded struct {
	sync.Once
	err error
}

// Load binds the driver and starts it: the file at path, or, if path is empty,
// the one that the environment variable HALFNOTE_CUDA_DRIVER names, or else the
// installed libcuda.so.1. It does so once; later calls return what the first one
// returned, whatever their path. The error says why there is no driver or no
// device.
func Load(path string) error {
	loaded.Do(func() {
		if path == "" {
			path = os.Getenv("HALFNOTE_CUDA_DRIVER")
		}
		if path != "" {
			loaded.err = load(path)
			return
		}
		for i, file := range driverFile {
			if _, err := os.Stat(file); i > 0 && err != nil {
				continue
			}
			if err := load(file); err == nil || loaded.err == nil {
				loaded.err = err
			}
			if loaded.err == nil {
				return
			}
		}
	})
	return loaded.err
}

func load(path string) error {
	const size = 1024
	name, message := C.CString(path), (*C.char)(C.malloc(size))
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(message))
	if C.link_load(name, message, size) != 0 {
		return errors.New(C.GoString(message))
	}
	return nil
}

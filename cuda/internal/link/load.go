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

// driverFile lists the names of the driver: the usual installation, then those of WSL and NixOS.
var driverFile = []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"}

var loaded struct {
	sync.Once
	err error
}

// Load binds and starts the driver: the file at path; if path is empty, the one named by the
// environment variable HALFNOTE_CUDA_DRIVER, or else the installed libcuda.so.1. It does so once;
// later calls return the first result, whatever their path. The error says why there is no driver
// or no device.
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

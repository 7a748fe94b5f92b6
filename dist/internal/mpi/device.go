package mpi

import "os"

// Shared is a loaded shared library.
type Shared struct{ library }

// OpenShared loads a shared library.
func OpenShared(path string) (Shared, error) {
	lib, err := open(path)
	return Shared{lib}, err
}

// Symbol returns the address of a symbol, or 0.
func (s Shared) Symbol(name string) uintptr { return s.symbol(name) }

// Call calls the function at an address and returns its int result.
//
//go:uintptrescapes
func (s Shared) Call(function uintptr, args ...uintptr) int32 { return s.call(function, args...) }

// DeviceAware is implemented by communicators that may move the memory of GPUs.
type DeviceAware interface {
	// DeviceAware reports whether the communicator moves the memory of GPUs as it moves that of the host.
	DeviceAware() bool
}

// switches lists the variables that turn on the support of libraries that cannot be asked: Cray MPICH and MVAPICH.
var switches = []string{"MPICH_GPU_SUPPORT_ENABLED", "MV2_USE_CUDA", "MVP_USE_CUDA"}

// DeviceAware implements [DeviceAware]. Open MPI and MPICH have a function that tells.
func (c *comm) DeviceAware() bool {
	if f := c.lib.symbol("MPIX_Query_cuda_support"); f != 0 {
		return c.lib.call(f) == 1
	}
	for _, name := range switches {
		if os.Getenv(name) == "1" {
			return true
		}
	}
	return false
}

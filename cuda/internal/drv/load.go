//go:build cuda && linux && cgo

package drv

import (
	"fmt"
	"sync"

	"halfnote/cuda/internal/link"

	"gorgonia.org/cu"
)

// oldest is the oldest driver that compiles PTX 7.0, in cuDriverGetVersion's numbering: that of
// CUDA 11.0.
const oldest = 11000

// Load binds the driver, once. The error says why no GPU can be used: no driver, no device, or a
// driver that does not start or is too old.
var Load = sync.OnceValue(func() error {
	if err := link.Load(""); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	if v := cu.Version(); v < oldest {
		return fmt.Errorf("cuda: the NVIDIA driver supports CUDA %d.%d; want %d.%d or newer",
			v/1000, v%1000/10, oldest/1000, oldest%1000/10)
	}
	return nil
})

// Version returns the newest CUDA that the loaded driver supports, in cuDriverGetVersion's numbering.
func Version() int { return cu.Version() }

// Count returns the number of devices. The environment variable CUDA_VISIBLE_DEVICES hides
// devices from the driver.
func Count() (int, error) {
	if err := Load(); err != nil {
		return 0, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0, newError("cuDeviceGetCount", code(err))
	}
	return n, nil
}

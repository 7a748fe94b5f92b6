// Package cuda tells of NVIDIA GPUs. A build without the tag cuda has no backend for
// them, and says so: absent hardware is an absent backend, not a pretended one. A build
// with the tag looks for the driver when it is first asked for a GPU, and runs without.
//
// Work is enqueued, and waited for when somebody reads a value. [Capture] makes a graph of a
// training step, which spares small networks the time that the processor takes to enqueue it.
package cuda

import (
	"fmt"

	"halfnote/tensor/driver"
)

// backend is what backends of GPUs tell beyond what every backend does.
type backend interface {
	driver.Backend
	Devices() int
	Product() string
	Capability() (major, minor int)
	EmptyCache() error
	AllowTF32(on bool)
}

// Available reports whether tensors can live on a GPU here. It is
// torch.cuda.is_available.
func Available() bool { return driver.Lookup("cuda") != nil }

// Why says why [Available] is false, in one sentence; it is empty when a GPU can
// be used.
func Why() string {
	if _, err := driver.Open("cuda"); err != nil {
		return "tensors and autocast run on the CPU: " + err.Error()
	}
	return ""
}

// DeviceCount returns the number of GPUs, 0 where none is [Available]. It is
// torch.cuda.device_count.
func DeviceCount() int {
	if b, ok := driver.Lookup("cuda").(backend); ok {
		return b.Devices()
	}
	return 0
}

// DeviceName returns the name of GPU i, "NVIDIA H200". It panics if there is no such GPU. It
// is torch.cuda.get_device_name.
func DeviceName(i int) string { return device(i).Product() }

// DeviceCapability returns the compute capability of GPU i, 9 and 0 for an H200. It panics
// if there is no such GPU. It is torch.cuda.get_device_capability.
func DeviceCapability(i int) (major, minor int) { return device(i).Capability() }

// Synchronize waits until all GPUs in use have finished all that they were given, and
// returns at once without one. It is torch.cuda.synchronize.
func Synchronize() { each(func(b backend) { b.Synchronize() }) }

// EmptyCache gives the driver the memory back that no tensor holds, for other programs. It
// is torch.cuda.empty_cache.
func EmptyCache() error {
	var first error
	each(func(b backend) {
		if err := b.EmptyCache(); err != nil && first == nil {
			first = err
		}
	})
	return first
}

// AllowTF32 sets whether float32 products and convolutions may round their operands to
// TF32, 8 bits of exponent and 10 of fraction, on GPUs that multiply such: several times
// faster, and as exact as float16. At the start they may not. It is
// torch.backends.cuda.matmul.allow_tf32, and torch.backends.cudnn.allow_tf32.
func AllowTF32(on bool) { each(func(b backend) { b.AllowTF32(on) }) }

// device returns GPU i.
func device(i int) backend {
	b, err := driver.Open(name(i))
	if err != nil {
		panic(fmt.Errorf("cuda: GPU %d: %w", i, err))
	}
	return b.(backend)
}

// name returns the name of GPU i as a device.
func name(i int) string {
	if i == 0 {
		return "cuda"
	}
	return fmt.Sprintf("cuda:%d", i)
}

func each(f func(b backend)) {
	for i := range DeviceCount() {
		f(device(i))
	}
}

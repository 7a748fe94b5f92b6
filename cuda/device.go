// Package cuda reports on NVIDIA GPUs and controls them. A build without the tag cuda has no
// backend for them; hardware that is absent is never simulated. A build with the tag loads the
// driver when a GPU is first used, and also runs without one.
//
// Work is enqueued asynchronously; reading a value waits for it. [Capture] turns a training step
// into a graph, which saves small networks the CPU time of enqueuing it.
package cuda

import (
	"fmt"

	"halfnote/tensor/driver"
)

// backend is implemented by GPU backends in addition to driver.Backend.
type backend interface {
	driver.Backend
	Devices() int
	Product() string
	Capability() (major, minor int)
	EmptyCache() error
	AllowTF32(on bool)
	Library() (file string, err error)
	Driver() int
}

// lookup returns GPU 0, or nil if it cannot be used.
func lookup() backend {
	b, _ := driver.Lookup("cuda").(backend)
	return b
}

// Available reports whether tensors can live on a GPU. It is torch.cuda.is_available.
func Available() bool { return driver.Lookup("cuda") != nil }

// Err returns the reason why [Available] is false, in one sentence, and nil if a GPU can be used.
func Err() error {
	if _, err := driver.Open("cuda"); err != nil {
		return fmt.Errorf("everything runs on the CPU: %w", err)
	}
	return nil
}

// DeviceCount returns the number of GPUs, 0 if none is [Available]. It is
// torch.cuda.device_count.
func DeviceCount() int {
	if b := lookup(); b != nil {
		return b.Devices()
	}
	return 0
}

// DeviceName returns the name of GPU i, for example "NVIDIA H200". It panics if there is no such
// GPU. It is torch.cuda.get_device_name.
func DeviceName(i int) string { return device(i).Product() }

// DeviceCapability returns the compute capability of GPU i, for example 9 and 0 for an H200. It
// panics if there is no such GPU. It is torch.cuda.get_device_capability.
func DeviceCapability(i int) (major, minor int) { return device(i).Capability() }

// Synchronize waits until all GPUs in use have finished their work. Without a GPU it returns at
// once. It is torch.cuda.synchronize.
func Synchronize() { each(func(b backend) { b.Synchronize() }) }

// EmptyCache returns unused memory to the driver, for other programs. It is
// torch.cuda.empty_cache.
func EmptyCache() error {
	var first error
	each(func(b backend) {
		if err := b.EmptyCache(); err != nil && first == nil {
			first = err
		}
	})
	return first
}

// AllowTF32 sets whether float32 products and convolutions may round their operands to TF32 (8
// exponent bits, 10 fraction bits) on GPUs with TF32 tensor cores. That is several times faster
// and as precise as float16. The default is false. It is torch.backends.cuda.matmul.allow_tf32
// and torch.backends.cudnn.allow_tf32.
func AllowTF32(on bool) { each(func(b backend) { b.AllowTF32(on) }) }

// device returns GPU i.
func device(i int) backend {
	b, err := driver.Open(name(i))
	if err != nil {
		panic(fmt.Errorf("cuda: GPU %d: %w", i, err))
	}
	return b.(backend)
}

// name returns the device name of GPU i.
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

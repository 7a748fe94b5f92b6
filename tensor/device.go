package tensor

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"halfnote/tensor/driver"
	_ "halfnote/tensor/internal/cpu" // registers the backend "cpu"
)

// Device is the device that holds a tensor's elements: torch.device.
type Device string

// The devices.
const (
	CPU  Device = "cpu"
	CUDA Device = "cuda" // first NVIDIA GPU; "cuda:1" is the second. Only builds with the tag cuda have GPUs.
)

// processDevice is the device that [SetDefaultDevice] set.
var processDevice atomic.Pointer[driver.Backend]

// SetDefaultDevice sets the device for new tensors from functions without tensor arguments:
// New, Zeros, Randn, the parameters of package nn. Initially it is the CPU. Functions that read
// bytes and files always use the CPU. It panics if the device does not exist. It is
// torch.set_default_device.
func SetDefaultDevice(d Device) {
	b := d.backend()
	processDevice.Store(&b)
}

// DefaultDevice returns the device for new tensors. It is torch.get_default_device.
func DefaultDevice() Device { return Device(here().Name()) }

// OnDevice runs body with another default device on this goroutine. It panics if the device
// does not exist. It is the context manager torch.device.
func OnDevice(d Device, body func()) {
	s := current()
	s.device = d.backend()
	s.do(body)
}

// Accelerator returns the fastest available device: [CUDA], or [CPU] if there is none. It is
// torch.accelerator.current_accelerator, which returns None in place of CPU.
func Accelerator() Device {
	if CUDA.Available() {
		return CUDA
	}
	return CPU
}

// here returns the backend of the default device.
func here() driver.Backend {
	if s := innermost(); s != nil && s.device != nil {
		return s.device
	}
	if b := processDevice.Load(); b != nil {
		return *b
	}
	return CPU.backend()
}

// Available reports whether d can hold tensors.
func (d Device) Available() bool { return driver.Lookup(string(d)) != nil }

// backend returns d's backend. It panics if the device does not exist.
func (d Device) backend() driver.Backend {
	b, err := driver.Open(string(d))
	if b == nil {
		family, _, _ := strings.Cut(string(d), ":")
		why := fmt.Sprintf("device %q does not exist; want one of: %s", d, strings.Join(driver.Names(), ", "))
		if family == string(CUDA) {
			why = fmt.Sprintf("device %q is not available: %v; use tensor.CPU", d, err)
		}
		panic(named(&Error{Op: "device", Why: why}))
	}
	return b
}

// together returns in, with CPU scalars copied to the device of the other operands, as in
// torch. It panics if those are on different devices.
func together(op string, in []*Tensor) []*Tensor {
	b := in[0].mem.backend
	for _, t := range in[1:] {
		if t.mem.backend != b {
			return moved(op, in)
		}
	}
	return in
}

func moved(op string, in []*Tensor) []*Tensor {
	device := CPU
	for _, t := range in {
		if d := t.Device(); d != CPU {
			device = d
			break
		}
	}
	out := slices.Clone(in)
	for i, t := range in {
		if d := t.Device(); d != device && (d != CPU || t.Dim() > 0) {
			fail(op, in, "operands are on %v and %v; move them to one device with Tensor.ToDevice", device, t.Device())
		}
		out[i] = t.ToDevice(device)
	}
	return out
}

// Synchronize waits for all work on d to finish.
func (d Device) Synchronize() { d.backend().Synchronize() }

// storage is memory shared by a tensor and its views.
type storage struct {
	backend driver.Backend
	buffer  driver.Buffer
	version atomic.Int64 // number of changes in place
	holders atomic.Int64 // number of gradients of a backward walk that use it; see hold
	owner   atomic.Int32 // who refers to it; see lifetime.go
	id      uint64
	origin  *origin                // source of the copy, if any
	shadow  atomic.Pointer[shadow] // copy of a weight in half precision; see castWeight
}

// ids numbers tensors and storages in order of creation.
var ids atomic.Uint64

// newStorage returns memory for a tensor: zeroed, or uninitialised if unset.
func newStorage(op string, b driver.Backend, d DType, shape []int, unset bool) *storage {
	checkSize(op, shape, d.Size())
	alloc := b.Alloc
	if r, ok := b.(driver.Recycler); ok && unset {
		alloc = r.AllocUnset
	}
	buffer, err := alloc(size(shape) * d.Size())
	if err != nil {
		panic(named(&Error{Op: op, Shapes: [][]int{shape}, DTypes: []DType{d}, Why: err.Error()}))
	}
	return &storage{backend: b, buffer: buffer, id: ids.Add(1)}
}

// MemoryStats is the memory that tensors use on a device, in bytes.
type MemoryStats struct {
	Live int // bytes in use, as far as the garbage collector knows
	Peak int // largest Live since the start or the last ResetPeakMemory
	// Reserved is Live plus memory kept for reuse: about the largest Live of the last seconds.
	// It is torch.cuda.memory_reserved.
	Reserved int
	// Limit is the memory available, 0 if unknown. On the CPU it is the smallest of GOMEMLIMIT,
	// the control group's limit and the machine's memory.
	Limit int
}

// Memory returns the memory that tensors use on d, or zeros if the device does not report it.
// It is torch.cuda.memory_allocated and torch.cuda.max_memory_allocated.
func (d Device) Memory() MemoryStats {
	if r, ok := d.backend().(driver.MemoryReporter); ok {
		m := r.Memory()
		return MemoryStats{int(m.Live), int(m.Peak), int(m.Reserved), int(m.Limit)}
	}
	return MemoryStats{}
}

// ResetPeakMemory sets the peak to the current use. It is torch.cuda.reset_peak_memory_stats.
func (d Device) ResetPeakMemory() {
	if r, ok := d.backend().(driver.MemoryReporter); ok {
		r.ResetPeak()
	}
}

// Memory returns the memory that tensors use on the CPU; see [Device.Memory].
func Memory() MemoryStats { return CPU.Memory() }

// ResetPeakMemory is [Device.ResetPeakMemory] for the CPU.
func ResetPeakMemory() { CPU.ResetPeakMemory() }

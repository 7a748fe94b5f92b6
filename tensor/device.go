package tensor

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"halfnote/tensor/driver"
	_ "halfnote/tensor/internal/cpu" // registers the backend "cpu"
)

// Device is where a tensor's elements are: torch.device.
type Device string

// The devices.
const (
	CPU  Device = "cpu"
	CUDA Device = "cuda" // the first NVIDIA GPU, "cuda:1" the second; only builds with the tag cuda have them
)

// processDevice is what [SetDefaultDevice] set.
var processDevice atomic.Pointer[driver.Backend]

// SetDefaultDevice sets where tensors are made by functions that are given no tensor: New,
// Zeros, Randn, the parameters of package nn. It is the CPU at the start. What reads bytes
// and files makes tensors on the CPU always. It panics if there is no such device. It is
// torch.set_default_device.
func SetDefaultDevice(d Device) {
	b := d.backend()
	processDevice.Store(&b)
}

// DefaultDevice returns where tensors are made. It is torch.get_default_device.
func DefaultDevice() Device { return Device(here().Name()) }

// OnDevice runs body with another default device on this goroutine. It panics if there is
// no such device. It is the context manager torch.device.
func OnDevice(d Device, body func()) {
	s := current()
	s.device = d.backend()
	s.do(body)
}

// Accelerator returns the fastest device that is here: [CUDA], or [CPU] if there is none.
// It is torch.accelerator.current_accelerator, but for its None.
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

// Available reports whether tensors can be on d.
func (d Device) Available() bool { return driver.Lookup(string(d)) != nil }

// backend panics if there is no such device.
func (d Device) backend() driver.Backend {
	b, err := driver.Open(string(d))
	if b == nil {
		family, _, _ := strings.Cut(string(d), ":")
		why := fmt.Sprintf("there is no device %q here; expected one of: %s", d, strings.Join(driver.Names(), ", "))
		if family == string(CUDA) {
			why = fmt.Sprintf("there is no device %q here: %v; use tensor.CPU", d, err)
		}
		panic(&Error{Op: "device", Why: why})
	}
	return b
}

// together returns in, with scalars of the CPU brought to where the others are, as torch
// does it. It panics if those are not on one device.
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
			fail(op, in, "they are on %v and %v; expected one device", device, t.Device())
		}
		out[i] = t.ToDevice(device)
	}
	return out
}

// Synchronize returns when all that was started on d is done.
func (d Device) Synchronize() { d.backend().Synchronize() }

// storage is memory that tensors share: a tensor and its views.
type storage struct {
	backend driver.Backend
	buffer  driver.Buffer
	version atomic.Int64 // counts changes in place
	holders atomic.Int64 // gradients of a walk; see hold
	id      uint64
	origin  *origin                // nil for most
	shadow  atomic.Pointer[shadow] // of weights; see CastWeight
}

// ids numbers tensors and storages in the order of their making.
var ids atomic.Uint64

// newStorage returns memory for a tensor: zeros, or anything if unset.
func newStorage(op string, b driver.Backend, d DType, shape []int, unset bool) *storage {
	checkSize(op, shape, d.Size())
	alloc := b.Alloc
	if r, ok := b.(driver.Recycler); ok && unset {
		alloc = r.AllocUnset
	}
	buffer, err := alloc(size(shape) * d.Size())
	if err != nil {
		panic(&Error{Op: op, Shapes: [][]int{shape}, DTypes: []DType{d}, Why: err.Error()})
	}
	return &storage{backend: b, buffer: buffer, id: ids.Add(1)}
}

// MemoryStats is what tensors occupy on a device, in bytes.
type MemoryStats struct {
	Live int // now, as far as the garbage collector knows
	Peak int // at most, since the start or the last ResetPeakMemory
	// Reserved is Live and what is kept for tensors to come: about the most that was live in
	// the last seconds. It is torch.cuda.memory_reserved.
	Reserved int
	// Limit is what there may be, 0 if that is not known. On the CPU it is the least
	// of GOMEMLIMIT, the control group's limit and the machine's memory.
	Limit int
}

// Memory returns what tensors occupy on d, zeros if the device does not count. It
// is torch.cuda.memory_allocated and torch.cuda.max_memory_allocated.
func (d Device) Memory() MemoryStats {
	if r, ok := d.backend().(driver.MemoryReporter); ok {
		m := r.Memory()
		return MemoryStats{int(m.Live), int(m.Peak), int(m.Reserved), int(m.Limit)}
	}
	return MemoryStats{}
}

// ResetPeakMemory makes the peak what is occupied now. It is
// torch.cuda.reset_peak_memory_stats.
func (d Device) ResetPeakMemory() {
	if r, ok := d.backend().(driver.MemoryReporter); ok {
		r.ResetPeak()
	}
}

// Memory returns what tensors occupy on the CPU; see [Device.Memory].
func Memory() MemoryStats { return CPU.Memory() }

// ResetPeakMemory is [Device.ResetPeakMemory] of the CPU.
func ResetPeakMemory() { CPU.ResetPeakMemory() }

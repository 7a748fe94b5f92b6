//go:build cuda && linux && cgo

package drv

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"halfnote/cuda/internal/link"

	"gorgonia.org/cu"
)

// Device is one GPU and its primary context, which it shares with libraries such as cuBLAS. It
// lives as long as the process.
type Device struct {
	ordinal int
	dev     cu.Device
	ctx     cu.CUContext
	handle  uintptr // ctx
	name    string
	total   int64
	major   int
	minor   int
	sms     int
	dead    atomic.Pointer[Error]
}

var devices struct {
	sync.Mutex
	open map[int]*Device
}

// Open returns the device, the same one for the same ordinal. It returns an error if there is no
// driver or no such device, or if the device lacks a required feature.
func Open(ordinal int) (*Device, error) {
	n, err := Count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("cuda: no device %d; device count is %d", ordinal, n)
	}
	devices.Lock()
	defer devices.Unlock()
	if d := devices.open[ordinal]; d != nil {
		return d, nil
	}
	d := &Device{ordinal: ordinal}
	if err := d.open(); err != nil {
		return nil, err
	}
	if devices.open == nil {
		devices.open = map[int]*Device{}
	}
	devices.open[ordinal] = d
	return d, nil
}

func (d *Device) open() (err error) {
	if d.dev, err = cu.GetDevice(d.ordinal); err != nil {
		return newError("cuDeviceGet", code(err))
	}
	if d.name, err = d.dev.Name(); err != nil {
		return newError("cuDeviceGetName", code(err))
	}
	if d.total, err = d.dev.TotalMem(); err != nil {
		return newError("cuDeviceTotalMem", code(err))
	}
	d.major = d.Attribute(CapabilityMajor)
	d.minor = d.Attribute(CapabilityMinor)
	d.sms = d.Attribute(Multiprocessors)
	if d.ctx, err = d.dev.RetainPrimaryCtx(); err != nil {
		return newError("cuDevicePrimaryCtxRetain", code(err))
	}
	d.handle = handle(d.ctx)
	return nil
}

// handle returns the driver's pointer, the only field of these types.
func handle[T cu.CUContext | cu.Stream | cu.Function](h T) uintptr {
	return *(*uintptr)(unsafe.Pointer(&h))
}

// do runs calls of cu with the device's context current. call names them in errors.
func (d *Device) do(call string, f func() error) error {
	if e := d.dead.Load(); e != nil {
		return e
	}
	runtime.LockOSThread()
	err := cu.SetCurrentContext(d.ctx)
	if err == nil {
		err = f()
	}
	runtime.UnlockOSThread()
	if err != nil {
		return d.failed(call, code(err))
	}
	return nil
}

// failed returns the error of a call and marks the device dead if the error is sticky.
func (d *Device) failed(call string, r int) *Error {
	e := newError(call, r)
	if e.Sticky() && !d.dead.CompareAndSwap(nil, e) {
		return d.dead.Load()
	}
	return e
}

// Err returns the error that ended the device, or nil.
func (d *Device) Err() error {
	if e := d.dead.Load(); e != nil {
		return e
	}
	return nil
}

// Ordinal returns the device's number among the driver's visible devices.
func (d *Device) Ordinal() int { return d.ordinal }

// Context returns the driver's CUcontext, for libraries that share it.
func (d *Device) Context() uintptr { return d.handle }

// Name returns the device's name, for example "NVIDIA H200".
func (d *Device) Name() string { return d.name }

// Capability returns the compute capability, for example 9 and 0 for Hopper.
func (d *Device) Capability() (major, minor int) { return d.major, d.minor }

// Multiprocessors returns the number of multiprocessors.
func (d *Device) Multiprocessors() int { return d.sms }

// Total returns the device's memory in bytes.
func (d *Device) Total() int64 { return d.total }

// Free returns the bytes of free memory, after the allocations of all processes; 0 for a dead
// device.
func (d *Device) Free() int64 {
	var free int64
	d.do("cuMemGetInfo", func() (err error) {
		free, _, err = cu.MemInfo()
		return err
	})
	return free
}

// Synchronize waits until everything enqueued on every stream is done.
func (d *Device) Synchronize() error { return d.do("cuCtxSynchronize", cu.Synchronize) }

// Attribute is a CUdevice_attribute.
type Attribute int

const (
	MaxThreadsPerBlock         Attribute = 1
	MaxGridX                   Attribute = 5
	MaxGridY                   Attribute = 6
	MaxGridZ                   Attribute = 7
	SharedPerBlock             Attribute = 8
	ClockRate                  Attribute = 13 // kHz
	Multiprocessors            Attribute = 16
	MemoryClockRate            Attribute = 36 // kHz
	MemoryBusWidth             Attribute = 37 // bits
	L2Cache                    Attribute = 38 // bytes
	ThreadsPerMultiprocessor   Attribute = 39
	CapabilityMajor            Attribute = 75
	CapabilityMinor            Attribute = 76
	SharedPerMultiprocessor    Attribute = 81
	RegistersPerMultiprocessor Attribute = 82
	SharedPerBlockOptin        Attribute = 97 // for Function.MaxDynamicShared
	MaxBlocksPerMultiprocessor Attribute = 106
	ReservedSharedPerBlock     Attribute = 111
)

// Attribute returns the value of a, 0 if the driver does not know it.
func (d *Device) Attribute(a Attribute) int {
	v, err := d.dev.Attribute(cu.DeviceAttribute(a))
	if err != nil {
		return 0
	}
	return v
}

// Load compiles PTX text for the device, or loads it from the driver's cache. The error includes
// the compiler's log.
func (d *Device) Load(ptx string) (*Module, error) {
	if e := d.dead.Load(); e != nil {
		return nil, e
	}
	m, log, r := link.LoadModule(d.handle, ptx)
	if r != 0 {
		e := d.failed("cuModuleLoadDataEx", r)
		if !e.Sticky() {
			e.Log = log
		}
		return nil, e
	}
	return &Module{dev: d, mod: *(*cu.Module)(unsafe.Pointer(&m))}, nil
}

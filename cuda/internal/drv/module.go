//go:build cuda && linux && cgo

package drv

import (
	"sync/atomic"

	"halfnote/cuda/internal/link"

	"gorgonia.org/cu"
)

// Module is compiled PTX. It is never unloaded.
type Module struct {
	dev *Device
	mod cu.Module
}

// Function returns the kernel of that name, or the error [NotFound].
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{dev: m.dev, name: name}
	err := m.dev.do("cuModuleGetFunction "+name, func() (err error) {
		f.fn, err = m.mod.Function(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.handle = handle(f.fn)
	return f, nil
}

// Function is a kernel.
type Function struct {
	dev    *Device
	name   string
	fn     cu.Function
	handle uintptr
	shared atomic.Int64 // limit set by MaxDynamicShared
}

// Name returns the name in the PTX text.
func (f *Function) Name() string { return f.name }

// FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int

const (
	FunctionMaxThreads FunctionAttribute = 0
	FunctionShared     FunctionAttribute = 1 // static shared memory in bytes
	FunctionLocal      FunctionAttribute = 3 // bytes per thread: spilled registers and arrays
	FunctionRegisters  FunctionAttribute = 4 // registers per thread
	FunctionMaxDynamic FunctionAttribute = 8
)

// Attribute returns the value of a.
func (f *Function) Attribute(a FunctionAttribute) (v int, err error) {
	err = f.dev.do("cuFuncGetAttribute "+f.name, func() (err error) {
		v, err = f.fn.Attribute(cu.FunctionAttribute(a))
		return err
	})
	return v, err
}

// MaxDynamicShared allows launches with up to n bytes of dynamic shared memory; it is required
// above 48 KiB. The limit is [SharedPerBlockOptin] less the function's static shared memory.
func (f *Function) MaxDynamicShared(n int) error {
	if e := f.dev.dead.Load(); e != nil {
		return e
	}
	if int64(n) <= f.shared.Load() {
		return nil
	}
	if r := link.SetFunction(f.dev.handle, f.handle, int(FunctionMaxDynamic), n); r != 0 {
		return f.dev.failed("cuFuncSetAttribute "+f.name, r)
	}
	f.shared.Store(int64(n))
	return nil
}

// Occupancy returns the number of blocks, with the given threads and bytes of dynamic shared
// memory, that fit on one multiprocessor.
func (f *Function) Occupancy(threads, shared int) (blocks int, err error) {
	err = f.dev.do("cuOccupancyMaxActiveBlocksPerMultiprocessor "+f.name, func() (err error) {
		blocks, err = f.fn.MaxActiveBlocksPerMultiProcessor(threads, int64(shared))
		return err
	})
	return blocks, err
}

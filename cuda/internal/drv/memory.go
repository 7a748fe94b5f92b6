//go:build cuda && linux && cgo

package drv

import (
	"fmt"
	"unsafe"

	"halfnote/cuda/internal/link"

	"gorgonia.org/cu"
)

// Ptr is an address in a device's memory.
type Ptr uint64

// Alloc returns n bytes of uninitialised device memory, aligned to 256. The error [OutOfMemory]
// gives the requested and the free bytes.
func (d *Device) Alloc(n int) (Ptr, error) {
	var p cu.DevicePtr
	err := d.do("cuMemAlloc", func() (err error) {
		p, err = cu.MemAlloc(int64(n))
		return err
	})
	if e, ok := err.(*Error); ok && e.Code == OutOfMemory {
		e.Call = fmt.Sprintf("cuMemAlloc of %d bytes, %d free of %d", n, d.Free(), d.total)
	}
	return Ptr(p), err
}

// Release frees memory of Alloc. The driver first waits for the whole device.
func (d *Device) Release(p Ptr) error {
	return d.do("cuMemFree", func() error { return cu.MemFree(cu.DevicePtr(p)) })
}

// Pinned is page-locked host memory, which a device copies asynchronously and at full speed.
type Pinned struct {
	dev *Device
	at  unsafe.Pointer
	n   int
}

// Pinned returns n bytes of uninitialised page-locked memory.
func (d *Device) Pinned(n int) (*Pinned, error) {
	if e := d.dead.Load(); e != nil {
		return nil, e
	}
	p, r := link.AllocHost(d.handle, n)
	if r != 0 {
		return nil, d.failed(fmt.Sprintf("cuMemHostAlloc of %d bytes", n), r)
	}
	return &Pinned{d, p, n}, nil
}

// Bytes returns the memory, which lies outside the Go heap.
func (p *Pinned) Bytes() []byte { return unsafe.Slice((*byte)(p.at), p.n) }

// Free frees the memory. No copy may be pending, and the bytes must not be used afterwards.
func (p *Pinned) Free() error {
	at := p.at
	p.at, p.n = nil, 0
	if at == nil {
		return nil
	}
	if e := p.dev.dead.Load(); e != nil {
		return e
	}
	if r := link.FreeHost(p.dev.handle, at); r != 0 {
		return p.dev.failed("cuMemFreeHost", r)
	}
	return nil
}

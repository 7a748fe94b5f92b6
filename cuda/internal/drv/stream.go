//go:build cuda && linux && cgo

package drv

import (
	"unsafe"

	"halfnote/cuda/internal/link"

	"gorgonia.org/cu"
)

// Stream is a queue of work for a device, executed in order. Streams do not wait for each other
// or for the driver's default stream, except through an [Event].
type Stream struct {
	dev    *Device
	stream cu.Stream
	handle uintptr
}

// NewStream returns a stream.
func (d *Device) NewStream() (*Stream, error) {
	s := &Stream{dev: d}
	err := d.do("cuStreamCreate", func() (err error) {
		s.stream, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.handle = handle(s.stream)
	return s, nil
}

// Device returns the stream's device.
func (s *Stream) Device() *Device { return s.dev }

// Handle returns the driver's CUstream, for libraries that take one.
func (s *Stream) Handle() uintptr { return s.handle }

// Free releases the stream; the driver frees it when its work is done.
func (s *Stream) Free() error {
	return s.dev.do("cuStreamDestroy", func() error { return s.stream.Destroy() })
}

// Launch enqueues f with a grid of blocks, threads per block, and shared bytes of dynamic shared
// memory. args may be changed when it returns.
func (s *Stream) Launch(f *Function, grid, block [3]uint32, shared uint32, args *Args) error {
	if e := s.dev.dead.Load(); e != nil {
		return e
	}
	if r := link.Launch(s.dev.handle, f.handle, grid, block, shared, s.handle, &args.buffer[0], &args.offset[0], args.n); r != 0 {
		return s.dev.failed("cuLaunchKernel "+f.name, r)
	}
	return nil
}

// CopyIn enqueues a copy of n bytes from src at offset off to the device. The source must not
// change until the copy is done.
func (s *Stream) CopyIn(dst Ptr, src *Pinned, off, n int) error {
	if n == 0 {
		return nil
	}
	from := unsafe.Pointer(&src.Bytes()[off : off+n][0])
	return s.dev.do("cuMemcpyHtoDAsync", func() error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(dst), from, int64(n), s.stream)
	})
}

// CopyOut enqueues a copy of n bytes from the device to dst at offset off. dst holds them once
// the copy is done.
func (s *Stream) CopyOut(dst *Pinned, off int, src Ptr, n int) error {
	if n == 0 {
		return nil
	}
	to := unsafe.Pointer(&dst.Bytes()[off : off+n][0])
	return s.dev.do("cuMemcpyDtoHAsync", func() error {
		return cu.MemcpyDtoHAsync(to, cu.DevicePtr(src), int64(n), s.stream)
	})
}

// Copy enqueues a copy of n bytes within the device. The ranges must not overlap.
func (s *Stream) Copy(dst, src Ptr, n int) error {
	if n == 0 {
		return nil
	}
	return s.dev.do("cuMemcpyDtoDAsync", func() error {
		return cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), int64(n), s.stream)
	})
}

// CopyFrom enqueues a copy of n bytes from another device to the stream's device.
func (s *Stream) CopyFrom(dst Ptr, from *Device, src Ptr, n int) error {
	if n == 0 {
		return nil
	}
	return s.dev.do("cuMemcpyPeerAsync", func() error {
		return cu.MemcpyPeerAsync(cu.DevicePtr(dst), s.dev.ctx, cu.DevicePtr(src), from.ctx, int64(n), s.stream)
	})
}

// Set8 enqueues a fill of n bytes with value.
func (s *Stream) Set8(dst Ptr, value byte, n int) error {
	if n == 0 {
		return nil
	}
	return s.dev.do("cuMemsetD8Async", func() error {
		return cu.MemsetD8Async(cu.DevicePtr(dst), value, int64(n), s.stream)
	})
}

// Set32 enqueues a fill of n 4-byte words with value; dst must be a multiple of 4.
func (s *Stream) Set32(dst Ptr, value uint32, n int) error {
	if n == 0 {
		return nil
	}
	return s.dev.do("cuMemsetD32Async", func() error {
		return cu.MemsetD32Async(cu.DevicePtr(dst), uint(value), int64(n), s.stream)
	})
}

// Synchronize waits until all enqueued work is done, blocking a thread.
func (s *Stream) Synchronize() error {
	return s.dev.do("cuStreamSynchronize", func() error { return s.stream.Synchronize() })
}

// Query reports whether all enqueued work is done.
func (s *Stream) Query() (done bool, err error) {
	err = s.dev.do("cuStreamQuery", func() error { return ready(&done, s.stream.Query()) })
	return done, err
}

// ready converts the result "not ready" into done = false without an error.
func ready(done *bool, err error) error {
	if err == cu.NotReady {
		return nil
	}
	*done = err == nil
	return err
}

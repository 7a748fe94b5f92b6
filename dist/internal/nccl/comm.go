package nccl

import (
	"runtime"
	"unsafe"

	"halfnote/dist/internal/mpi"
	"halfnote/tensor/driver"
)

// Comm is one rank of a group, with its GPU. It implements [mpi.Mover] for memory of that GPU. Work goes to the stream of the backend, so
// that it follows the kernels that wrote the memory. All calls come from one goroutine, which is locked to its thread.
type Comm struct {
	lib        *Library
	device     driver.Sharer
	rank, size int
	handle     uintptr
}

// Join joins the group id. All ranks call it, each with a separate GPU; it waits for them.
func (l *Library) Join(id ID, rank, size int, device driver.Sharer) (*Comm, error) {
	c := &Comm{lib: l, device: device, rank: rank, size: size}
	_, err := device.Enqueue(func(uintptr) error { // with the context of the device
		// ncclCommInitRank takes the identifier by value. The convention of amd64 puts it on the stack, after six registers; that of
		// arm64 passes the address of a copy.
		if runtime.GOARCH != "amd64" {
			return l.call("ncclCommInitRank", uintptr(unsafe.Pointer(&c.handle)), uintptr(size), uintptr(unsafe.Pointer(&id)), uintptr(rank))
		}
		w := (*[16]uintptr)(unsafe.Pointer(&id))
		return l.call("ncclCommInitRank", uintptr(unsafe.Pointer(&c.handle)), uintptr(size), uintptr(rank), 0, 0, 0,
			w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15])
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// group enqueues the calls that f makes as one operation.
func (c *Comm) group(name string, f func(stream uintptr) error) (mpi.Request, error) {
	done, err := c.device.Enqueue(func(stream uintptr) error {
		if err := c.lib.call("ncclGroupStart"); err != nil {
			return err
		}
		err := f(stream)
		if end := c.lib.call("ncclGroupEnd"); err == nil {
			err = end
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &request{c, name, done}, nil
}

// Alltoall implements [mpi.Mover].
func (c *Comm) Alltoall(from []byte, send []mpi.Part, into []byte, recv []mpi.Part) (mpi.Request, error) {
	return c.group("Alltoall", func(stream uintptr) error {
		for r := range c.size {
			if r == c.rank {
				continue
			}
			if n := send[r].Len; n > 0 {
				if err := c.lib.call("ncclSend", first(from[send[r].At:]), uintptr(n), char, uintptr(r), c.handle, stream); err != nil {
					return err
				}
			}
			if n := recv[r].Len; n > 0 {
				if err := c.lib.call("ncclRecv", first(into[recv[r].At:]), uintptr(n), char, uintptr(r), c.handle, stream); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Allgather implements [mpi.Mover]: a broadcast from each rank, because parts differ in size.
func (c *Comm) Allgather(p []byte, parts []mpi.Part) (mpi.Request, error) {
	return c.group("Allgather", func(stream uintptr) error {
		for r, part := range parts {
			if part.Len == 0 {
				continue
			}
			if err := c.broadcast(p[part.At:][:part.Len], r, stream); err != nil {
				return err
			}
		}
		return nil
	})
}

// Broadcast implements [mpi.Mover].
func (c *Comm) Broadcast(p []byte, root int) (mpi.Request, error) {
	return c.group("Broadcast", func(stream uintptr) error { return c.broadcast(p, root, stream) })
}

func (c *Comm) broadcast(p []byte, root int, stream uintptr) error {
	return c.lib.call("ncclBroadcast", first(p), first(p), uintptr(len(p)), char, uintptr(root), c.handle, stream)
}

func first(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }

// Close leaves the group after the last operation.
func (c *Comm) Close() error { return c.lib.call("ncclCommDestroy", c.handle) }

// Abort leaves the group and ends operations that other ranks have not joined.
func (c *Comm) Abort() error { return c.lib.call("ncclCommAbort", c.handle) }

type request struct {
	c    *Comm
	name string
	done func() (bool, error)
}

// Done implements [mpi.Request].
func (r *request) Done() (bool, error) {
	var state int32
	if err := r.c.lib.call("ncclCommGetAsyncError", r.c.handle, uintptr(unsafe.Pointer(&state))); err != nil {
		return false, err
	}
	if state != inProgress {
		if err := failure(r.name, state); err != nil {
			return false, err
		}
	}
	return r.done()
}

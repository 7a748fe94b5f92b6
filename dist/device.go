package dist

import (
	"fmt"
	"strings"

	"halfnote/dist/internal/mpi"
	"halfnote/dist/internal/nccl"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Collectives of tensors on a GPU take one of three paths: NCCL, an MPI library that reads the memory of GPUs, or copies in host memory.
// The first two move the same messages as between hosts, and the GPU combines them in the order of the ranks.

// backends lists the names that [Backend] takes.
var backends = []string{"mpi", "nccl"}

// Backend chooses the library that moves tensors on NVIDIA GPUs: "mpi", the default, or "nccl", which needs the file libnccl.so.2, or the one that the
// variable HALFNOTE_NCCL names, and a separate GPU for each rank. Other tensors always travel by MPI. NCCL moves bytes only: sums have
// the same bits with both. It is the backend of torch.distributed.init_process_group.
func Backend(name string) Option { return func(s *settings) { s.backend = name } }

// connect is part of InitProcessGroup: it loads the library of the backend.
func (s *settings) connect() error {
	switch s.backend {
	case "", "mpi":
		return nil
	case "nccl":
		lib, err := nccl.Open()
		if err != nil {
			return fmt.Errorf("backend nccl: %w", err)
		}
		s.join = func(g *group, d driver.Sharer) (deviceComm, error) { return joinNCCL(g, lib, d) }
		return nil
	}
	return fmt.Errorf("the backend is %q; want %s", s.backend, strings.Join(backends, " or "))
}

// deviceComm moves the memory of a GPU between ranks.
type deviceComm interface {
	mpi.Mover
	Close() error
	Abort() error
}

// joinNCCL joins the ranks, which learn the identifier of the group from rank 0 by MPI.
func joinNCCL(g *group, lib *nccl.Library, d driver.Sharer) (deviceComm, error) {
	// The identifier comes with a text, so that an error on rank 0 is one on all ranks.
	message := make([]byte, len(nccl.ID{})+256)
	if g.rank == 0 {
		id, err := lib.NewID()
		copy(message, id[:])
		if err != nil {
			copy(message[len(id):], err.Error())
		}
	}
	r, err := g.comm.Broadcast(message, 0)
	g.await("InitProcessGroup", r, err)
	id := nccl.ID(message)
	if text := strings.TrimRight(string(message[len(id):]), "\x00"); text != "" {
		return nil, fmt.Errorf("rank 0: %s", text)
	}
	return lib.Join(id, g.rank, g.size, d)
}

// direct reports whether the memory of t's device moves between ranks without a copy in host memory.
func (g *group) direct(t *tensor.Tensor) bool {
	if g.size == 1 || t.Device() == tensor.CPU || t.Bytes() > wholeBytes {
		return false
	}
	_, shared := driver.Lookup(string(t.Device())).(driver.Sharer)
	return shared && (g.join != nil || g.aware)
}

// flat returns t's elements as a vector, in host memory or in that of the device if it is direct, and a function that copies them back into t.
func (g *group) flat(t *tensor.Tensor) (flat *tensor.Tensor, back func()) {
	t = t.Detach()
	direct := g.direct(t)
	if t.IsContiguous() && (direct || memory.Bytes(t, false) != nil) {
		return t.View(t.Numel()), func() {}
	}
	flat = t.Contiguous()
	if !direct {
		flat = flat.ToDevice(tensor.CPU)
	}
	flat = flat.Reshape(t.Numel())
	return flat, func() { t.Assign(flat.Reshape(t.Shape()...).ToDevice(t.Device())) }
}

// bytesOf returns the memory of a vector that flat returned.
func bytesOf(t *tensor.Tensor, write bool) []byte {
	if p := memory.Bytes(t, write); p != nil {
		return p
	}
	p, _ := memory.Shared(t, write)
	return p
}

// zerosLike returns a vector of n zeros of t's dtype, on t's device.
func zerosLike(t *tensor.Tensor, n int) (y *tensor.Tensor) {
	tensor.OnDevice(t.Device(), func() { y = tensor.ZerosAs(t.DType(), n) })
	return y
}

// mover returns what moves the memory of t, a vector that flat returned. The first call for a GPU is one of all ranks.
func (g *group) mover(call string, t *tensor.Tensor) mpi.Mover {
	switch device := t.Device(); {
	case device == tensor.CPU:
		return g.comm
	case g.join == nil:
		return afterKernels{g.comm, device}
	case g.devices[device] == nil:
		_, shared := memory.Shared(t, false)
		c, err := g.join(g, shared)
		if err != nil {
			panic(&Error{Code: "nccl", Call: call, Rank: g.rank, Why: err.Error(), Cure: "each rank needs a separate GPU, for example by CUDA_VISIBLE_DEVICES; or leave out dist.Backend", Err: err})
		}
		g.devices[device] = c
	}
	return g.devices[t.Device()]
}

// leave ends the use of the movers of devices.
func (g *group) leave(end func(deviceComm) error) error {
	var first error
	for device, c := range g.devices {
		if err := end(c); err != nil && first == nil {
			first = err
		}
		delete(g.devices, device)
	}
	return first
}

// afterKernels is MPI for the memory of a GPU, whose kernels it does not wait for by itself.
type afterKernels struct {
	comm   mpi.Mover
	device tensor.Device
}

func (m afterKernels) Alltoall(from []byte, send []mpi.Part, into []byte, recv []mpi.Part) (mpi.Request, error) {
	m.device.Synchronize()
	return m.comm.Alltoall(from, send, into, recv)
}

func (m afterKernels) Allgather(p []byte, parts []mpi.Part) (mpi.Request, error) {
	m.device.Synchronize()
	return m.comm.Allgather(p, parts)
}

func (m afterKernels) Broadcast(p []byte, root int) (mpi.Request, error) {
	m.device.Synchronize()
	return m.comm.Broadcast(p, root)
}

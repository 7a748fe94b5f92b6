//go:build cuda && linux && cgo

package dist

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"halfnote/cuda/cudatest"
	"halfnote/dist/internal/mpi"
	"halfnote/dist/internal/mpi/mpitest"
	"halfnote/dist/internal/nccl"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

func TestMain(m *testing.M) { os.Exit(cudatest.Main(m)) }

// other is a second set of ranks, in the place of NCCL. It counts the calls.
type other struct {
	mpi.Comm
	device driver.Sharer
	calls  *atomic.Int64
}

func (o other) Abort() error { return o.Abandon() }

func (o other) Allgather(p []byte, parts []mpi.Part) (mpi.Request, error) {
	o.calls.Add(1)
	done, err := o.device.Enqueue(func(uintptr) error { return nil })
	for finished := false; !finished && err == nil; { // the kernels before
		finished, err = done()
	}
	if err != nil {
		return nil, err
	}
	return o.Comm.Allgather(p, parts)
}

// TestCollectivesOnGPU compares collectives of tensors on a GPU with those on the CPU, bit by bit: with copies in host memory, with an MPI
// library that reads the memory of the GPU, which only the fake GPU allows here, and with another library in its place.
func TestCollectivesOnGPU(t *testing.T) {
	const ranks, n = 3, 30001 // whole messages and pieces
	for _, path := range []string{"host memory", "MPI"} {
		if path == "MPI" && cudatest.Real() {
			t.Log("the host cannot read the memory of a real GPU: only copies in host memory were tested")
			continue
		}
		for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
			succeed(t, ranks, func(g *group) {
				g.aware = path == "MPI"
				collect := func(device tensor.Device) []*tensor.Tensor {
					x := values(g.rank, ranks*n).To(d).ToDevice(device)
					if direct := g.direct(x); direct != (g.aware && device == tensor.CUDA) {
						panic(fmt.Sprintf("%s on %v: direct is %v", path, device, direct))
					}
					all := x.Clone()
					g.AllReduce(all, Sum).Wait()
					small := x.Narrow(0, 0, 5).Clone()
					g.AllReduce(small, Avg).Wait()
					part := x.Narrow(0, 0, n).Clone()
					g.ReduceScatter(part, x, Max).Wait()
					whole := x.Clone()
					g.AllGather(whole, part).Wait()
					sent := x.Clone()
					g.Broadcast(sent, 1).Wait()
					gaps := x.Reshape(ranks, n).T().Narrow(1, 0, 2)
					g.AllReduce(gaps, Sum).Wait()
					return []*tensor.Tensor{all, small, part, whole, sent, gaps}
				}
				want := collect(tensor.CPU)
				for i, x := range collect(tensor.CUDA) {
					if x.Device() != tensor.CUDA || !sameBits(x.ToDevice(tensor.CPU), want[i]) {
						panic(fmt.Sprintf("%s: collective %d of %v on %v differs from the one on the CPU", path, i+1, d, x.Device()))
					}
				}
			})
		}
	}
}

// TestBackendOnGPU uses a library for devices next to MPI.
func TestBackendOnGPU(t *testing.T) {
	if cudatest.Real() {
		t.Skip("the library that stands for NCCL here reads the memory of the fake GPU")
	}
	var calls, left atomic.Int64
	world := mpitest.World(2)
	s := settings{join: func(g *group, d driver.Sharer) (deviceComm, error) {
		return other{world[g.rank], d, &calls}, nil
	}}
	for rank, e := range together(t, 2, s, func(g *group) {
		x := tensor.Full(float64(g.rank+1), 5).ToDevice(tensor.CUDA)
		g.AllReduce(x, Sum).Wait()
		g.AllReduce(tensor.Full(1, 5), Sum).Wait() // by MPI
		if got := x.At(4); got != 3 {
			panic(fmt.Sprintf("the sum is %v, want 3", got))
		}
		if len(g.devices) == 1 {
			left.Add(1)
		}
		if err := g.leave(deviceComm.Close); err != nil || len(g.devices) != 0 {
			panic(fmt.Sprintf("after leaving: %v, %d devices", err, len(g.devices)))
		}
	}) {
		if e != nil {
			t.Fatalf("rank %d: %v", rank, e)
		}
	}
	if calls.Load() != 2 || left.Load() != 2 {
		t.Errorf("%d calls of the library on %d ranks, want 1 on each of 2", calls.Load(), left.Load())
	}
}

// TestNCCLOnGPU moves the memory of a GPU by NCCL, in a group of one rank: two ranks need two GPUs.
func TestNCCLOnGPU(t *testing.T) {
	if !cudatest.Real() {
		t.Skip("needs a GPU and libnccl.so.2; HALFNOTE_CUDA_TEST=device uses them")
	}
	lib, err := nccl.Open()
	if err != nil {
		t.Skip(err)
	}
	if g, err := newGroup(func() (mpi.Comm, mpi.Found, error) { return alone{}, mpi.Found{}, nil }, settings{timeout: time.Minute}); err != nil {
		t.Fatal(err)
	} else {
		x := values(0, 1000).ToDevice(tensor.CUDA)
		g.submit("test", "", func() {
			p, device := memory.Shared(x, true)
			c, err := joinNCCL(g, lib, device)
			if err != nil {
				panic(err)
			}
			r, err := c.Broadcast(p, 0)
			g.await("Broadcast", r, err)
			if err := c.Close(); err != nil {
				panic(err)
			}
		}).Wait()
		if !sameBits(x.ToDevice(tensor.CPU), values(0, 1000)) {
			t.Error("the broadcast changed the tensor")
		}
	}
}

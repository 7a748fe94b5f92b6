package dist

import (
	"fmt"
	"slices"

	"halfnote/dist/internal/mpi"
	"halfnote/tensor"
)

// AllReduce sets t on every rank to the reduction of the ranks' tensors, in place. All have the same shape and dtype; halves
// accumulate in float32 unless op says otherwise. It panics with an *[Error] if the ranks' calls differ, at the time limit, or
// if a rank has ended. It is torch.distributed.all_reduce.
func AllReduce(t *tensor.Tensor, op ReduceOp) { member("AllReduce").AllReduce(t, op).Wait() }

// AllReduceAsync is AllReduce that returns at once. t must not be used before Wait returns. It is
// torch.distributed.all_reduce with async_op.
func AllReduceAsync(t *tensor.Tensor, op ReduceOp) *Work { return member("AllReduce").AllReduce(t, op) }

// ReduceScatter reduces in, of WorldSize()·n elements in n-element parts, and sets out, of n elements, to the part of this
// rank. It panics as AllReduce does. It is torch.distributed.reduce_scatter_tensor.
func ReduceScatter(out, in *tensor.Tensor, op ReduceOp) {
	member("ReduceScatter").ReduceScatter(out, in, op).Wait()
}

// AllGather returns the tensors that the ranks passed, in the order of the ranks. All have the same shape and dtype. It panics as
// AllReduce does. It is torch.distributed.all_gather.
func AllGather(t *tensor.Tensor) []*tensor.Tensor {
	g := member("AllGather")
	g.tensors("AllGather", t)
	out := tensor.ZerosAs(t.DType(), append([]int{g.size}, t.Shape()...)...)
	g.AllGather(out, t).Wait()
	list := make([]*tensor.Tensor, g.size)
	for i := range list {
		list[i] = out.Select(0, i).Contiguous()
	}
	return list
}

// AllGatherIntoTensor sets out, of WorldSize()·n elements, to the ranks' tensors in, of n elements, one after another. It
// panics as AllReduce does. It is torch.distributed.all_gather_into_tensor.
func AllGatherIntoTensor(out, in *tensor.Tensor) { member("AllGather").AllGather(out, in).Wait() }

// Broadcast sets t on every rank to that of rank src, in place. It panics as AllReduce does. It is
// torch.distributed.broadcast.
func Broadcast(t *tensor.Tensor, src int) { member("Broadcast").Broadcast(t, src).Wait() }

// Barrier returns when all ranks have called it. It panics as AllReduce does. It is torch.distributed.barrier.
func Barrier() { member("Barrier").Barrier().Wait() }

// tensors panics if one of ts is nil.
func (g *group) tensors(call string, ts ...*tensor.Tensor) {
	if i := slices.Index(ts, nil); i >= 0 {
		g.refuse(call, "pass a tensor", "tensor %d is nil", i+1)
	}
}

// describe returns the text by which ranks compare their calls.
func (g *group) describe(call, how string, t *tensor.Tensor) string {
	where := ""
	if g.direct(t) {
		where = " on a GPU"
	}
	return fmt.Sprintf("%s(%s%d %v%s)", call, how, t.Numel(), t.DType(), where)
}

func (g *group) AllReduce(t *tensor.Tensor, op ReduceOp) *Work {
	g.tensors("AllReduce", t)
	g.reduces("AllReduce", t, op)
	return g.submit("AllReduce", g.describe("AllReduce", op.String()+", ", t), func() {
		flat, back := g.flat(t)
		g.records(t, op)
		for n, at := flat.Numel(), 0; at < n && g.size > 1; {
			count := min(n-at, wholeBytes/t.DType().Size())
			g.allReduce("AllReduce", flat.Narrow(0, at, count), op)
			at += count
		}
		back()
	})
}

// reduces panics if elements of t's dtype cannot be reduced by op.
func (g *group) reduces(call string, t *tensor.Tensor, op ReduceOp) {
	switch {
	case op.combine == nil:
		g.refuse(call, "pass dist.Sum, Avg, Product, Min or Max", "the reduction is empty")
	case t.DType() == tensor.Bool:
		g.refuse(call, "convert it, for example with To(tensor.Int64)", "the tensor is bool, which has no sum")
	case op.average && !t.DType().IsFloat():
		g.refuse(call, "use dist.Sum", "the average of %v is not an integer", t.DType())
	}
}

// records fills in the record of a collective of t; op is the zero value without a reduction.
func (g *group) records(t *tensor.Tensor, op ReduceOp) {
	e := g.current
	e.DType, e.Elements = t.DType(), t.Numel()
	if e.Reduced = op.combine != nil; e.Reduced {
		e.Accumulated = op.in(t.DType())
	}
}

func (g *group) ReduceScatter(out, in *tensor.Tensor, op ReduceOp) *Work {
	g.tensors("ReduceScatter", out, in)
	g.reduces("ReduceScatter", in, op)
	if in.Numel() != g.size*out.Numel() || in.DType() != out.DType() {
		g.refuse("ReduceScatter", fmt.Sprintf("want an output of 1/%d of the elements, of the same dtype", g.size), "the input has %d elements of %v, the output %d of %v", in.Numel(), in.DType(), out.Numel(), out.DType())
	}
	return g.submit("ReduceScatter", g.describe("ReduceScatter", op.String()+", ", in), func() {
		flat, _ := g.flat(in)
		g.records(in, op)
		if n := flat.Numel(); n > 0 {
			result := zerosLike(flat, n)
			g.pieces("ReduceScatter", flat, op, result, nil)
			at, count := g.segment(n, g.rank)
			out.Detach().Assign(result.Narrow(0, at, count).Reshape(out.Shape()...).ToDevice(out.Device()))
		}
	})
}

func (g *group) AllGather(out, in *tensor.Tensor) *Work {
	g.tensors("AllGather", out, in)
	if out.Numel() != g.size*in.Numel() || in.DType() != out.DType() {
		g.refuse("AllGather", fmt.Sprintf("want an output of %d times the elements, of the same dtype", g.size), "the input has %d elements of %v, the output %d of %v", in.Numel(), in.DType(), out.Numel(), out.DType())
	}
	return g.submit("AllGather", g.describe("AllGather", "", out), func() {
		flat, back := g.flat(out)
		flat.Narrow(0, g.rank*in.Numel(), in.Numel()).Assign(in.Detach().Reshape(in.Numel()).ToDevice(flat.Device()))
		p, n := bytesOf(flat, true), in.Bytes()
		g.records(in, ReduceOp{})
		for at := 0; at < n; at += wholeBytes / g.size { // counts of MPI are 32-bit
			parts := make([]mpi.Part, g.size)
			for r := range parts {
				parts[r] = mpi.Part{At: at + r*n, Len: min(wholeBytes/g.size, n-at)}
			}
			if n*g.size > wholeBytes {
				g.gatherFar(p, parts)
				continue
			}
			r, err := g.mover("AllGather", flat).Allgather(p, parts)
			g.await("AllGather", r, err)
		}
		g.current.Bytes = (g.size - 1) * n
		back()
	})
}

// wholeBytes is the size up to which a buffer is one message: MPI's displacements are 32-bit.
const wholeBytes = 1 << 30

// gatherFar gathers parts that are further apart than displacements reach, through a separate buffer.
func (g *group) gatherFar(p []byte, parts []mpi.Part) {
	n := parts[0].Len
	q := make([]byte, n*g.size)
	copy(q[g.rank*n:], p[parts[g.rank].At:][:n])
	r, err := g.comm.Allgather(q, equalParts(g.size, n))
	g.await("AllGather", r, err)
	for i, part := range parts {
		copy(p[part.At:][:n], q[i*n:])
	}
}

func (g *group) Broadcast(t *tensor.Tensor, src int) *Work {
	g.tensors("Broadcast", t)
	if src < 0 || src >= g.size {
		g.refuse("Broadcast", fmt.Sprintf("want 0 to %d", g.size-1), "there is no rank %d", src)
	}
	return g.submit("Broadcast", g.describe("Broadcast", fmt.Sprintf("from %d, ", src), t), func() {
		flat, back := g.flat(t)
		p := bytesOf(flat, true)
		for at := 0; at < len(p); at += wholeBytes {
			r, err := g.mover("Broadcast", flat).Broadcast(p[at:min(at+wholeBytes, len(p))], src)
			g.await("Broadcast", r, err)
		}
		g.records(t, ReduceOp{})
		if g.rank == src {
			g.current.Bytes = (g.size - 1) * len(p)
		}
		back()
	})
}

func (g *group) Barrier() *Work {
	return g.submit("Barrier", "Barrier()", func() {
		r, err := g.comm.Barrier()
		g.await("Barrier", r, err)
	})
}

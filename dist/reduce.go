package dist

import (
	"math"

	"halfnote/dist/internal/mpi"
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var memory = tensor.Internal(plumbing.Token{}).Memory

// An AllReduce of n elements on w ranks is a ReduceScatter and an AllGather: rank r receives the r-th of w segments from every
// rank, combines them in rank order, and sends the result to all. Both go in pieces, so that one piece is combined while the
// next is on its way. Each rank sends 2·(w-1)/w of the bytes, as a ring does, but sums do not depend on the path.

// pieceBytes is the size of a piece. With smaller ones ranks wait for each other more often.
const pieceBytes = 4 << 20

// smallBytes is the size up to which all ranks receive everything, in one message.
const smallBytes = 32 << 10

// place is the kind of scratch memory: elements of a dtype on a device.
type place struct {
	dtype  tensor.DType
	device tensor.Device
}

// scratch is memory for the pieces of all ranks, twice: one set is received while the other is combined.
type scratch struct {
	piece int // elements of a piece
	slots [2]*tensor.Tensor
}

func (g *group) scratchFor(t *tensor.Tensor) *scratch {
	d := t.DType()
	s := g.scratch[place{d, t.Device()}]
	if s == nil {
		s = &scratch{piece: g.pieceBytes / d.Size()}
		for i := range s.slots {
			s.slots[i] = zerosLike(t, g.size*s.piece)
		}
		g.scratch[place{d, t.Device()}] = s
	}
	return s
}

// segment returns the first element of rank r's segment of n elements, and their number.
func (g *group) segment(n, r int) (at, count int) {
	per := (n + g.size - 1) / g.size
	at = min(r*per, n)
	return at, min(per, n-at)
}

// allReduce reduces t, a vector that flat returned, in place.
func (g *group) allReduce(call string, t *tensor.Tensor, op ReduceOp) {
	n, size := t.Numel(), t.DType().Size()
	p := bytesOf(t, true)
	if n*size*g.size <= smallBytes {
		all := zerosLike(t, n*g.size)
		all.Narrow(0, g.rank*n, n).Assign(t)
		r, err := g.mover(call, t).Allgather(bytesOf(all, true), equalParts(g.size, n*size))
		g.await(call, r, err)
		g.current.Bytes += (g.size - 1) * n * size
		g.combine(op, t, all, n, n, t)
		return
	}
	g.pieces(call, t, op, t, func(offset, piece int) (mpi.Request, error) {
		parts := make([]mpi.Part, g.size)
		for r := range parts {
			at, count := g.segment(n, r)
			parts[r] = mpi.Part{At: (at + offset) * size, Len: max(0, min(piece, count-offset)) * size}
		}
		g.current.Bytes += (g.size - 1) * parts[g.rank].Len
		return g.mover(call, t).Allgather(p, parts)
	})
}

// pieces reduces this rank's segment of t into out's, piece by piece. After each piece it calls share, which may start the
// transfer of the result.
func (g *group) pieces(call string, t *tensor.Tensor, op ReduceOp, out *tensor.Tensor, share func(offset, piece int) (mpi.Request, error)) {
	n, size, s := t.Numel(), t.DType().Size(), g.scratchFor(t)
	p := bytesOf(t, false)
	own, count := g.segment(n, g.rank)
	longest := (n + g.size - 1) / g.size
	begin := func(offset, slot int) (mpi.Request, error) {
		send, recv := make([]mpi.Part, g.size), make([]mpi.Part, g.size)
		for r := range send {
			at, count := g.segment(n, r)
			send[r] = mpi.Part{At: (at + offset) * size, Len: max(0, min(s.piece, count-offset)) * size}
			if r != g.rank {
				g.current.Bytes += send[r].Len
			}
		}
		for r := range recv {
			recv[r] = mpi.Part{At: r * s.piece * size, Len: max(0, min(s.piece, count-offset)) * size}
		}
		return g.mover(call, t).Alltoall(p, send, bytesOf(s.slots[slot], true), recv)
	}
	next, err := begin(0, 0)
	var sharing mpi.Request
	for offset, slot := 0, 0; offset < longest; offset, slot = offset+s.piece, 1-slot {
		g.await(call, next, err)
		if offset+s.piece < longest {
			next, err = begin(offset+s.piece, 1-slot)
		}
		if m := min(s.piece, count-offset); m > 0 {
			from := t.Narrow(0, own+offset, m)
			into := from
			if out != t {
				into = out.Narrow(0, own+offset, m)
			}
			g.combine(op, from, s.slots[slot], s.piece, m, into)
		}
		if share != nil {
			if sharing != nil {
				g.await(call, sharing, nil)
			}
			var failed error
			if sharing, failed = share(offset, s.piece); failed != nil {
				g.await(call, nil, failed)
			}
		}
	}
	if sharing != nil {
		g.await(call, sharing, nil)
	}
}

// combine writes the reduction of m elements of all ranks to out. own has this rank's, all those of the others, stride elements
// apart.
func (g *group) combine(op ReduceOp, own, all *tensor.Tensor, stride, m int, out *tensor.Tensor) {
	parts := make([]*tensor.Tensor, g.size)
	for r := range parts {
		parts[r] = own
		if r != g.rank {
			parts[r] = all.Narrow(0, r*stride, m)
		}
	}
	watched := len(listening()) > 0
	if out == own && !watched && g.size > 1 && op.inPlace(parts, g.rank) {
		return
	}
	y := op.over(parts)
	if watched && y.DType().IsFloat() {
		g.compare(op, parts, y)
	}
	out.Assign(y)
}

// compare adds to the record of the collective how far y is from the reduction in float64.
func (g *group) compare(op ReduceOp, parts []*tensor.Tensor, y *tensor.Tensor) {
	exact, got := op.Accumulate(tensor.Float64).exact(parts), y.Float64s()
	largest := make([]float64, len(got))
	for _, x := range parts {
		for i, v := range x.Float64s() {
			largest[i] = max(largest[i], math.Abs(v))
		}
	}
	e := g.current
	for i, v := range got {
		switch finite := !math.IsInf(largest[i], 0) && !math.IsNaN(largest[i]); {
		case finite && (math.IsInf(v, 0) || math.IsNaN(v)):
			e.Overflowed++
		case finite && largest[i] > 0:
			relative := math.Abs(v-exact[i]) / largest[i]
			e.Error += relative
			e.MaxError = max(e.MaxError, relative)
		}
	}
	e.Checked += len(got)
}

// exact returns the reduction in float64.
func (op ReduceOp) exact(parts []*tensor.Tensor) []float64 {
	wide := make([]*tensor.Tensor, len(parts))
	for i, x := range parts {
		wide[i] = x.To(tensor.Float64)
	}
	return op.over(wide).Float64s()
}

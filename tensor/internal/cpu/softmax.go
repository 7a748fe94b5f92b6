package cpu

import (
	"sync"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

func init() {
	offer(family{offers: offersSoftmax, check: sameShapes, run: runSoftmax}, driver.Softmax, driver.LogSoftmax)
	offer(family{offers: offersSoftmaxGrad, check: sameShapes, run: runSoftmax}, driver.SoftmaxGrad, driver.LogSoftmaxGrad)
}

func offersSoftmax(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return len(src) == 1 && computable(dst, src) && dst.Wide() == driver.Float32 && (accepts(dst, src[0]) || src[0] == driver.Float32)
}

func offersSoftmaxGrad(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return computable(dst, src) && dst.Wide() == driver.Float32 && driver.AllDTypes(src, 2, dst)
}

func runSoftmax(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	b.softmax(k, dst, src)
}

// softmax computes [driver.Softmax] and the related codes, one row at a time, so that
// rows stay in the cache, with exactly the operations that define the codes.
func (b *Backend) softmax(k driver.Kernel, dst driver.View, src []driver.View) {
	n := dst.Shape[k.Axis]
	if dst.Len() == 0 {
		return
	}
	others := seqWithout(len(dst.Shape), k.Axis)
	along := func(v driver.View) layout { return permuted(v, others, []int{k.Axis}) }
	w := writer[float32]{reader: readLayout[float32](dst, along(dst))}
	r := [2]reader[float32]{readLayout[float32](src[0], along(src[0]))}
	if len(src) > 1 {
		r[1] = readLayout[float32](src[1], along(src[1]))
	}
	rows, each := dst.Len()/n, max(1, copyItem/4/n)
	if b.softmaxRows(k, w.reader, r[:len(src)], rows, n) {
		return
	}
	b.eachPolling((rows+each-1)/each, func(item int, poll func()) {
		var rooms [3][]float32
		if n <= 4*bulk {
			s := takeStrip()
			defer s.give()
			space := unsafe.Slice((*float32)(s.sums(3*n)), 3*n)
			rooms = [3][]float32{space[:n], space[n : 2*n], space[2*n:]}
		} else {
			rooms[0], rooms[2] = r[0].rowRoom(n), w.rowRoom(n)
			if len(src) > 1 {
				rooms[1] = r[1].rowRoom(n)
			}
		}
		t := rowers.Get().(*rower)
		defer rowers.Put(t)
		t.poll = poll
		for row := item * each; row < min(rows, (item+1)*each); row++ {
			x := r[0].row(row*n, n, rooms[0])
			out := rooms[2]
			if w.bulk() {
				out = w.row(row*n, n, nil)
			}
			switch k.Code {
			case driver.Softmax:
				t.softmax(out, x)
			case driver.LogSoftmax:
				t.logSoftmax(out, x)
			case driver.SoftmaxGrad:
				t.softmaxGrad(out, x, r[1].row(row*n, n, rooms[1]))
			default:
				t.logSoftmaxGrad(out, x, r[1].row(row*n, n, rooms[1]))
			}
			w.putRow(row*n, out)
		}
	})
}

// seqWithout returns the numbers below n without one of them.
func seqWithout(n, without int) []int {
	list := make([]int, 0, n)
	for i := range n {
		if i != without {
			list = append(list, i)
		}
	}
	return list
}

// row is reader.at for any number n of elements. room is not used if r.bulk() is true.
func (r *reader[T]) row(lo, n int, room []T) []T {
	if r.bulk() {
		return r.wide[r.layout.offset+lo:][:n:n]
	}
	for i := 0; i < n; i += chunk {
		part := room[i:min(i+chunk, n)]
		if got := r.at(lo+i, part); &got[0] != &part[0] {
			copy(part, got)
		}
	}
	return room
}

// rowRoom returns the room that row needs for n elements.
func (r *reader[T]) rowRoom(n int) []T {
	if r.bulk() {
		return nil
	}
	return make([]T, n)
}

// putRow is writer.put for any number of elements.
func (w *writer[T]) putRow(lo int, x []T) {
	for i := 0; i < len(x); i += chunk {
		w.put(lo+i, x[i:min(i+chunk, len(x))])
	}
}

// rower computes rows.
type rower struct {
	poll    func()
	room    [block]float32
	partial []float32
}

var rowers = sync.Pool{New: func() any { return new(rower) }}

// pieces calls f for parts of n elements, and poll between them.
func (t *rower) pieces(n int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += bulk {
		if lo > 0 {
			t.poll()
		}
		f(lo, min(lo+bulk, n))
	}
}

func (t *rower) softmax(dst, x []float32) {
	top := t.most(x)
	t.pieces(len(x), func(lo, hi int) { evaluateAll(asm.Exp, dst[lo:hi], x[lo:hi], nil, top) })
	total := t.sum(dst)
	t.pieces(len(x), func(lo, hi int) { evaluateAll(asm.Quotient, dst[lo:hi], dst[lo:hi], nil, total) })
}

func (t *rower) logSoftmax(dst, x []float32) {
	top := t.most(x)
	t.pieces(len(x), func(lo, hi int) { lower(dst[lo:hi], x[lo:hi], top) })
	total := t.sumBlocks(len(dst), func(lo, hi int, room []float32) []float32 {
		evaluateAll(asm.Exp, room, dst[lo:hi], nil, 0)
		return room
	})
	by := asm.Log.Of(total, 0, 0)
	t.pieces(len(x), func(lo, hi int) { lower(dst[lo:hi], dst[lo:hi], by) })
}

func (t *rower) softmaxGrad(dst, dy, y []float32) {
	total := t.sumBlocks(len(dst), func(lo, hi int, room []float32) []float32 {
		mul(room, dy[lo:hi], y[lo:hi], nil, 0, 0)
		return room
	})
	t.pieces(len(dst), func(lo, hi int) {
		lower(dst[lo:hi], dy[lo:hi], total)
		mul(dst[lo:hi], dst[lo:hi], y[lo:hi], nil, 0, 0)
	})
}

func (t *rower) logSoftmaxGrad(dst, dy, y []float32) {
	total := t.sum(dy)
	t.pieces(len(dst), func(lo, hi int) {
		for ; lo < hi; lo += chunk {
			end := min(lo+chunk, hi)
			p := t.room[:end-lo]
			evaluateAll(asm.Exp, p, y[lo:end], nil, 0)
			affine(p, p, nil, nil, total, 0)
			sub(dst[lo:end], dy[lo:end], p, nil, 0, 0)
		}
	})
}

// lower sets dst to x - by.
func lower(dst, x []float32, by float32) {
	if pass(loops.Affine, dst, x, nil, 1, -by) {
		return
	}
	for i, v := range x {
		dst[i] = v - by
	}
}

// most returns the largest element of x, or NaN if there is a NaN.
func (t *rower) most(x []float32) float32 {
	m := lowest[float32]()
	t.pieces(len(x), func(lo, hi int) {
		if n := (hi - lo) &^ 7; passes.most != nil && n > 0 {
			m = larger(m, passes.most(unsafe.Pointer(&x[lo]), n))
			lo += n
		}
		m = larger(m, maxBlock(x[lo:hi]))
	})
	return m
}

// sum returns the sum of x in the order of [reduce].
func (t *rower) sum(x []float32) float32 {
	return t.sumBlocks(len(x), func(lo, hi int, _ []float32) []float32 { return x[lo:hi] })
}

// sumBlocks returns the sum of n elements in the order of [reduce]; part returns
// elements lo … hi-1, perhaps in room.
func (t *rower) sumBlocks(n int, part func(lo, hi int, room []float32) []float32) float32 {
	if n <= block {
		return sumBlock(part(0, n, t.room[:n]))
	}
	t.partial = t.partial[:0]
	t.pieces(n, func(lo, hi int) {
		for ; lo < hi; lo += block {
			end := min(lo+block, hi)
			t.partial = append(t.partial, sumBlock(part(lo, end, t.room[:end-lo])))
		}
	})
	return tree(t.partial, 1, len(t.partial), method[float32](driver.Sum))
}

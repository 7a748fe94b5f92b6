package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
)

const (
	block = chunk // largest number of elements that sumBlock adds
	lanes = 16    // number of partial sums of sumBlock
	panel = 256   // largest number of columns that are reduced together
)

func init() {
	offer(family{offers: offersReduce, check: reducedShapes, run: runReduce},
		driver.Sum, driver.Mean, driver.SumSquares, driver.ReduceMax, driver.ReduceMin, driver.Prod)
}

func offersReduce(c driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return len(src) == 1 && computable(dst, src) && accepts(dst, src[0]) && (c != driver.Mean || dst.IsFloat())
}

func runReduce(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch src[0].DType.Wide() {
	case driver.Float32:
		reduce[float32](b, k.Code, dst, src[0])
	case driver.Float64:
		reduce[float64](b, k.Code, dst, src[0])
	default:
		reduce[int64](b, k.Code, dst, src[0])
	}
}

// reduce sets dst to src reduced along the axes where dst has size 1.
func reduce[T number](b *Backend, code driver.Code, dst, src driver.View) {
	r := reductionOf[T](dst, src)
	out := make([]T, r.outs)
	r.run(b, method[T](code), out, 0, r.outs)
	writeAll(b, dst, out)
}

// writeAll sets the elements of dst to x.
func writeAll[T number](b *Backend, dst driver.View, x []T) {
	w := write[T](dst)
	b.ranges(len(x), copyItem, func(lo, hi int) {
		for ; lo < hi; lo += chunk {
			part := x[lo:min(lo+chunk, hi)]
			copy(w.room(lo, part), part)
			w.put(lo, part)
		}
	})
}

// reduction describes the operand of a reduction.
//
// The elements of one result are taken in row-major order and divided into blocks. Each
// block is reduced by a reducer, and the blocks' results by [tree]. Work items consist
// of blocks, so one long sum uses all workers, as many short ones do.
type reduction[T number] struct {
	reader[T]
	outs, count, blocks int
	columns             int // number of results whose elements are interleaved; 0 if there are none
}

func reductionOf[T number](dst, src driver.View) reduction[T] {
	kept, reduced := axes(dst, src)
	r := reduction[T]{outs: dst.Len(), count: 1}
	for _, axis := range reduced {
		r.count *= src.Shape[axis]
	}
	r.blocks = (r.count + block - 1) / block
	if r.outs > 0 && r.count > 0 {
		r.columns = columnAxis(src, kept, reduced)
	}
	r.reader = readLayout[T](src, reducedLayout(src, r.columns, kept, reduced))
	return r
}

// reducedLayout returns the layout of src with the elements of one result in sequence
// or, if there are columns, with those of neighbouring results in sequence.
func reducedLayout(src driver.View, columns int, kept, reduced []int) layout {
	if columns == 0 {
		return permuted(src, kept, reduced)
	}
	last := len(kept) - 1
	return permuted(src, kept[:last], reduced, kept[last:])
}

// run sets out[lo:hi] to these results. With columns, lo and hi must select all
// results.
func (r *reduction[T]) run(b *Backend, m *reducer[T], out []T, lo, hi int) {
	// partial[o*blocks + i] is block i of result o. With columns the order is that of
	// columnBlocks.
	partial, step := out[lo:hi], 1
	if r.blocks != 1 {
		partial = make([]T, (hi-lo)*r.blocks)
	}
	if r.columns > 0 {
		step = r.columns
		r.columnBlocks(b, m, partial)
	} else {
		r.rowBlocks(b, m, partial, lo)
	}
	b.ranges(hi-lo, copyItem, func(first, end int) {
		if r.blocks == 1 {
			if m.finish != nil {
				for o := first; o < end; o++ {
					partial[o] = m.finish(partial[o], r.count)
				}
			}
			return
		}
		for o := first; o < end; o++ {
			at := o/step*step*r.blocks + o%step
			v := tree(partial[min(at, len(partial)):], step, r.blocks, m)
			if m.finish != nil {
				v = m.finish(v, r.count)
			}
			out[lo+o] = v
		}
	})
}

// axes returns the axes of src that dst keeps and those it reduces, in order,
// without those of size 1.
func axes(dst, src driver.View) (kept, reduced []int) {
	for i, n := range src.Shape {
		switch {
		case n == 1:
		case dst.Shape[i] == n:
			kept = append(kept, i)
		default:
			reduced = append(reduced, i)
		}
	}
	return kept, reduced
}

// permuted returns the layout of v with its axes in another order.
func permuted(v driver.View, order ...[]int) layout {
	l := layout{offset: v.Offset}
	for _, list := range order {
		for _, axis := range list {
			l.push(v.Shape[axis], v.Stride[axis])
		}
	}
	return l
}

// rowBlocks fills partial, from result first on, one block after another.
func (r *reduction[T]) rowBlocks(b *Backend, m *reducer[T], partial []T, first int) {
	direct := m.rowsOf(r.dtype)
	each := r.together(true)
	switch {
	case direct != nil && r.blocks == 1 && r.layout.dense():
		each = max(1, bulk/r.count)
	case direct != nil && r.blocks > 1:
		r.directBlocks(b, m, partial, first, direct)
		return
	}
	b.ranges(len(partial), r.itemBlocks(each), func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for i := lo; i < hi; i += each {
				if r.blocks > 1 {
					r.rowBlock(m, partial[i:i+1], first, i, s)
					continue
				}
				n := min(each, hi-i)
				if direct != nil {
					if x := r.address((first+i)*r.count, n*r.count); x != nil {
						direct(partial[i:i+n], x, r.count, r.count, first+i, 1)
						continue
					}
				}
				m.rows(partial[i:i+n], r.some((first+i)*r.count, n*r.count, s.in[0][:]), first+i, s.in[1][:])
			}
		})
	})
}

// rowBlock sets to, of length 1, to block i, counted from result first on.
func (r *reduction[T]) rowBlock(m *reducer[T], to []T, first, i int, s *scratch[T]) {
	at, count, o := r.blockAt(first, i)
	m.rows(to, r.at(at, s.in[0][:count]), o, s.in[1][:])
}

// directBlocks is rowBlocks for several blocks to a result. It takes several blocks at a time: of one
// result, or equal blocks of neighbouring results if these are closer.
func (r *reduction[T]) directBlocks(b *Backend, m *reducer[T], partial []T, first int, direct func(dst []T, x unsafe.Pointer, n, stride, o, next int)) {
	turned := r.turned()
	b.ranges(len(partial), r.itemBlocks(1), func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			var sums [lanes]T
			for i := lo; i < hi; {
				to, step, stride, most, next := i, 1, block, r.blocks-i%r.blocks, 0
				if turned {
					outs := len(partial) / r.blocks
					to, step, stride, most, next = r.turn(i, len(partial)), r.blocks, r.layout.stride[0], outs-i%outs, 1
				}
				at, count, o := r.blockAt(first, to)
				switch {
				case turned:
				case r.dtype.Size() > 2: // waits for memory, which is read fastest in order
					most = 1
				case count == block:
					most = (r.count - (at - o*r.count)) / block // whole ones
				}
				rows := min(hi-i, most, lanes)
				x := r.address(at, count)
				if !turned && rows > 1 && r.address(at, rows*count) == nil {
					rows = 1
				}
				if i += rows; x == nil {
					for p := range rows {
						r.rowBlock(m, partial[to+p*step:][:1], first, to+p*step, s)
					}
					continue
				}
				direct(sums[:rows], x, count, stride, o, next)
				for p, v := range sums[:rows] {
					partial[to+p*step] = v
				}
			}
		})
	})
}

// blockAt returns the first element of block i, counted from result first on, their number, and the
// result that they go into.
func (r *reduction[T]) blockAt(first, i int) (at, count, o int) {
	o = first + i/r.blocks
	from := i % r.blocks * block
	return o*r.count + from, min(block, r.count-from), o
}

// turned reports whether equal blocks of neighbouring results are closer in memory than the blocks of
// one result: as those of the channels of an image are.
func (r *reduction[T]) turned() bool {
	l := &r.layout
	return r.blocks > 1 && len(l.shape) > 1 && l.shape[0] == r.outs && l.stride[0] > 0 && l.stride[0] < l.stride[1]
}

// turn returns the index of block i in the order of memory, of n blocks in the order of results.
func (r *reduction[T]) turn(i, n int) int {
	outs := n / r.blocks
	return i%outs*r.blocks + i/outs
}

// together returns how many results to take at a time: those that fit in a chunk, or, if
// allowed, in bulk.
func (r *reduction[T]) together(allowed bool) int {
	switch {
	case r.blocks != 1:
		return 1
	case allowed && r.bulk():
		return max(1, bulk/r.count)
	}
	return max(1, chunk/r.count)
}

// itemBlocks returns the number of blocks in an item, a multiple of each.
func (r *reduction[T]) itemBlocks(each int) int {
	return max(each, copyItem/min(block, max(r.count, 1))/each*each)
}

// columnAxis returns the length of the last kept axis if src is contiguous along it and
// it has at least lanes elements, and 0 otherwise.
func columnAxis(src driver.View, kept, reduced []int) int {
	if len(kept) == 0 || len(reduced) == 0 {
		return 0
	}
	axis := kept[len(kept)-1]
	if src.Stride[axis] != 1 || src.Shape[axis] < lanes {
		return 0
	}
	return src.Shape[axis]
}

// columnBlocks fills partial if neighbouring elements belong to neighbouring results.
// It adds whole rows of up to panel elements to lanes of rows, in exactly the order of
// sumBlock. Block i of result o*columns+c is partial[(o*blocks+i)*columns + c].
func (r *reduction[T]) columnBlocks(b *Backend, m *reducer[T], partial []T) {
	panels := (r.columns + panel - 1) / panel
	direct := kernelsFor(r.dtype).SumColumns
	if !m.sums || r.dtype.Size() != 2 || !r.layout.dense() {
		direct = nil
	}
	b.each(len(partial)/r.columns*panels, func(item int) {
		withScratch(func(s *scratch[T]) {
			at, c := item/panels, item%panels*panel
			width := min(panel, r.columns-c)
			o, first := at/r.blocks, at%r.blocks*block
			var sums [lanes][panel]T
			if m.zero != 0 {
				for l := range sums {
					for i := range width {
						sums[l][i] = m.zero
					}
				}
			}
			end := min(first+block, r.count)
			for row := first; direct != nil && row < end; {
				rows := min(end-row, max(1, bulk/width))
				x := r.address((o*r.count+row)*r.columns+c, (rows-1)*r.columns+width)
				direct(unsafe.Pointer(&sums), x, rows, width, 2*r.columns, (row-first)%lanes, 4*panel)
				row += rows
			}
			for row := first; direct == nil && row < end; {
				rows, stride := r.rowsAt(width, end-row, true)
				x := r.some((o*r.count+row)*r.columns+c, (rows-1)*stride+width, s.in[0][:])
				m.columns(&sums, (row-first)%lanes, x, rows, width, stride, o*r.columns+c, s.in[1][:])
				row += rows
			}
			for half := lanes / 2; half > 0; half /= 2 {
				for l := range half {
					m.join(sums[l][:width], sums[l+half][:width])
				}
			}
			copy(partial[at*r.columns+c:], sums[0][:width])
		})
	})
}

// rowsAt returns the number of rows of width columns to read at a time, at most most, and
// their stride. If allowed and possible, the rows are read directly from memory; otherwise
// they fit in a chunk.
func (r *reduction[T]) rowsAt(width, most int, allowed bool) (rows, stride int) {
	switch {
	case allowed && r.bulk():
		return min(most, max(1, bulk/width)), r.columns
	case width == r.columns:
		return min(most, max(1, chunk/width)), width
	}
	return 1, width
}

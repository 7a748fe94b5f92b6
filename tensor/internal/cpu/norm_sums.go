package cpu

import (
	"math"
	"slices"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// moments sets mean to the means of x along the axes where mean has size 1, and
// variance to the means of (x - mean)*(x - mean). Without columns it computes a group
// of results at a time, whose elements are still in the cache for the second pass.
func moments[T real](b *Backend, variance, x, mean driver.View) {
	r := reductionOf[T](variance, x)
	means, variances := make([]T, r.outs), make([]T, r.outs)
	m := method[T](driver.Mean)
	centred := *m
	centred.rows = func(dst, x []T, o int, room []T) {
		foldParts(dst, x, func(x []T) T {
			o++
			return centredSquares(x, means[o-1], room)
		})
	}
	centred.sums = false
	centred.direct = func(d driver.DType) func(dst []T, x unsafe.Pointer, n, stride, o, next int) {
		run := kernelsFor(d).CentredRows
		if run == nil {
			return nil
		}
		return func(dst []T, x unsafe.Pointer, n, stride, o, next int) {
			of := means[o:]
			if next == 0 {
				of = slices.Repeat(of[:1], len(dst))
			}
			run(unsafe.Pointer(&dst[0]), x, unsafe.Pointer(&of[0]), len(dst), n, d.Size()*stride)
		}
	}
	centred.row = func(sums, x []T, o int, room []T) {
		sub(room, x, means[o:][:len(x)], nil, 0, 0)
		mul(room, room, room, nil, 0, 0)
		m.join(sums, room)
	}
	centred.columns = centred.rowByRow
	group := r.outs
	if r.columns == 0 {
		group = max(1, 2*copyItem/max(1, r.count))
	}
	for lo := 0; lo < r.outs; lo += group {
		hi := min(lo+group, r.outs)
		r.run(b, m, means, lo, hi)
		r.run(b, &centred, variances, lo, hi)
	}
	writeAll(b, mean, means)
	writeAll(b, variance, variances)
}

// centredSquares returns the sum, by sumBlock, of (x - mean)*(x - mean).
func centredSquares[T real](x []T, mean T, room []T) T {
	if run := kernelsFor(dtypeOf[T]()).CentredRows; run != nil && len(x) > 0 {
		var sum T
		run(unsafe.Pointer(&sum), unsafe.Pointer(&x[0]), unsafe.Pointer(&mean), 1, len(x), 0)
		return sum
	}
	room = room[:len(x)]
	for i, v := range x {
		d := v - mean
		room[i] = d * d
	}
	return sumBlock(room)
}

// normSums sets dst to the sums of g = dy*w, and src[0] to those of g*z with z =
// (x - mean)*scale, divided by divisor. The sums are divided into blocks as in reduce.
func normSums[T real](b *Backend, dst driver.View, src []driver.View, divisor T) {
	second := src[0]
	n, _ := normSumOf[T](dst, src)
	r := n.dy
	first, product, step := make([]T, r.outs*r.blocks), make([]T, r.outs*r.blocks), 1
	if r.columns > 0 {
		step = r.columns
		n.columnBlocks(b, first, product)
	} else {
		n.rowBlocks(b, first, product)
	}
	m := method[T](driver.Sum)
	for i, partial := range [][]T{first, product} {
		out := make([]T, r.outs)
		for o := range out {
			at := o/step*step*r.blocks + o%step
			out[o] = tree(partial[min(at, len(partial)):], step, r.blocks, m) / divisor
		}
		writeAll(b, [...]driver.View{dst, second}[i], out)
	}
}

// normSumOf returns the operands of normSums, and the axes in the order in which their elements are read.
func normSumOf[T real](dst driver.View, src []driver.View) (n normSum[T], order []int) {
	dy, x, weighted := src[1], src[2], len(src) == 6
	kept, reduced := axes(dst, dy)
	r, to := reductionOf[T](dst, dy), reductionOf[T](dst, x)
	order = append(append([]int{}, kept...), reduced...)
	if r.columns > 0 && r.columns == to.columns && !weighted {
		last := len(kept) - 1
		order = append(append(append([]int{}, kept[:last]...), reduced...), kept[last])
	} else {
		r.columns = 0
	}
	r.reader = readLayout[T](dy, reducedLayout(dy, r.columns, kept, reduced))
	to.reader = readLayout[T](x, reducedLayout(x, r.columns, kept, reduced))
	minus := T(math.Copysign(0, -1))
	n = normSum[T]{dy: &r, x: &to.reader, weighted: weighted}
	n.z = factorsOf(dy.Shape, order, []T{1, minus}, absent, absent, src[3], src[4])
	n.both = n.z
	if weighted {
		n.g = factorsOf(dy.Shape, order, []T{1, minus, 0, 1}, src[5], absent, absent, absent)
		n.both = factorsOf(dy.Shape, order, []T{1, minus}, src[5], absent, src[3], src[4])
	}
	return n, order
}

// normSum holds the operands of normSums: dy and x, in the same order, and the factors
// that compute z from x, g from dy, and both at once.
type normSum[T real] struct {
	dy         *reduction[T]
	x          *reader[T]
	weighted   bool
	z, g, both factors[T]
}

// rowBlocks fills the two sums of each block, like reduction.rowBlocks.
func (n *normSum[T]) rowBlocks(b *Backend, first, second []T) {
	r := n.dy
	each := r.together(n.x.bulk())
	halves := r.dtype == n.x.dtype && r.dtype.Size() == 2
	if halves && r.blocks == 1 && r.layout.dense() && n.x.layout.dense() && n.both.rowLength() == r.count && n.kernel(r.dtype) != nil {
		each = max(1, bulk/r.count)
	}
	turned := r.turned()
	b.backwards(len(first), r.itemBlocks(each), func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for i := lo; i < hi; i += each {
				i, results := i, min(each, hi-i)
				if turned {
					i = r.turn(i, len(first))
				}
				at, count := i*r.count, r.count
				if r.blocks > 1 {
					at, count, _ = r.blockAt(0, i)
				}
				size, to, product := results*count, first[i:i+results], second[i:i+results]
				if halves {
					dy, x := r.address(at, size), n.x.address(at, size)
					if dy != nil && x != nil && n.addFast(to, product, r.dtype, dy, x, at, count) {
						continue
					}
				}
				n.add(to, product, r.some(at, size, s.in[0][:]), n.x.some(at, size, s.in[1][:]), at, s)
			}
		})
	})
}

// add sets both sums of equal parts of dy and x. The first element has the index lo.
func (n *normSum[T]) add(first, second, dy, x []T, lo int, s *scratch[T]) {
	count := len(x) / len(first)
	if len(x) > 0 && n.addFast(first, second, dtypeOf[T](), unsafe.Pointer(&dy[0]), unsafe.Pointer(&x[0]), lo, count) {
		return
	}
	for len(first) > 0 {
		k := max(1, chunk/count) // number of results at a time
		k = min(k, len(first))
		g, z := dy[:k*count], s.out[:k*count]
		n.z.normalize(z, x[:k*count], lo)
		if n.weighted {
			n.g.normalize(s.in[2][:k*count], g, lo)
			g = s.in[2][:k*count]
		}
		mul(z, z, g, nil, 0, 0)
		sumRows(first[:k], g, 0, nil)
		sumRows(second[:k], z, 0, nil)
		first, second, dy, x, lo = first[k:], second[k:], dy[k*count:], x[k*count:], lo+k*count
	}
}

// kernel returns the kernel of addFast for a dtype, or nil.
func (n *normSum[T]) kernel(d driver.DType) func(first, second, dy, x unsafe.Pointer, rows, n int, f *asm.Factors) {
	k := kernelsFor(d)
	switch step := n.both.inner(); {
	case step[2]|step[3] != 0:
	case step[0] == 0:
		return k.NormSums
	case step[0] == 1:
		return k.NormSumsRow
	}
	return nil
}

// addFast is add where each part has the same factors, or a row of weights. The parts have count
// elements each and lie in memory as d.
func (n *normSum[T]) addFast(first, second []T, d driver.DType, dy, x unsafe.Pointer, lo, count int) bool {
	f, run := &n.both, n.kernel(d)
	if run == nil {
		return false
	}
	length, size, end := f.rowLength(), d.Size(), lo+len(first)*count
	if length != count && lo/length != (end-1)/length {
		return false
	}
	var row asm.Factors
	if length != count { // all parts are in one run
		for i := range first {
			at := lo + i*count
			f.row(f.at(at), &row)
			run(unsafe.Pointer(&first[i]), unsafe.Pointer(&second[i]), unsafe.Add(dy, i*count*size), unsafe.Add(x, i*count*size), 1, count, &row)
		}
		return true
	}
	f.tiles(lo, end, func(at viewOffsets, rows, count int) {
		f.row(at, &row)
		run(unsafe.Pointer(&first[0]), unsafe.Pointer(&second[0]), dy, x, rows, count, &row)
		if first, second = first[rows:], second[rows:]; len(first) > 0 {
			dy, x = unsafe.Add(dy, rows*count*size), unsafe.Add(x, rows*count*size)
		}
	})
	return true
}

// columnBlocks fills both sums if neighbouring elements belong to neighbouring results,
// like reduction.columnBlocks. There is no weight.
func (n *normSum[T]) columnBlocks(b *Backend, first, second []T) {
	r := n.dy
	panels := (r.columns + panel - 1) / panel
	halves := r.dtype == n.x.dtype && r.dtype.Size() == 2 && r.layout.dense() && n.x.layout.dense() && n.columnKernel(r.dtype)
	b.each(len(first)/r.columns*panels, func(item int) {
		withScratch(func(s *scratch[T]) {
			at, c := item/panels, item%panels*panel
			width := min(panel, r.columns-c)
			o, from := at/r.blocks, at%r.blocks*block
			var sums [2][lanes][panel]T
			end := min(from+block, r.count)
			for row := from; row < end; {
				lo := (o*r.count+row)*r.columns + c
				if halves {
					rows := min(end-row, max(1, bulk/width))
					size := (rows-1)*r.columns + width
					n.addColumns(&sums, (row-from)%lanes, r.dtype, r.address(lo, size), n.x.address(lo, size), lo, rows, width, r.columns)
					row += rows
					continue
				}
				rows, stride := r.rowsAt(width, end-row, n.x.bulk())
				size := (rows-1)*stride + width
				n.addRows(&sums, (row-from)%lanes, r.some(lo, size, s.in[0][:]), n.x.some(lo, size, s.in[1][:]), lo, rows, width, stride)
				row += rows
			}
			for i, to := range [][]T{first, second} {
				for half := lanes / 2; half > 0; half /= 2 {
					for l := range half {
						add(sums[i][l][:width], sums[i][l][:width], sums[i][l+half][:width], nil, 0, 0)
					}
				}
				copy(to[at*r.columns+c:], sums[i][0][:width])
			}
		})
	})
}

// addRows adds rows, which begin stride elements apart, to the lanes from lane on. The
// first element has the index lo.
func (n *normSum[T]) addRows(sums *[2][lanes][panel]T, lane int, dy, x []T, lo, rows, width, stride int) {
	f, columns := &n.z, n.dy.columns
	step := f.inner()
	if d := dtypeOf[T](); width >= fast && n.columnKernel(d) {
		n.addColumns(sums, lane, d, unsafe.Pointer(&dy[0]), unsafe.Pointer(&x[0]), lo, rows, width, stride)
		return
	}
	for r := range rows {
		l := (lane + r) % lanes
		first, second := sums[0][l][:width], sums[1][l][:width]
		dy, x := dy[r*stride:][:width], x[r*stride:][:width]
		f.runs(lo+r*columns, lo+r*columns+width, func(at viewOffsets, count int) {
			for i := range count {
				z := (x[i] - f.memory[2][at[2]+i*step[2]]) * f.memory[3][at[3]+i*step[3]]
				first[i] += dy[i]
				second[i] += T(dy[i] * z)
			}
			first, second, dy, x = first[count:], second[count:], dy[count:], x[count:]
		})
	}
}

// columnKernel reports whether addColumns can be called for a dtype.
func (n *normSum[T]) columnKernel(d driver.DType) bool {
	step := n.z.inner()
	return kernelsFor(d).NormColumns != nil && step[2]|step[3] == 0
}

// addColumns is addRows by assembly, for elements that lie in memory as d.
func (n *normSum[T]) addColumns(sums *[2][lanes][panel]T, lane int, d driver.DType, dy, x unsafe.Pointer, lo, rows, width, stride int) {
	f, columns, size := &n.z, n.dy.columns, d.Size()
	var row asm.Factors
	for {
		k := 1 // rows whose factors come one after the other
		if last := len(f.shape) - 1; last <= 0 || f.shape[last] == columns {
			k = rows
			if last > 0 {
				k = min(rows, f.shape[last-1]-lo/columns%f.shape[last-1])
			}
		}
		f.row(f.at(lo), &row)
		kernelsFor(d).NormColumns(unsafe.Pointer(&sums[0][0][0]), unsafe.Pointer(&sums[1][0][0]), dy, x, k, width, size*stride, lane, 4*panel, &row)
		if rows -= k; rows == 0 {
			return
		}
		dy, x, lo, lane = unsafe.Add(dy, size*k*stride), unsafe.Add(x, size*k*stride), lo+k*columns, lane+k
	}
}

package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
)

const (
	block = chunk // elements that sumBlock adds
	lanes = 16    // its partial sums
	panel = 128   // columns that are reduced side by side
)

// reduce sets dst to src reduced along the axes where dst has size 1.
//
// The elements that go into one result are taken in row-major order and cut into
// blocks; each block is reduced by fold, and the blocks' results by [tree]. The
// items are blocks, so a long sum uses all workers as well as many short ones.
func reduce[T number](b *Backend, code driver.Code, dst, src driver.View) {
	kept, reduced := axes(dst, src)
	m := method[T](code)
	outs, count := dst.Len(), 1
	for _, axis := range reduced {
		count *= src.Shape[axis]
	}
	blocks := (count + block - 1) / block
	// partial[o*blocks + i] is block i of result o; side by side: see reduceColumns.
	partial := make([]T, outs*blocks)
	step := 1
	if columns := columnAxis(src, kept, reduced); columns > 0 && outs > 0 && count > 0 {
		step = columns
		reduceColumns(b, m, partial, columns, count, src, kept, reduced)
	} else {
		reduceRows(b, m, partial, count, src, kept, reduced)
	}
	w := write[T](dst)
	b.ranges(outs, copyItem, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				out := w.room(lo, s.out[:min(chunk, hi-lo)])
				for i := range out {
					o := lo + i
					first := o/step*step*blocks + o%step
					out[i] = m.finish(tree(partial[min(first, len(partial)):], step, blocks, m), count)
				}
				w.put(lo, out)
			}
		})
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

// reduceRows fills partial where the elements of a block had better be taken
// together.
func reduceRows[T number](b *Backend, m reduction[T], partial []T, count int, src driver.View, kept, reduced []int) {
	r := readLayout[T](src, permuted(src, kept, reduced))
	blocks := (count + block - 1) / block
	b.ranges(len(partial), max(1, copyItem/min(block, max(count, 1))), func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for i := lo; i < hi; i++ {
				first := i % blocks * block
				x := r.at(i/blocks*count+first, s.in[0][:min(block, count-first)])
				if m.prepare != nil {
					x = m.prepare(s.in[1][:len(x)], x)
				}
				partial[i] = m.fold(x)
			}
		})
	})
}

// columnAxis returns the length of the last kept axis if src's elements lie
// side by side along it and not along the reduced ones, else 0.
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

// reduceColumns fills partial where neighbours belong to neighbouring results:
// it takes whole rows of up to panel elements and keeps lanes of rows, in the
// very order of sumBlock. Block i of result o*columns+c is
// partial[(o*blocks+i)*columns + c].
func reduceColumns[T number](b *Backend, m reduction[T], partial []T, columns, count int, src driver.View, kept, reduced []int) {
	last := len(kept) - 1
	r := readLayout[T](src, permuted(src, kept[:last], reduced, kept[last:]))
	blocks, panels := (count+block-1)/block, (columns+panel-1)/panel
	b.each(len(partial)/columns*panels, func(item int) {
		withScratch(func(s *scratch[T]) {
			at, c := item/panels, item%panels*panel
			width := min(panel, columns-c)
			o, first := at/blocks, at%blocks*block
			var sums [lanes][panel]T
			for l := range sums {
				for i := range width {
					sums[l][i] = m.zero
				}
			}
			for row := first; row < min(first+block, count); row++ {
				x := r.at((o*count+row)*columns+c, s.in[0][:width])
				if m.prepare != nil {
					x = m.prepare(s.in[1][:width], x)
				}
				m.join(sums[(row-first)%lanes][:width], x)
			}
			for half := lanes / 2; half > 0; half /= 2 {
				for l := range half {
					m.join(sums[l][:width], sums[l+half][:width])
				}
			}
			copy(partial[at*columns+c:], sums[0][:width])
		})
	})
}

// reduction is what a code does with a block.
type reduction[T number] struct {
	zero    T
	prepare func(dst, x []T) []T // nil: nothing
	fold    func(x []T) T
	pair    func(a, b T) T
	join    func(dst, x []T) // dst[i] = pair(dst[i], x[i])
	finish  func(r T, count int) T
}

func method[T number](code driver.Code) reduction[T] {
	m := reduction[T]{
		fold:   sumBlock[T],
		pair:   func(a, b T) T { return a + b },
		join:   func(dst, x []T) { add(dst, dst, x, nil, 0, 0) },
		finish: func(r T, _ int) T { return r },
	}
	switch code {
	case driver.Mean:
		m.finish = func(r T, count int) T { return r / T(count) }
	case driver.SumSquares:
		m.prepare = func(dst, x []T) []T {
			mul(dst, x, x, nil, 0, 0)
			return dst
		}
	case driver.Prod:
		m.zero = 1
		m.fold = prodBlock[T]
		m.pair = func(a, b T) T { return a * b }
		m.join = func(dst, x []T) { mul(dst, dst, x, nil, 0, 0) }
	case driver.ReduceMax:
		m.zero = lowest[T]()
		m.fold = maxBlock[T]
		m.pair = func(a, b T) T { return max(a, b) }
		m.join = func(dst, x []T) { maximum(dst, dst, x, nil, 0, 0) }
	case driver.ReduceMin:
		m.zero = highest[T]()
		m.fold = minBlock[T]
		m.pair = func(a, b T) T { return min(a, b) }
		m.join = func(dst, x []T) { minimum(dst, dst, x, nil, 0, 0) }
	}
	return m
}

// maxBlock and minBlock take four at a time, so that they do not wait for each
// other; the order makes no difference.

func maxBlock[T number](x []T) T {
	a := lowest[T]()
	b, c, d := a, a, a
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = max(a, x[0]), max(b, x[1]), max(c, x[2]), max(d, x[3])
	}
	for _, v := range x {
		a = max(a, v)
	}
	return max(a, b, c, d)
}

func minBlock[T number](x []T) T {
	a := highest[T]()
	b, c, d := a, a, a
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = min(a, x[0]), min(b, x[1]), min(c, x[2]), min(d, x[3])
	}
	for _, v := range x {
		a = min(a, v)
	}
	return min(a, b, c, d)
}

// sumBlock returns the sum of at most block elements: lane l of 16 sums x[i] for
// i = l, l+16, …, in this order from 0; then lanes are added in halves, lane l
// and l+8 for l < 8, l and l+4, l and l+2, and the last two.
func sumBlock[T number](x []T) T {
	if f, ok := any(x).([]float32); ok && loops.Sum != nil && len(x) > 0 {
		return T(loops.Sum(unsafe.Pointer(&f[0]), len(f)))
	}
	var s [lanes]T
	for ; len(x) >= lanes; x = x[lanes:] {
		x := (*[lanes]T)(x)
		for l := range s {
			s[l] += x[l]
		}
	}
	for l, v := range x {
		s[l] += v
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for l := range half {
			s[l] += s[l+half]
		}
	}
	return s[0]
}

// prodBlock returns the product of at most block elements, in sumBlock's order from
// 1.
func prodBlock[T number](x []T) T {
	var p [lanes]T
	for l := range p {
		p[l] = 1
	}
	for i, v := range x {
		p[i%lanes] *= v
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for l := range half {
			p[l] *= p[l+half]
		}
	}
	return p[0]
}

// tree returns the reduction of partial[0], partial[step], …, n of them: of one
// it is that one, of more it joins that of the first 2^k, the largest power of
// two below n, and that of the rest.
func tree[T number](partial []T, step, n int, m reduction[T]) T {
	switch n {
	case 0:
		return m.zero
	case 1:
		return partial[0]
	}
	first := 1
	for 2*first < n {
		first *= 2
	}
	return m.pair(tree(partial, step, first, m), tree(partial[first*step:], step, n-first, m))
}

// lowest and highest return what no element is below or above.

func lowest[T number]() T {
	if _, whole := any(T(0)).(int64); whole {
		return T(-1 << 63)
	}
	return T(math.Inf(-1))
}

func highest[T number]() T {
	if _, whole := any(T(0)).(int64); whole {
		return T(1<<63 - 1)
	}
	return T(math.Inf(1))
}

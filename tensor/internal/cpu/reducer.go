package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
)

// reducer holds the functions of a reduction.
type reducer[T number] struct {
	zero T
	// rows sets each element of dst to the reduction of a part of x. The parts have equal
	// lengths, at most a block, and belong to the results o, o+1, …. room is scratch
	// memory for a chunk.
	rows func(dst, x []T, o int, room []T)
	// direct returns what rows is for rows of n elements in memory, stride elements apart, or nil if
	// this processor has no kernel for the dtype. The rows belong to results o, o+next, …. The field
	// is nil for codes without such kernels.
	direct func(d driver.DType) func(dst []T, x unsafe.Pointer, n, stride, o, next int)
	sums   bool // columns are added as they are
	// row joins x[i], which goes into result o+i, with sums[i]; columns does so for rows
	// that lie stride apart, with sums from lane on.
	row     func(sums, x []T, o int, room []T)
	columns func(sums *[lanes][panel]T, lane int, x []T, rows, width, stride, o int, room []T)
	pair    func(a, b T) T
	join    func(dst, x []T)       // dst[i] = pair(dst[i], x[i])
	finish  func(r T, count int) T // nil if nothing is left to do
}

func method[T number](code driver.Code) *reducer[T] {
	m := &reducer[T]{
		rows: sumRows[T],
		pair: func(a, b T) T { return a + b },
		join: func(dst, x []T) { add(dst, dst, x, nil, 0, 0) },
	}
	switch code {
	case driver.Mean:
		m.finish = func(r T, count int) T { return r / T(count) }
	case driver.SumSquares:
		m.rows = func(dst, x []T, _ int, room []T) {
			foldParts(dst, x, func(x []T) T {
				mul(room[:len(x)], x, x, nil, 0, 0)
				return sumBlock(room[:len(x)])
			})
		}
		m.row = func(sums, x []T, _ int, room []T) {
			mul(room, x, x, nil, 0, 0)
			m.join(sums, room)
		}
	case driver.Prod:
		m.zero = 1
		m.rows = func(dst, x []T, _ int, _ []T) { foldParts(dst, x, prodBlock[T]) }
		m.pair = func(a, b T) T { return a * b }
		m.join = func(dst, x []T) { mul(dst, dst, x, nil, 0, 0) }
	case driver.ReduceMax:
		m.zero = lowest[T]()
		m.rows = func(dst, x []T, _ int, _ []T) { chooseRows(selects.MaxRows, dst, x, maxBlock[T]) }
		m.pair = func(a, b T) T { return larger(a, b) }
		m.join = func(dst, x []T) { maximum(dst, dst, x, nil, 0, 0) }
	case driver.ReduceMin:
		m.zero = highest[T]()
		m.rows = func(dst, x []T, _ int, _ []T) { chooseRows(selects.MinRows, dst, x, minBlock[T]) }
		m.pair = func(a, b T) T { return smaller(a, b) }
		m.join = func(dst, x []T) { minimum(dst, dst, x, nil, 0, 0) }
	}
	if m.row == nil {
		m.row = func(sums, x []T, _ int, _ []T) { m.join(sums, x) }
		if code == driver.Sum || code == driver.Mean {
			m.columns = sumColumns[T]
			m.sums, m.direct = true, sumDirect[T]
		}
	}
	if m.columns == nil {
		m.columns = m.rowByRow
	}
	return m
}

// rowsOf returns direct's kernel for a dtype, or nil.
func (m *reducer[T]) rowsOf(d driver.DType) func(dst []T, x unsafe.Pointer, n, stride, o, next int) {
	if m.direct == nil {
		return nil
	}
	return m.direct(d)
}

// sumDirect is the field direct of sums.
func sumDirect[T number](d driver.DType) func(dst []T, x unsafe.Pointer, n, stride, o, next int) {
	run := kernelsFor(d).SumRows
	if run == nil {
		return nil
	}
	return func(dst []T, x unsafe.Pointer, n, stride, _, _ int) {
		run(unsafe.Pointer(&dst[0]), x, len(dst), n, d.Size()*stride)
	}
}

// rowByRow is a reducer's columns.
func (m *reducer[T]) rowByRow(sums *[lanes][panel]T, lane int, x []T, rows, width, stride, o int, room []T) {
	for i := range rows {
		m.row(sums[(lane+i)%lanes][:width], x[i*stride:][:width], o, room[:width])
	}
}

// sumColumns implements columns for sums.
func sumColumns[T number](sums *[lanes][panel]T, lane int, x []T, rows, width, stride, _ int, _ []T) {
	if f, ok := any(x).([]float32); ok && norms.SumColumns != nil {
		norms.SumColumns(unsafe.Pointer(&sums[0][0]), unsafe.Pointer(&f[0]), rows, width, 4*stride, lane, 4*panel)
		return
	}
	for i := range rows {
		to := sums[(lane+i)%lanes][:width]
		add(to, to, x[i*stride:][:width], nil, 0, 0)
	}
}

// foldParts sets each element of dst to fold of a part of x, all parts of equal length.
func foldParts[T number](dst, x []T, fold func(x []T) T) {
	n := len(x) / max(1, len(dst))
	for i := range dst {
		dst[i] = fold(x[i*n:][:n:n])
	}
}

// sumRows sets each element of dst to the sum, by sumBlock, of a part of x, all parts
// of equal length.
func sumRows[T number](dst, x []T, _ int, _ []T) {
	to, ok := any(dst).([]float32)
	if !ok || norms.SumRows == nil || len(dst) == 0 || len(x) < len(dst) {
		foldParts(dst, x, sumBlock[T])
		return
	}
	n := len(x) / len(dst)
	norms.SumRows(unsafe.Pointer(&to[0]), unsafe.Pointer(unsafe.SliceData(x)), len(dst), n, 4*n)
}

// chooseRows is foldParts, in assembly if run is not nil.
func chooseRows[T number](run func(dst, x unsafe.Pointer, rows, n int), dst, x []T, fold func(x []T) T) {
	if to, ok := any(dst).([]float32); ok && run != nil && len(dst) > 0 && len(x) >= len(dst) {
		run(unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), len(dst), len(x)/len(dst))
		return
	}
	foldParts(dst, x, fold)
}

// maxBlock and minBlock have four independent results, so that comparisons do not wait
// for each other. The order makes no difference.

func maxBlock[T number](x []T) T {
	a := lowest[T]()
	b, c, d := a, a, a
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = max(a, x[0]), max(b, x[1]), max(c, x[2]), max(d, x[3])
	}
	for _, v := range x {
		a = max(a, v)
	}
	return oneNaN(max(a, b, c, d))
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
	return oneNaN(min(a, b, c, d))
}

// sumBlock returns the sum of at most block elements. Lane l of 16 begins with 0 and
// adds x[i] for i = l, l+16, …, in this order. Then the lanes are added in halves: l
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

// prodBlock returns the product of at most block elements, in sumBlock's order. Lanes
// begin with 1.
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

// tree returns the reduction of the n elements partial[0], partial[step], …. For one
// element it is that element. For more it combines the tree of the first 2^k elements,
// the largest power of two below n, with the tree of the rest.
func tree[T number](partial []T, step, n int, m *reducer[T]) T {
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

// lowest and highest return the lower and the upper bound of all elements.

func lowest[T number]() T {
	if _, whole := any(T(0)).(int64); whole {
		return T(int64(math.MinInt64))
	}
	return T(math.Inf(-1))
}

func highest[T number]() T {
	if _, whole := any(T(0)).(int64); whole {
		return T(int64(math.MaxInt64))
	}
	return T(math.Inf(1))
}

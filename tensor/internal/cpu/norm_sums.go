package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
)

// moments sets mean to the means of x along the axes where it has size 1, and variance
// to those of (x - mean)*(x - mean). Of what does not lie side by side, as many results
// are taken at a time as find their elements in the cache again.
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
	centred.row = func(sums, x []T, o int, room []T) {
		sub(room, x, means[o:][:len(x)], nil, 0, 0)
		mul(room, room, room, nil, 0, 0)
		m.join(sums, room)
	}
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
	if f, ok := any(x).([]float32); ok && norms.CentredSquares != nil && len(x) > 0 {
		return T(norms.CentredSquares(unsafe.Pointer(&f[0]), len(f), float32(mean)))
	}
	room = room[:len(x)]
	for i, v := range x {
		d := v - mean
		room[i] = d * d
	}
	return sumBlock(room)
}

// normSums sets dst to the sums of g = dy*w, and src[0] to those of g*z with z =
// (x - mean)*scale, divided by divisor. The sums are cut as in reduce.
func normSums[T real](b *Backend, dst driver.View, src []driver.View, divisor T) {
	second, dy, x := src[0], src[1], src[2]
	kept, reduced := axes(dst, dy)
	r, to := reductionOf[T](dst, dy), reductionOf[T](dst, x)
	views := append([]driver.View{none, none}, src[3:5]...) // as of normalize
	if len(src) == 6 {
		views[0] = src[5]
	}
	if len(src) == 6 || to.columns != r.columns {
		r.columns = 0
	}
	order := append(append([]int{}, kept...), reduced...)
	if r.columns > 0 {
		last := len(kept) - 1
		order = append(append(append([]int{}, kept[:last]...), reduced...), kept[last])
	}
	r.reader = readLayout[T](dy, reducedLayout(dy, r.columns, kept, reduced))
	to.reader = readLayout[T](x, reducedLayout(x, r.columns, kept, reduced))
	n := normSum[T]{&r, &to, factorsOf(dy.Shape, order, []T{1, 0}, views...)}
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

// normSum is what normSums adds: dy and x, in one order, and w, 0, mean and scale.
type normSum[T real] struct {
	dy, x *reduction[T]
	factors[T]
}

// rowBlocks fills both sums of blocks, as that of reduction.
func (n *normSum[T]) rowBlocks(b *Backend, first, second []T) {
	r := n.dy
	b.ranges(len(first), max(1, copyItem/2/min(block, max(r.count, 1))), func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for i := lo; i < hi; i++ {
				from := i % r.blocks * block
				at, count := i/r.blocks*r.count+from, min(block, r.count-from)
				first[i], second[i] = n.block(at, r.at(at, s.in[0][:count]), n.x.at(at, s.in[1][:count]), s)
			}
		})
	})
}

// block returns both sums of a block, whose first element has the index at.
func (n *normSum[T]) block(lo int, dy, x []T, s *scratch[T]) (T, T) {
	g, z := s.in[2][:0], s.out[:0]
	_, step := n.nest.inner()
	var sums [2]float32
	done := false
	n.runs(lo, lo+len(x), func(at places, count int) {
		w, mean, scale := n.memory[0], n.memory[2], n.memory[3]
		if step[2]|step[3] == 0 && count == len(x) && normSumsFast(&sums, dy, x, w[at[0]:], step[0], mean[at[2]], scale[at[3]]) {
			done = true
			return
		}
		for i := range count {
			p := len(g)
			v := dy[p] * w[at[0]+i*step[0]]
			g, z = append(g, v), append(z, v*T((x[p]-mean[at[2]+i*step[2]])*scale[at[3]+i*step[3]]))
		}
	})
	if done {
		return T(sums[0]), T(sums[1])
	}
	return sumBlock(g), sumBlock(z)
}

func normSumsFast[T real](sums *[2]float32, dy, x, w []T, step int, mean, scale T) bool {
	g, ok := any(dy).([]float32)
	if !ok || norms.Sums == nil || step&^1 != 0 {
		return false
	}
	run := norms.Sums
	if step == 1 {
		run = norms.SumsRow
	}
	run(sums, unsafe.Pointer(&g[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), len(x), &[2]float32{float32(mean), float32(scale)})
	return true
}

// columnBlocks fills both sums where neighbours belong to neighbouring results, as that
// of reduction; the weight is 1.
func (n *normSum[T]) columnBlocks(b *Backend, first, second []T) {
	r := n.dy
	panels := (r.columns + panel - 1) / panel
	b.each(len(first)/r.columns*panels, func(item int) {
		withScratch(func(s *scratch[T]) {
			at, c := item/panels, item%panels*panel
			width := min(panel, r.columns-c)
			o, from := at/r.blocks, at%r.blocks*block
			var sums [2][lanes][panel]T
			for row := from; row < min(from+block, r.count); row++ {
				at, l := (o*r.count+row)*r.columns+c, (row-from)%lanes
				n.row(sums[0][l][:width], sums[1][l][:width], r.at(at, s.in[0][:width]), n.x.at(at, s.in[1][:width]), at)
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

// row adds the elements from lo on.
func (n *normSum[T]) row(first, second, dy, x []T, lo int) {
	_, step := n.nest.inner()
	n.runs(lo, lo+len(x), func(at places, count int) {
		mean, scale := n.memory[2], n.memory[3]
		if step[2]|step[3] == 0 && normColumnsFast(first[:count], second, dy, x, mean[at[2]], scale[at[3]]) {
			first, second, dy, x = first[count:], second[count:], dy[count:], x[count:]
			return
		}
		for i := range count {
			first[i] += dy[i]
			second[i] += T(dy[i] * T((x[i]-mean[at[2]+i*step[2]])*scale[at[3]+i*step[3]]))
		}
		first, second, dy, x = first[count:], second[count:], dy[count:], x[count:]
	})
}

func normColumnsFast[T real](first, second, dy, x []T, mean, scale T) bool {
	f, ok := any(first).([]float32)
	if !ok || norms.Columns == nil || len(f) < fast {
		return false
	}
	norms.Columns(unsafe.Pointer(&f[0]), unsafe.Pointer(&second[0]), unsafe.Pointer(&dy[0]), unsafe.Pointer(&x[0]), len(f), &[2]float32{float32(mean), float32(scale)})
	return true
}

package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// A convolution with few results per group reads B in place, because each element is used too rarely
// for packing to pay. [asm.Slide] needs contiguous columns. [asm.Dot] is for few, long columns with
// contiguous elements, as in the gradient of the weight.

// fewRows is the maximum number of rows of C for which B is read in place.
const fewRows = 4

// slides reports whether [gemm.multiplySliding] supports the product: few rows, one block of k, and
// columns of B in contiguous rows that are not too short.
func (g *gemm) slides() bool {
	p, s := g.y.packing, g.y.spread
	return p != nil && p.Slide != nil && g.m <= fewRows && g.k <= g.depth && s != nil && s.rows && s.step == 1 && g.y.lines.run() >= 8
}

// multiplySliding computes a matrix with few rows and contiguous columns of B.
func (g *gemm) multiplySliding(batch int, x, y operand, each each) {
	last := len(y.lines.shape) - 1
	cols, rows, brow := y.lines.shape[last], 1, 0
	if last > 0 {
		rows, brow = y.lines.shape[last-1], y.lines.stride[last-1]*y.size
	}
	wide, high := cols, max(1, min(rows, chunk/cols))
	if wide > chunk {
		wide = chunk
	}
	across, down := (cols+wide-1)/wide, (rows+high-1)/high
	weights := takeBytes(g.m * (g.k*4 + 8*g.k))
	defer weights.give()
	a := unsafe.Slice((*float32)(weights.base), g.m*g.k)
	offs := unsafe.Slice((*int)(unsafe.Add(weights.base, (g.m*g.k+1)/2*8)), g.k)
	copy(offs, y.spread.offs)
	for i := range g.m {
		x.elements(a[i*g.k:][:g.k], i, 0)
	}
	if each == nil {
		each = serial(func() {})
	}
	each(g.n/(cols*rows)*across*down, func(item int, poll func()) {
		poll()
		ws := takeStrip()
		defer ws.give()
		r0, c0 := item/across%down*high, item%across*wide
		height, width := min(high, rows-r0), min(wide, cols-c0)
		j := item/(across*down)*rows*cols + r0*cols + c0
		count := height * width // contiguous, because high is 1 if columns are split
		b := unsafe.Add(y.base, y.lines.index(j)*y.size)
		for i := range g.m {
			c, _, inPlace := g.dst.place(batch, i, j, count)
			if !inPlace {
				c = ws.sums(count)
			}
			y.packing.Slide(g.k, unsafe.Pointer(&a[i*g.k]), &offs[0], b, brow, c, width*4, width, height)
			if inPlace {
				continue
			}
			sums := unsafe.Slice((*float32)(c), count)
			for q := 0; q < count; q += stripCols {
				n := min(stripCols, count-q)
				g.dst.put(batch, i, j+q, sums[q:q+n], n, n)
			}
		}
	})
}

// dots returns the columns of B in stretches of at most 8. It returns nil if there are too many, or if
// elements along k of an operand are contiguous only in short runs.
func (g *gemm) dots() []asm.Stretch {
	p := g.y.packing
	if p == nil || p.Dots == nil || g.m > fewRows || g.y.spread == nil || g.n >= 8*len(p.Dots) {
		return nil
	}
	for _, l := range []layout{g.x.inner, g.y.inner} {
		if l.run() < 16 {
			return nil
		}
	}
	var list []asm.Stretch
	g.y.lines.runs(0, g.n, func(_, at, stride, count int) {
		for i := 0; i < count; {
			n := 1
			if stride == 1 {
				n = min(8, count-i)
			}
			list = append(list, asm.Stretch{Off: (at + i*stride) * g.y.size, Mask: 1<<n - 1})
			i += n
		}
	})
	if len(list) >= len(p.Dots) {
		return nil
	}
	return list
}

// multiplyDots computes a matrix with few rows and few columns.
func (g *gemm) multiplyDots(batch int, x, y operand, poll func()) {
	ws := takeStrip()
	defer ws.give()
	dot, lanes := y.packing.Dots[len(g.columns)], 8*len(g.columns)
	sums := unsafe.Slice((*float32)(ws.sums(4*lanes+g.n)), 4*lanes+g.n)
	block, total, row := sums[:3*lanes], sums[3*lanes:4*lanes], sums[4*lanes:]
	blocks := x.dtype == driver.BFloat16
	for i := range g.m {
		from := x.lines.index(i)
		for k0 := 0; k0 < g.k; k0 += g.depth {
			poll()
			if k0 == 0 || !blocks {
				clear(block)
			}
			y.inner.runs(k0, min(g.depth, g.k-k0), func(pos0, at, _, count int) {
				x.inner.runs(k0+pos0, count, func(pos, along, _, count int) {
					dot(count, k0+pos0+pos, unsafe.Add(x.base, (from+along)*x.size), unsafe.Add(y.base, (at+pos)*y.size), &g.columns[0], unsafe.Pointer(&block[0]))
				})
			})
			switch {
			case blocks:
			case k0 == 0:
				copy(total, block)
			default:
				add(total, total, block[:lanes], nil, 0, 0)
			}
		}
		if blocks {
			copy(total, block)
			if g.k%blockLen != 0 {
				for l := range total {
					total[l] = flush(total[l] + flush(block[lanes+l]+(block[2*lanes+l]+0)))
				}
			}
		}
		j := 0
		for s, c := range g.columns {
			for l := 0; c.Mask>>l != 0; l++ {
				row[j] = total[8*s+l]
				j++
			}
		}
		g.dst.put(batch, i, 0, row, g.n, g.n)
	}
}

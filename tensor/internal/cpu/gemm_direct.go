package cpu

import (
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// inPlaceProduct computes columns j0 … end-1 of a matrix from float32 operands that are read in place.
type inPlaceProduct func(g *gemm, batch int, x, y operand, j0, end int)

// multiply computes a matrix.
func (f inPlaceProduct) multiply(g *gemm, batch int, x, y operand, workers int, each each) {
	if each == nil {
		f(g, batch, x, y, 0, g.n)
	} else {
		f.share(g, batch, x, y, workers, each)
	}
}

func (f inPlaceProduct) share(g *gemm, batch int, x, y operand, workers int, each each) {
	part := g.part(g.n, g.tier.Cols, workers)
	each((g.n+part-1)/part, func(i int, poll func()) {
		poll()
		f(g, batch, x, y, i*part, min(g.n, (i+1)*part))
	})
}

// plain multiplies small matrices. It uses a panel of B's columns, which fits in the L1 cache, for all
// rows before the next panel.
func (g *gemm) plain(batch int, x, y operand, j0, end int) {
	g.direct(batch, x, y, 0, g.m, j0, end, nil)
}

// multiplyNarrow multiplies a long A, for which packing does not pay, by a B of few columns, which is
// packed.
func (g *gemm) multiplyNarrow(batch int, x, y operand, workers int, each each) {
	nr := g.tier.Cols
	b := takeBytes((g.n + nr - 1) / nr * nr * g.k * 4)
	defer b.give()
	pack := func(k0, kc int) {
		for j := 0; j < g.n; j += nr {
			y.pack(unsafe.Add(b.base, (j*g.k+k0*nr)*4), nr, j, min(nr, g.n-j), k0, kc)
		}
	}
	if each == nil {
		pack(0, g.k)
		g.direct(batch, x, y, 0, g.m, 0, g.n, b)
		return
	}
	const many = 16 << 10
	each((g.k+many-1)/many, func(i int, poll func()) {
		poll()
		pack(i*many, min(many, g.k-i*many))
	})
	part := g.part(g.m, g.tier.Rows, workers)
	each((g.m+part-1)/part, func(i int, poll func()) {
		poll()
		g.direct(batch, x, y, i*part, min(g.m, (i+1)*part), 0, g.n, b)
	})
}

// shortRows is the number of rows of B that short reads together.
const shortRows = 16

// short multiplies few rows of A by a large B. It reads B once, several rows at a time, because panels
// of columns would not use the full memory bandwidth.
func (g *gemm) short(batch int, x, y operand, j0, end int) {
	mr, nr := g.tier.Rows, g.tier.Cols
	width := end - j0
	ws := takeStrip()
	defer ws.give()
	n := g.m * width
	sums := unsafe.Slice((*float32)(ws.sums(2*n)), 2*n)
	total, block := sums[:n], sums[n:]
	into := total
	for k0 := 0; k0 < g.k; k0 += g.depth {
		for k, last := k0, min(g.k, k0+g.depth); k < last; k += shortRows {
			mode := asm.Continue
			if k == k0 {
				mode = asm.Store
			}
			for j := 0; j < width; j += nr {
				for i := 0; i < g.m; i += mr {
					g.tier.Direct[min(mr, g.m-i)](min(shortRows, last-k), x.element(i, k), x.across, x.along, y.element(j0+j, k), y.along,
						unsafe.Pointer(&into[i*width+j]), width*4, 1<<min(nr, width-j)-1, mode)
				}
			}
		}
		if k0 > 0 {
			add(total, total, block, nil, 0, 0)
		}
		into = block
	}
	for j := 0; j < width; j += stripCols {
		for i := range g.m {
			g.dst.put(batch, i, j0+j, total[i*width+j:][:min(stripCols, width-j)], width, min(stripCols, width-j))
		}
	}
}

// turned is like short, for a B with contiguous columns.
func (g *gemm) turned(batch int, x, y operand, j0, end int) {
	const nr = 16
	ws := takeStrip()
	defer ws.give()
	width := (min(stripCols, end-j0) + nr - 1) / nr * nr
	sums := unsafe.Slice((*float32)(ws.sums(2*g.m*width)), 2*g.m*width)
	total, block := sums[:g.m*width], sums[g.m*width:]
	for ; j0 < end; j0 += width {
		cols := min(width, end-j0)
		for j := 0; j < cols; j += nr {
			into := total
			for k0 := 0; k0 < g.k; k0 += g.depth {
				g.tier.Turned[g.m](min(g.depth, g.k-k0), x.element(0, k0), x.across, x.along, y.element(j0+j, k0), y.across,
					unsafe.Pointer(&into[j]), width*4, 1<<min(nr, cols-j)-1, asm.Store)
				if k0 > 0 {
					for i := range g.m {
						t := total[i*width+j:][:nr]
						add(t, t, block[i*width+j:][:nr], nil, 0, 0)
					}
				}
				into = block
			}
		}
		g.dst.put(batch, 0, j0, total, width, cols)
	}
}

// part returns the number of lines of an item, of n in all, a multiple of width. Each worker gets about
// four items, and an item takes at most some milliseconds.
func (g *gemm) part(n, width, workers int) int {
	part := max(width, (n/(4*workers)+width-1)/width*width)
	for part > width && part*(g.m*g.n/n)*g.k > minShared {
		part = max(width, part/2/width*width)
	}
	return part
}

// direct computes rows i0 … rows-1 and columns j0 … cols-1 of a matrix. It reads B in place, or its
// panels in room if that is not nil.
func (g *gemm) direct(batch int, x, y operand, i0, rows, j0, cols int, room *workBuffer) {
	mr, nr := g.tier.Rows, g.tier.Cols
	var ws *strip
	for i := i0; i < rows; i += mr {
		height := min(mr, rows-i)
		for j := j0; j < cols; j += nr {
			width := min(nr, cols-j)
			c, ldc, inPlace := g.dst.place(batch, i, j, width)
			if !inPlace {
				if ws == nil {
					ws = takeStrip()
					defer ws.give()
				}
				c, ldc = ws.sums(mr*nr), nr*4
			}
			mode := asm.Store
			for k0 := 0; k0 < g.k; k0 += g.depth {
				var b unsafe.Pointer
				ldb := nr * 4
				if room != nil {
					b = unsafe.Add(room.base, (j*g.k+k0*nr)*4)
				} else {
					b, ldb = y.element(j, k0), y.along
				}
				g.tier.Direct[height](min(g.depth, g.k-k0), x.element(i, k0), x.across, x.along, b, ldb, c, ldc, 1<<width-1, mode)
				mode = asm.Add
			}
			if !inPlace {
				g.dst.put(batch, i, j, unsafe.Slice((*float32)(c), height*nr), nr, width)
			}
		}
	}
}

package cpu

import (
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// multiplyDirect computes a matrix whose operands are float32 and read in place.
func (g *gemm) multiplyDirect(batch int, x, y operand, workers int, each each) {
	if workers == 1 {
		g.direct(batch, x, y, 0, g.m, 0, g.n, nil)
		return
	}
	part := g.part(g.n, g.tier.Cols, workers)
	each((g.n+part-1)/part, func(i int, poll func()) {
		poll()
		g.direct(batch, x, y, 0, g.m, i*part, min(g.n, (i+1)*part), nil)
	})
}

// multiplyNarrow is multiplyDirect for a B of few columns, which is packed, and a long
// A, which would not pay for its packing.
func (g *gemm) multiplyNarrow(batch int, x, y operand, workers int, each each) {
	nr := g.tier.Cols
	b := takeBytes((g.n + nr - 1) / nr * nr * g.k * 4)
	defer b.give()
	for j := 0; j < g.n; j += nr {
		y.pack(unsafe.Add(b.base, j*g.k*4), nr, j, min(nr, g.n-j), 0, g.k)
	}
	if workers == 1 {
		g.direct(batch, x, y, 0, g.m, 0, g.n, b)
		return
	}
	part := g.part(g.m, g.tier.Rows, workers)
	each((g.m+part-1)/part, func(i int, poll func()) {
		poll()
		g.direct(batch, x, y, i*part, min(g.m, (i+1)*part), 0, g.n, b)
	})
}

// part returns how many of n lines an item takes, a multiple of width: few enough for
// every worker to have four, and for an item to take milliseconds.
func (g *gemm) part(n, width, workers int) int {
	part := max(width, (n/(4*workers)+width-1)/width*width)
	for part > width && part*(g.m*g.n/n)*g.k > 16*alone {
		part = max(width, part/2/width*width)
	}
	return part
}

// direct computes rows i0 … rows-1 and columns j0 … cols-1 of a matrix, from B in place
// or from panels of it in room.
func (g *gemm) direct(batch int, x, y operand, i0, rows, j0, cols int, room *room) {
	mr, nr := g.tier.Rows, g.tier.Cols
	var ws *strip
	for i := i0; i < rows; i += mr {
		height := min(mr, rows-i)
		for j := j0; j < cols; j += nr {
			width := min(nr, cols-j)
			c, ldc, inPlace := g.dst.place(batch, i, j)
			if !inPlace {
				if ws == nil {
					ws = takeStrip()
					defer ws.give()
				}
				c, ldc = ws.sums(mr*nr), nr*4
			}
			mode := asm.Store
			for k0 := 0; k0 < g.k; k0 += g.depth {
				b, ldb := y.base, nr*4
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

package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// Sizes for tiles, as measured on a processor with 2 MB of L2 cache for each core. They do not affect
// results.
const (
	tilesDepth    = 512       // elements of k that are packed at a time: a panel of B takes 32 KiB, which stays in the L1 cache
	tilesInPlace  = 256       // columns up to which A is read in place: it is read too few times for packing to pay
	tilesRows     = 512       // rows of an item, of which a block takes 512 KiB
	tilesCols     = 512       // and columns, whose sums take 1 MiB
	tilesTogether = 4         // panels of B that are packed together: memory is read at twice the rate if 256 bytes are adjacent
	tilesPackRows = 32        // rows of B that are packed at a time
	tilesStreamed = 256 << 10 // elements of a C of bfloat16 from which it is written with non-temporal stores
)

// tilesLeast is the minimum number of multiplications for tiles. Below it, packing costs more than they
// save.
const tilesLeast = 1 << 15

// chooseTiles makes g compute with tiles if the product is large enough, and reports whether it is. It gets the number of elements
// along k that a part of k is a multiple of, and their number for each element of an operand.
func (g *gemm) chooseTiles(f contraction, dst, x driver.View, unit, each int) bool {
	r := len(dst.Shape)
	m, n := axesOf(dst, r-f.n-f.m, f.m).len(), axesOf(dst, r-f.n, f.n).len()
	k := axesOf(x, len(x.Shape)-f.k, f.k).len() * each
	if m < asm.TileLines/2 || n < asm.TileLines/2 || m*n*k < tilesLeast {
		return false
	}
	parts := max(1, (k+tilesDepth*3/4-1)/tilesDepth) // of about the same size, and up to a quarter larger
	g.depth = ((k+parts-1)/parts + unit - 1) / unit * unit
	g.mr, g.nr, g.rows, g.cols = asm.TileLines, asm.TileLines, tilesRows, tilesCols
	return true
}

// colsOf returns the number of columns of an item, where run columns of C at a time, of n, are adjacent:
// an item within a run can store them directly.
func colsOf(run, n int) int {
	cols := tilesCols
	for run < n && run%cols != 0 && cols > 2*asm.TileLines {
		cols /= 2
	}
	if run < n && run%cols != 0 {
		return tilesCols
	}
	return cols
}

// useTiles makes pack use the packs for tiles.
func (o *operand) useTiles(t *asm.Tier, depth int) {
	o.packing = &t.Packs.Tiles
	if o.spread != nil {
		o.spread = im2colOf(o, depth)
	}
}

// packSlots is pack for tiles, for example of a panel of B. It pads the last block with zeros.
func (o *operand) packSlots(dst unsafe.Pointer, width, first, lines, k0, kc int) {
	o.pack(dst, width, first, lines, k0, kc)
	filled, whole := (kc+3)/4*2, (kc+asm.TileBlock-1)/asm.TileBlock*(asm.TileBlock/2)
	clear(unsafe.Slice((*uint32)(unsafe.Add(dst, filled*width*4)), (whole-filled)*width))
}

// tilesItem is [gemm.item] for tiles. Sums of the columns of a panel of B are adjacent, so that tiles are.
func (g *gemm) tilesItem(batch int, a *packed, y operand, i0, rows, p0, p1, j0, cols int, poll func()) {
	const lines = asm.TileLines
	ws := takeStrip()
	defer ws.give()
	height, panels := min(rows, p1*lines)-p0*lines, (cols+lines-1)/lines
	out, ok := g.dst.end(batch, i0+p0*lines, j0, cols, g.k <= g.depth, ws)
	if out.As == asm.BFloat16 && g.m*g.n >= tilesStreamed && uintptr(out.C)%64 == 0 && out.Ldc%64 == 0 {
		out.As = asm.StreamBFloat16
	}
	whole := 0 // number of columns in whole panels, which out stores
	if ok {
		whole = cols / lines * lines
	}
	var sums unsafe.Pointer
	sumsStep := (p1 - p0) * lines * lines * 4 // the kernel reads and writes whole tiles
	if g.k > g.depth || whole < cols {
		sums = ws.sums(panels * sumsStep / 4)
	}
	step := lines * g.slots(min(g.depth, g.k)) * 4
	b, room := ws.panel(min(tilesTogether, panels)*step/4), ws.tile(2*lines*lines)
	t := &ws.panels
	for k0 := 0; k0 < g.k; k0 += g.depth {
		kc := min(g.depth, g.k-k0)
		*t = asm.Panels{K: g.slots(kc) / (asm.TileBlock / 2)}
		for p := range panels {
			poll()
			j := p * lines
			if p%tilesTogether == 0 {
				y.packTileColumns(b, step, j0+j, min(tilesTogether*lines, cols-j), k0, kc)
			}
			t.B = unsafe.Add(b, p%tilesTogether*step)
			if k0+kc == g.k && j < whole {
				t.End = right(out, j, g.dst.size)
			} else {
				t.End = asm.End{C: unsafe.Add(sums, p*sumsStep), Ldc: lines * 4}
			}
			if k0 > 0 {
				t.Sums, t.LdSums = unsafe.Add(sums, p*sumsStep), lines*4
			}
			t.Room = room
			g.multiplyTiles(t, a, p0, k0, height)
		}
	}
	for j := whole; j < cols; j += lines {
		g.dst.put(batch, i0+p0*lines, j0+j, unsafe.Slice((*float32)(unsafe.Add(sums, j/lines*sumsStep)), height*lines), lines, min(lines, cols-j))
	}
}

// multiplyTiles computes rows of panel p0 of A and the following ones, in the block at k0.
func (g *gemm) multiplyTiles(t *asm.Panels, a *packed, p0, k0, rows int) {
	const lines = asm.TileLines
	inPlace := max(0, min(a.inPlace-p0, rows/lines))
	if inPlace > 0 {
		x := &a.from
		t.A, t.RowA, t.SlotA, t.StepA = x.element(a.first+p0*lines, k0), x.across, asm.TileBlock*2, lines*x.across
		t.Rows = inPlace * lines
		g.tier.Tiles(t)
		rows -= t.Rows
	}
	if rows > 0 {
		t.End = down(t.End, inPlace*lines)
		t.A, t.RowA, t.SlotA, t.StepA = a.at(p0+inPlace, k0), asm.TileBlock*2, lines*asm.TileBlock*2, a.step(k0)
		t.Rows = rows
		g.tier.Tiles(t)
	}
}

// readsInPlace reports whether tiles read A in place. Elements of its rows must be adjacent and fill whole
// blocks.
func (g *gemm) readsInPlace(x operand) bool {
	return g.tiles && x.spread == nil && x.even && x.along == x.size && g.k%asm.TileBlock == 0 && g.n <= tilesInPlace
}

// packTileColumns sets dst to panels for tiles of columns first … first+cols-1 of B, elements k0 …
// k0+kc-1 of each. Panels are step bytes apart.
func (o *operand) packTileColumns(dst unsafe.Pointer, step, first, cols, k0, kc int) {
	const width = asm.TileLines
	part := kc
	if o.spread == nil && o.even && o.across == o.size {
		part = tilesPackRows
	}
	for k := 0; k < kc; k += part {
		for j := 0; j < cols; j += width {
			o.packSlots(unsafe.Add(dst, j/width*step+k/2*width*4), width, first+j, min(width, cols-j), k0+k, min(part, kc-k))
		}
	}
}

// packTileRows sets dst to a panel for tiles of rows first … first+lines-1 of A, elements k0 … k0+kc-1
// of each.
func (o *operand) packTileRows(t *asm.Tier, dst unsafe.Pointer, first, lines, k0, kc int) {
	const half, tile = asm.TileLines / 2, asm.TileLines / 2 * asm.TileBlock * 2 // rows and bytes
	if o.spread == nil && o.even && o.along == o.size {
		for l := 0; l < lines; l += half {
			t.Packs.TileRows(o.element(first+l, k0), o.across, unsafe.Add(dst, l/half*tile), 2*tile, kc, 1<<min(half, lines-l)-1)
		}
		return
	}
	ws := takeStrip()
	defer ws.give()
	slots := ws.panel((kc/2 + asm.TileBlock) * half)
	for l := 0; l < lines; l += half {
		o.packSlots(slots, half, first+l, min(half, lines-l), k0, kc)
		for k := 0; k < kc; k += asm.TileBlock { // transpose slots to rows
			t.Packs.F32.Transpose(unsafe.Add(slots, k/2*half*4), half*4, unsafe.Add(dst, l/half*tile+k/asm.TileBlock*2*tile), half*4, half, 1<<half-1)
		}
	}
}

package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// Sizes for tiles, as measured on a processor with 2 MB of L2 cache for each core. They do not affect
// results.
const (
	tilesDepth    = 512       // elements of k in a block: a panel of B takes 32 KiB, which stays in the L1 cache
	tilesRows     = 512       // rows of an item, of which a block takes 512 KiB
	tilesCols     = 512       // and columns, whose sums take 1 MiB
	tilesTogether = 4         // panels of B that are packed together: memory is read at twice the rate if 256 bytes are adjacent
	tilesPackRows = 32        // rows of B that are packed at a time
	tilesStreamed = 256 << 10 // elements of a C of bfloat16 from which it is written with non-temporal stores
)

// tilesLeast is the minimum number of multiplications for tiles. Below it, packing costs more than they
// save.
const tilesLeast = 1 << 15

// fillsTiles reports whether a product is large enough for tiles.
func fillsTiles(f contraction, dst, x driver.View) bool {
	r := len(dst.Shape)
	m, n := axesOf(dst, r-f.n-f.m, f.m).len(), axesOf(dst, r-f.n, f.n).len()
	k := axesOf(x, len(x.Shape)-f.k, f.k).len()
	return m >= asm.TileLines/2 && n >= asm.TileLines/2 && m*n*k >= tilesLeast
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
	b, room := ws.panel(min(tilesTogether, panels)*step/4), ws.tile(lines*lines)
	t := &ws.panels
	for k0 := 0; k0 < g.k; k0 += g.depth {
		kc := min(g.depth, g.k-k0)
		*t = asm.Panels{K: g.slots(kc) / (asm.TileBlock / 2), Rows: height, A: a.at(p0, k0), StepA: a.step(k0), RowA: asm.TileBlock * 2, SlotA: lines * asm.TileBlock * 2}
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
			g.tier.Tiles(t)
		}
	}
	for j := whole; j < cols; j += lines {
		g.dst.put(batch, i0+p0*lines, j0+j, unsafe.Slice((*float32)(unsafe.Add(sums, j/lines*sumsStep)), height*lines), lines, min(lines, cols-j))
	}
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
	slots := ws.panel((tilesDepth/2 + 1) * half)
	for l := 0; l < lines; l += half {
		o.packSlots(slots, half, first+l, min(half, lines-l), k0, kc)
		for k := 0; k < kc; k += asm.TileBlock { // transpose slots to rows
			t.Packs.F32.Transpose(unsafe.Add(slots, k/2*half*4), half*4, unsafe.Add(dst, l/half*tile+k/asm.TileBlock*2*tile), half*4, half, 1<<half-1)
		}
	}
}

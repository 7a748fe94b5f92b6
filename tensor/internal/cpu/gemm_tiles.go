package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// tilesDepth is the number of elements of k that are packed at a time for tiles. A panel of B then takes
// 32 KiB, which stays in the L1 cache.
const tilesDepth = 512

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

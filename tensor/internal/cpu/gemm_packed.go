package cpu

import "unsafe"

// packed holds packed rows of A: for each block of k, the panels one after the other.
type packed struct {
	room   *workBuffer
	panels int
	width  int  // width of a panel
	lines  int  // number of lines in a panel, except the last; few panels share the lines evenly, because short panels are slow
	byLine bool // slots of a line are adjacent; otherwise those of a column
	depth  int
	full   int // bytes of a panel of a whole block
	last   int // bytes of a panel of the last block
	blocks int

	from    operand // A
	first   int     // its row that is the first of panel 0
	inPlace int     // number of panels, the first ones, that are not packed but read in place by tiles
}

// panelSize returns the bytes of a panel, with room behind it because packs write 16 slots at a time.
func panelSize(width, slots int) int { return width*slots*4 + 64 }

// lineSize returns the bytes of a line whose slots are adjacent, with room behind it.
func lineSize(slots int) int { return slots*4 + 64 }

// evenPanels is the number of panels below which panels share the lines evenly.
const evenPanels = 4

// packedOf returns room for rows i0 … i0+rows-1 of A.
func packedOf(g *gemm, x operand, i0, rows int) packed {
	p := packed{width: g.mr, panels: (rows + g.mr - 1) / g.mr, depth: g.depth, blocks: (g.k + g.depth - 1) / g.depth, from: x, first: i0}
	p.lines = p.width
	if p.panels < evenPanels && !g.tiles {
		p.lines = (rows + p.panels - 1) / p.panels
	}
	size := panelSize
	if p.byLine = g.pairs && !g.tiles && x.keepsLines(); p.byLine {
		size = func(width, slots int) int { return width * lineSize(slots) }
	}
	p.full = size(p.width, g.slots(g.depth))
	p.last = size(p.width, g.slots(g.k-(p.blocks-1)*g.depth))
	if g.readsInPlace(x) {
		p.inPlace = rows / g.mr
	}
	if p.inPlace < p.panels {
		p.room = takeBytes((p.panels - p.inPlace) * ((p.blocks-1)*p.full + p.last))
	}
	return p
}

func (p *packed) free() {
	if p.room != nil {
		p.room.give()
	}
}

// at returns the address of packed panel i in the block that starts at k0.
func (p *packed) at(i, k0 int) unsafe.Pointer {
	return unsafe.Add(p.room.base, (p.panels-p.inPlace)*p.full*(k0/p.depth)+(i-p.inPlace)*p.step(k0))
}

// step returns the distance between panels in the block that starts at k0, in bytes.
func (p *packed) step(k0 int) int {
	if k0/p.depth == p.blocks-1 {
		return p.last
	}
	return p.full
}

// strides returns the distances between lines and between slots of a line, in bytes, of a block with a
// number of slots.
func (p *packed) strides(slots int) (line, slot int) {
	if p.byLine {
		return lineSize(slots), 4
	}
	return 4, p.width * 4
}

// pack packs panel i of a number of rows.
func (p *packed) pack(g *gemm, rows, i int) {
	if i < p.inPlace {
		return
	}
	x, i0 := p.from, p.first
	if x.turned {
		var room *workBuffer
		x, room = x.straight(i0+i*p.lines, min(p.lines, rows-i*p.lines))
		defer room.give()
		i0 = -i * p.lines
	}
	for k0 := 0; k0 < g.k; k0 += g.depth {
		to, first, lines, kc := p.at(i, k0), i0+i*p.lines, min(p.lines, rows-i*p.lines), min(g.depth, g.k-k0)
		switch {
		case g.tiles:
			x.packTileRows(g.tier, to, first, lines, k0, kc)
		case p.byLine:
			x.packing.Lines(x.element(first, k0), x.across, to, lineSize(g.slots(kc)), kc, 1<<lines-1)
		default:
			x.pack(to, p.width, first, lines, k0, kc)
		}
	}
}

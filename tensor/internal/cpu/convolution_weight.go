package cpu

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// windowWeight is the weight of a convolution as panels of A: the slots of each row one after the other, in the order
// (kernel, channel).
type windowWeight struct {
	view    driver.View // (o, c, kernel…)
	taps    int         // elements of the kernel
	tap     int         // bytes of one of them in a row
	line    int         // bytes of a row
	panels  int
	room    *workBuffer  // all panels, or nil if items pack those that they need
	special *atomic.Bool // whether an infinity or NaN has been packed: its product with a zero around an image is not zero
}

const (
	panelRows   = 14     // rows of a panel
	bfloat16Inf = 0x7f80 // bits of infinity
)

func newWindowWeight(w driver.View, taps int) windowWeight {
	o, c := w.Shape[0], w.Shape[1]
	return windowWeight{view: w, taps: taps, tap: c * 2, line: lineSize(c * taps / 2), panels: (o + panelRows - 1) / panelRows, special: new(atomic.Bool)}
}

// finite reports whether all elements packed so far are finite.
func (w *windowWeight) finite() bool { return !w.special.Load() }

// roomFor returns the bytes of room that an item needs for a panel.
func (w *windowWeight) roomFor() int {
	if w.room != nil {
		return 0
	}
	return panelRows * w.line
}

// packAll packs all panels into a room, which it returns.
func (w *windowWeight) packAll(t *asm.Tier, b *Backend) *workBuffer {
	room := takeBytes((w.view.Shape[0] + 1) * w.line) // the last panel may have one row more
	b.each(w.panels, func(i int) {
		own := takeBytes(asm.WeaveRoom)
		defer own.give()
		w.pack(t, &asm.Weave{Room: own.base}, i, unsafe.Add(room.base, i*panelRows*w.line))
	})
	w.room = room
	return room
}

// panel returns panel i. It packs it into to unless all panels are packed.
func (w *windowWeight) panel(t *asm.Tier, at *asm.Weave, i int, to unsafe.Pointer) unsafe.Pointer {
	if w.room != nil {
		return unsafe.Add(w.room.base, i*panelRows*w.line)
	}
	w.pack(t, at, i, to)
	return to
}

// ahead returns the address of the memory that is read first for panel i.
func (w *windowWeight) ahead(i int) uintptr {
	if w.room != nil {
		return uintptr(unsafe.Add(w.room.base, i*panelRows*w.line))
	}
	return uintptr(unsafe.Add(baseOf(w.view), (w.view.Offset+i*panelRows*w.view.Stride[0])*2))
}

// pack packs panel i into to. at has a Room.
func (w *windowWeight) pack(t *asm.Tier, at *asm.Weave, i int, to unsafe.Pointer) {
	const size = 2
	row, channel, first := w.view.Stride[0]*size, w.view.Stride[1]*size, i*panelRows
	from := unsafe.Add(baseOf(w.view), w.view.Offset*size+first*row+2*channel)
	*at = asm.Weave{
		Stride: channel, Skip: 2 * channel, Second: -2 * channel, SrcStep: asm.TileBlock * channel,
		DstStride: w.tap, DstStep: asm.TileBlock * size, Lines: 16, Words: 32, Times: w.view.Shape[1] / asm.TileBlock, Room: at.Room,
	}
	most := unsafe.Slice((*uint16)(at.Room), 32)
	clear(most)
	for r := range min(panelRows, w.view.Shape[0]-first) {
		for k := 0; k < w.taps; k += asm.WeaveFew {
			at.Src, at.Dst, at.N = unsafe.Add(from, r*row+k*size), unsafe.Add(to, r*w.line+k*w.tap), min(asm.WeaveFew, w.taps-k)
			t.Selects.Weave(at)
		}
	}
	if slices.Max(most) >= bfloat16Inf {
		w.special.Store(true)
	}
}

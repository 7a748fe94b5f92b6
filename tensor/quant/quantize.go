package quant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/internal/asm"
)

var memory = tensor.Internal(plumbing.Token{}).Memory

// Quantize returns x (…, n) stored by a scheme. x is float32, or float16 or bfloat16, which become float32 without loss. Blocks run along the
// last dimension: to quantise along another one, transpose first. The result is on the CPU and carries no gradient.
//
// A block with an infinity or NaN gets the scale NaN, so that all of it reads as NaN. [Cast], which has no scales, rounds those
// numbers by its rule.
//
// It panics if x has another dtype or a shape that the scheme cannot store.
func Quantize(x *tensor.Tensor, s Scheme) *Tensor { return quantize(x, s, asm.Best()) }

// quantize is Quantize with the kernels of a tier, or in Go if that is nil.
func quantize(x *tensor.Tensor, s Scheme, tier *asm.Tier) *Tensor {
	if x == nil || s == nil {
		fail("Quantize", nil, errors.New("a nil tensor or scheme"))
	}
	p, err := s.plan()
	if err != nil {
		fail("Quantize", x, err)
	}
	g, err := p.over(x.Shape())
	if err != nil {
		fail("Quantize", x, err)
	}
	switch x.DType() {
	case tensor.Float16, tensor.BFloat16, tensor.Float32:
	default:
		fail("Quantize", x, fmt.Errorf("want float32, bfloat16 or float16; convert with x.Float()"))
	}
	q := newTensor(s, g, x.Shape())
	x = x.Detach().ToDevice(tensor.CPU).Float().Contiguous()
	w := &writer{grid: g, src: floats(x), codes: bytes(q.codes), encoder: newEncoder(p.element.spec(), tier)}
	if q.scales != nil {
		if g.scales == floatScale {
			w.floats = floats(q.scales)
		} else {
			w.scales = bytes(q.scales)
		}
	}
	if q.zeros != nil {
		w.zeros = bytes(q.zeros)
	}
	w.run()
	q.global = w.stored
	if w.unknown.Load() {
		fail("Quantize", x, fmt.Errorf("the tensor has NaN, for which %v has no code; use a format with NaN, such as %v, or a scheme with scales, such as quant.MXFP8", p.element, E4M3FN))
	}
	return q
}

// bytes returns the memory of a contiguous uint8 or int8 tensor on the CPU.
func bytes(t *tensor.Tensor) []uint8 { return memory.Bytes(t, true) }

// floats returns the memory of a contiguous float32 tensor on the CPU.
func floats(t *tensor.Tensor) []float32 {
	b := memory.Bytes(t, false)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// writer converts a tensor.
type writer struct {
	grid
	encoder
	src    []float32
	codes  []uint8
	scales []uint8   // one of scales and floats is set, if there are scales
	floats []float32 // of floatScale
	zeros  []uint8

	amax    []uint32    // largest magnitudes of blocks, for a scheme with a scale of the tensor
	stored  float32     // that scale
	global  float32     // factor for the rule
	all     *blocks     // the block that is the whole tensor
	unknown atomic.Bool // whether a NaN has no code
}

// share is the least number of elements that a goroutine takes at a time.
const share = 1 << 15

// run converts all rows.
func (w *writer) run() {
	switch {
	case w.height*w.width == 0:
		return
	case w.scales == nil && w.floats == nil:
	case w.scaleShape == nil:
		w.all = newBlocks(1)
		w.choose(w.all, w.overall())
		w.store(0, w.all)
	case w.grid.scales == e4m3Scale:
		w.prepare()
	}
	tall := max(w.rows, 1)
	if w.rows == 0 {
		tall = 1 // the scale is known
	}
	band := tall * max(1, share/(tall*w.width))
	_, across, _ := w.at()
	eachWith(ceil(w.height, band), func() *room { return newRoom(across, w.width) }, func(m *room, i int) {
		for r := i * band; r < min((i+1)*band, w.height); r += tall {
			w.band(r, min(r+tall, w.height), m)
		}
	})
}

// room holds the largest magnitudes of a row, the ranges and scales of the blocks of a band, and the codes of a row.
type room struct {
	row    []uint32
	spans  spans
	blocks *blocks
	codes  []uint8
}

func newRoom(across, width int) *room {
	return &room{make([]uint32, across), newSpans(across), newBlocks(across), make([]uint8, width)}
}

// overall returns the range of the whole tensor, of a rule without zero points.
func (w *writer) overall() spans {
	parts := make([]uint32, ceil(len(w.src), share))
	each(len(parts), func(i int) { parts[i] = w.most(w.src[i*share : min((i+1)*share, len(w.src))]) })
	s := newSpans(1)
	s.amax[0] = slices.Max(parts)
	return s
}

// prepare finds the largest magnitudes of blocks, and the scale of the tensor from those that are finite.
func (w *writer) prepare() {
	cols, across, _ := w.at()
	w.amax = make([]uint32, w.height*across)
	most := make([]uint32, w.height)
	rows := max(1, share/w.width)
	each(ceil(w.height, rows), func(i int) {
		for r := i * rows; r < min((i+1)*rows, w.height); r++ {
			row := w.amax[r*across : (r+1)*across]
			w.largest(row, w.src[r*w.width:(r+1)*w.width], cols)
			if most[r] = w.mostBits(row); most[r] < infBits {
				continue
			}
			most[r] = 0
			for _, a := range row {
				if a < infBits {
					most[r] = max(most[r], a)
				}
			}
		}
	})
	w.stored, w.global = w.rule.(global).global(math.Float32frombits(slices.Max(most)))
}

// choose sets out to the scales for ranges. It reports whether all are finite.
func (w *writer) choose(out *blocks, of spans) (finite bool) {
	w.rule.choose(out, of, w.global)
	if finite = w.mostBits(of.amax) < infBits; finite {
		return true
	}
	for i, a := range of.amax {
		if a >= infBits {
			nan := float32(math.NaN())
			code := E8M0.spec().nan
			if w.grid.scales == e4m3Scale {
				code = E4M3FN.spec().nan
			}
			out.codes[i], out.scales[i], out.zeros[i], out.factors[i] = uint8(code), nan, 0, nan
		}
	}
	return finite
}

// store stores the scales of blocks from number i on.
func (w *writer) store(i int, of *blocks) {
	if w.floats != nil {
		copy(w.floats[i:], of.scales)
	} else {
		copy(w.scales[i:], of.codes)
	}
	if w.zeros != nil {
		for j, z := range of.zeros {
			w.zeros[i+j] = uint8(int8(z))
		}
	}
}

// band converts rows from to below to, the height of a block.
func (w *writer) band(from, to int, m *room) {
	cols, across, rows := w.at()
	of, finite := w.all, true
	switch {
	case w.plan.scales == noScale:
		of = m.blocks // not read
	case w.scaleShape == nil:
		finite = of.factors[0] == of.factors[0]
	default:
		w.ranges(from, to, m)
		of = m.blocks
		finite = w.choose(of, m.spans)
		for r := from; r < to; r += rows {
			w.store(r/rows*across, of)
		}
	}
	for r := from; r < to; r++ {
		if w.plan.scales != noScale && w.rounding == Nearest {
			w.row(r, cols, finite, of, m.codes)
			continue
		}
		for c := range across {
			w.segment(r*w.width+c*cols, m.codes[c*cols:min((c+1)*cols, w.width)], of.factors[c], of.limits[c])
		}
		w.pack(r, m.codes)
	}
}

// ranges finds the ranges of the blocks of a band.
func (w *writer) ranges(from, to int, m *room) {
	cols, across, _ := w.at()
	whole := w.width / cols * cols // columns in blocks of full width
	for r := from; r < to; r++ {
		src, row := w.src[r*w.width:(r+1)*w.width], m.row
		if r == from {
			row = m.spans.amax
		}
		if w.amax != nil {
			copy(row, w.amax[r*across:])
		} else {
			w.largest(row, src[:whole], cols)
			if whole < w.width {
				row[across-1] = absmax(0, src[whole:])
			}
		}
		if r > from {
			for c, a := range row {
				m.spans.amax[c] = max(m.spans.amax[c], a)
			}
		}
		if hasZeros(w.grid) { // blocks of one row
			w.encoder.ranges(m.spans.lo, m.spans.hi, src, cols)
		}
	}
}

// row converts a row whose factors and limits are known.
func (w *writer) row(r, cols int, finite bool, of *blocks, room []uint8) {
	whole := w.width / cols * cols
	bits := w.element.Bits()
	src, dst := w.src[r*w.width:(r+1)*w.width], room
	if bits == 8 {
		dst = w.codes[r*w.width : (r+1)*w.width]
	}
	if w.plan.zeros { // whole blocks only
		w.integers(dst, src, cols, of.factors, of.zeros, bits)
	} else {
		w.blocks(dst, src[:whole], cols, of.factors, of.limits)
	}
	if whole < w.width {
		w.nearest(dst[whole:], src[whole:], of.factors[whole/cols], of.limits[whole/cols])
	}
	if !finite {
		for c, f := range of.factors {
			if f != f {
				clear(dst[c*cols : min((c+1)*cols, w.width)])
			}
		}
	}
	if bits != 8 {
		w.pack(r, dst)
	}
}

// segment sets dst to the codes of the elements from number at on, which belong to one block.
func (w *writer) segment(at int, dst []uint8, factor, limit float32) {
	src := w.src[at : at+len(dst)]
	switch {
	case w.plan.scales == noScale:
		w.cast(dst, src, at)
	case factor != factor:
		clear(dst)
	default:
		w.rounded(dst, src, factor, limit, w.rounding, at)
	}
}

// pack stores the codes of a row.
func (w *writer) pack(r int, codes []uint8) {
	bits := w.element.Bits()
	pack(w.codes[packed(r*w.width, bits):], codes, bits, w.tier)
}

// cast converts numbers without a scale.
func (w *writer) cast(dst []uint8, src []float32, at int) {
	s := w.element.spec()
	if w.overflow == Saturate && s.kind <= fnuz && w.most(src) < infBits {
		if most := float32(s.value(s.top)); w.rounding == Nearest {
			w.nearest(dst, src, 1, most)
		} else {
			w.rounded(dst, src, 1, most, w.rounding, at)
		}
		return
	}
	for i, v := range src {
		if v != v && s.nan == none {
			w.unknown.Store(true)
		}
		dst[i] = uint8(s.encode(float64(v), w.rounding, w.overflow, at+i))
	}
}

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
)

var memory = tensor.Internal(plumbing.Token{}).Memory

// Quantize returns x (…, n) stored by a scheme. x is float32, or float16 or bfloat16, which become float32 without loss. Blocks run along the
// last dimension: to quantise along another one, transpose first. The result is on the CPU and carries no gradient.
//
// A block with an infinity or NaN gets the scale NaN, so that all of it reads as NaN. [Cast], which has no scales, rounds those
// numbers by its rule.
//
// It panics if x has another dtype or a shape that the scheme cannot store.
func Quantize(x *tensor.Tensor, s Scheme) *Tensor {
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
	w := &writer{grid: g, src: floats(x), codes: bytes(q.codes), encoder: newEncoder(p.element.spec())}
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
	all     block       // the block that is the whole tensor
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
		w.all = w.choose(w.overall())
		w.store(0, w.all)
	case w.grid.scales == e4m3Scale:
		w.prepare()
	}
	tall := max(w.rows, 1)
	if w.rows == 0 {
		tall = 1 // the scale is known
	}
	band := tall * max(1, share/(tall*w.width))
	each(ceil(w.height, band), func(i int) {
		for r := i * band; r < min((i+1)*band, w.height); r += tall {
			w.band(r, min(r+tall, w.height))
		}
	})
}

// overall returns the range of the whole tensor.
func (w *writer) overall() span {
	spans := make([]span, ceil(len(w.src), share))
	each(len(spans), func(i int) { spans[i] = w.spanOf(span{}, w.src[i*share:min((i+1)*share, len(w.src))]) })
	s := spans[0]
	for _, t := range spans[1:] {
		s = s.and(t)
	}
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
			for c := range across {
				at := r*w.width + c*cols
				a := absmax(0, w.src[at:at+cols])
				if w.amax[r*across+c] = a; a < infBits {
					most[r] = max(most[r], a)
				}
			}
		}
	})
	w.stored, w.global = w.rule.(global).global(math.Float32frombits(slices.Max(most)))
}

// span is the range of some numbers: the bits of the largest magnitude and, for a rule with zero points, the smallest and the largest number.
type span struct {
	amax   uint32
	lo, hi float32
}

func (s span) and(t span) span { return span{max(s.amax, t.amax), min(s.lo, t.lo), max(s.hi, t.hi)} }

// spanOf returns the range of s and x. Those of rules with zero points include 0.
func (w *writer) spanOf(s span, x []float32) span {
	s.amax = absmax(s.amax, x)
	if w.plan.zeros {
		for _, v := range x {
			s.lo, s.hi = min(s.lo, v), max(s.hi, v)
		}
	}
	return s
}

// choose returns the scale for a range.
func (w *writer) choose(s span) block {
	if s.amax >= infBits {
		nan := float32(math.NaN())
		code := E8M0.spec().nan
		if w.grid.scales == e4m3Scale {
			code = E4M3FN.spec().nan
		}
		return block{code: uint8(code), scale: nan, factor: nan}
	}
	if !w.plan.zeros {
		s.hi = math.Float32frombits(s.amax)
		s.lo = -s.hi
	}
	return w.rule.choose(s.lo, s.hi, w.global)
}

// store stores the scale of block i.
func (w *writer) store(i int, b block) {
	if w.floats != nil {
		w.floats[i] = b.scale
	} else {
		w.scales[i] = b.code
	}
	if w.zeros != nil {
		w.zeros[i] = uint8(int8(b.zero))
	}
}

// band converts rows from to below to, the height of a block.
func (w *writer) band(from, to int) {
	cols, across, rows := w.at()
	for c := range across {
		left, right := c*cols, min((c+1)*cols, w.width)
		b := w.all
		if w.scaleShape != nil {
			var s span
			for r := from; r < to; r++ {
				if w.amax != nil {
					s.amax = max(s.amax, w.amax[r*across+c])
				} else {
					s = w.spanOf(s, w.src[r*w.width+left:r*w.width+right])
				}
			}
			b = w.choose(s)
			for r := from; r < to; r += rows {
				w.store(r/rows*across+c, b)
			}
		}
		for r := from; r < to; r++ {
			w.segment(r*w.width+left, r*w.width+right, &b)
		}
	}
}

// segment converts elements from to below to, which belong to one block.
func (w *writer) segment(from, to int, b *block) {
	var buffer [512]uint8
	bits := w.element.Bits()
	for at := from; at < to; at += len(buffer) {
		src := w.src[at:min(at+len(buffer), to)]
		dst := buffer[:len(src)]
		switch {
		case w.plan.scales == noScale:
			w.cast(dst, src, at)
		case b.factor != b.factor:
			clear(dst)
		case w.plan.zeros:
			w.affine(dst, src, b)
		case w.rounding == Nearest:
			w.nearest(dst, src, b.factor, b.limit)
		default:
			w.rounded(dst, src, at, b)
		}
		pack(w.codes[packed(at, bits):], dst, bits)
	}
}

// rounded is nearest with another rounding.
func (w *writer) rounded(dst []uint8, src []float32, at int, b *block) {
	s := w.element.spec()
	for i, v := range src {
		y := min(max(v*b.factor, -b.limit), b.limit)
		dst[i] = uint8(s.encode(float64(y), w.rounding, Saturate, at+i))
	}
}

// cast converts numbers without a scale.
func (w *writer) cast(dst []uint8, src []float32, at int) {
	s := w.element.spec()
	if w.rounding == Nearest && w.overflow == Saturate && s.kind <= fnuz && absmax(0, src) < infBits {
		w.nearest(dst, src, 1, float32(s.value(s.top)))
		return
	}
	for i, v := range src {
		if v != v && s.nan == none {
			w.unknown.Store(true)
		}
		dst[i] = uint8(s.encode(float64(v), w.rounding, w.overflow, at+i))
	}
}

// affine converts numbers to integers with a zero point.
func (w *writer) affine(dst []uint8, src []float32, b *block) {
	bits := w.element.Bits()
	lowest := -float32(int(1) << (bits - 1))
	for i, v := range src {
		dst[i] = uint8(int8(min(max(roundEven(v*b.factor)+b.zero, lowest), -lowest-1)))
	}
}

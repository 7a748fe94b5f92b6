package quant

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"halfnote/tensor"
	"halfnote/tensor/internal/asm"
)

// Dequantize returns the numbers that q stores, as dtype d: each code's number times its scale, in float32, rounded to d. It panics unless d is
// a floating-point dtype.
func (q *Tensor) Dequantize(d tensor.DType) *tensor.Tensor { return q.dequantize(d, asm.Best()) }

// dequantize is Dequantize with the kernels of a tier, or in Go if that is nil.
func (q *Tensor) dequantize(d tensor.DType, tier *asm.Tier) *tensor.Tensor {
	q.given("Dequantize")
	if !d.IsFloat() {
		fail("Dequantize", nil, fmt.Errorf("to %v; want a floating-point dtype, such as tensor.Float32", d))
	}
	y := memory.Unset(tensor.Float32, q.shape...)
	r := &reader{Tensor: q, dst: floats(y), bytes: bytes(q.codes)}
	if q.zeros != nil {
		r.zeroPoints = bytes(q.zeros)
	}
	if q.scales != nil {
		r.scales = q.decoded()
	}
	if tier != nil {
		r.useKernels(tier)
	}
	if len(r.dst) > 0 {
		rows := max(1, share/q.grid.width)
		_, across, _ := q.grid.at()
		room := func() *readRoom {
			return &readRoom{make([]uint8, q.grid.width), make([]float32, across), make([]int32, across)}
		}
		eachWith(ceil(q.grid.height, rows), room, func(m *readRoom, i int) {
			for row := i * rows; row < min((i+1)*rows, q.grid.height); row++ {
				r.row(row, m)
			}
		})
	}
	return y.To(d)
}

func (q *Tensor) given(call string) {
	if q == nil || q.codes == nil {
		fail(call, nil, errors.New("a nil tensor; want one from quant.Quantize or quant.FromStateDict"))
	}
}

// scales holds the scales of blocks: float32, or codes and their numbers.
type scales struct {
	floats []float32
	codes  []uint8
	table  [256]float32
}

// decoded returns the scales of q's blocks.
func (q *Tensor) decoded() *scales {
	if q.grid.scales == floatScale {
		return &scales{floats: floats(q.scales)}
	}
	s := &scales{codes: bytes(q.scales)}
	for c := range s.table {
		if s.table[c] = decoding[E8M0][c]; q.grid.scales == e4m3Scale {
			s.table[c] = q.global * decoding[E4M3FN][c]
		}
	}
	return s
}

// from sets list to the scales of blocks from number first on.
func (s *scales) from(first int, list []float32) {
	if s.floats != nil {
		copy(list, s.floats[first:])
		return
	}
	for i, c := range s.codes[first : first+len(list)] {
		list[i] = s.table[c]
	}
}

// factors returns the scales of blocks in float32.
func (q *Tensor) factors() []float32 {
	list := make([]float32, q.scales.Numel())
	q.decoded().from(0, list)
	return list
}

// reader converts a tensor back.
type reader struct {
	*Tensor
	dst        []float32
	bytes      []uint8
	scales     *scales // nil without
	zeroPoints []uint8
	tier       *asm.Tier
	unit       float32                                                       // number of code 1, for a kernel of integers
	sign       int32                                                         // for a kernel of integers
	decode     func(dst, src unsafe.Pointer, blocks, width int, m *readRoom) // nil for portable code
}

// readRoom holds the codes, scales and zero points of a row.
type readRoom struct {
	codes   []uint8
	factors []float32
	zeros   []int32
}

// useKernels makes r use those of a tier that suit its format.
func (r *reader) useKernels(tier *asm.Tier) {
	s := r.grid.element.spec()
	if c, ok := decodingOf(s); ok && tier.Loops.Decode != nil {
		r.tier, r.decode = tier, func(dst, src unsafe.Pointer, blocks, width int, m *readRoom) {
			tier.Loops.Decode(dst, src, blocks, width, unsafe.Pointer(&m.factors[0]), &c)
		}
	}
	if (s.kind == twos || s.kind == symmetric) && tier.Loops.DecodeIntegers != nil {
		r.unit, r.sign = float32(s.value(1)), 1<<(s.bits()-1)
		r.tier, r.decode = tier, func(dst, src unsafe.Pointer, blocks, width int, m *readRoom) {
			for i := range m.zeros {
				m.factors[i], m.zeros[i] = m.factors[i]*r.unit, m.zeros[i]+r.sign
			}
			tier.Loops.DecodeIntegers(dst, src, blocks, width, unsafe.Pointer(&m.factors[0]), unsafe.Pointer(&m.zeros[0]), int(r.sign))
		}
	}
}

// decodingOf describes s for a kernel. It reports false for formats that kernels lack.
func decodingOf(s *spec) (d asm.Decoding, ok bool) {
	if s.kind != signed || s.inf != none {
		return d, false
	}
	sign := s.bits() - 1
	return asm.Decoding{
		Magic: float32(math.Ldexp(1, 1-s.bias-s.mantissa+23)), Magnitude: 1<<sign - 1, Normal: 1 << s.mantissa,
		Rebias: uint32(127-s.bias) << 23, Top: uint32(s.top), NaN: math.Float32bits(float32(math.NaN())), Shift: uint64(23 - s.mantissa), Sign: uint64(31 - sign),
	}, true
}

// row converts a row.
func (r *reader) row(row int, m *readRoom) {
	g := &r.grid
	cols, across, rows := g.at()
	for c := range m.factors {
		m.factors[c], m.zeros[c] = 1, 0
	}
	if r.scales != nil {
		r.scales.from(row/rows*across, m.factors)
	}
	if r.zeroPoints != nil {
		for c, z := range r.zeroPoints[row/rows*across:][:across] {
			m.zeros[c] = int32(int8(z))
		}
	}
	if r.decode == nil || cols%16 != 0 || g.width%cols != 0 {
		r.portable(row, m)
		return
	}
	bits := g.element.Bits()
	codes := r.bytes[packed(row*g.width, bits):packed((row+1)*g.width, bits)]
	if bits != 8 {
		unpack(m.codes, codes, bits, r.tier)
		codes = m.codes
	}
	dst := r.dst[row*g.width:]
	r.decode(unsafe.Pointer(&dst[0]), unsafe.Pointer(&codes[0]), across, cols, m)
}

// portable is row in Go, with the row's scales and zero points.
func (r *reader) portable(row int, m *readRoom) {
	g := &r.grid
	bits := g.element.Bits()
	table := &decoding[g.element]
	cols, across, _ := g.at()
	var buffer [512]uint8
	for c := range across {
		factor, zero := m.factors[c], float32(m.zeros[c])
		from, to := row*g.width+c*cols, row*g.width+min((c+1)*cols, g.width)
		for at := from; at < to; at += len(buffer) {
			dst := r.dst[at:min(at+len(buffer), to)]
			codes := buffer[:len(dst)]
			unpack(codes, r.bytes[packed(at, bits):], bits, nil)
			if zero != 0 {
				for i, code := range codes {
					dst[i] = float32(table[code]-zero) * factor
				}
				continue
			}
			for i, code := range codes {
				dst[i] = table[code] * factor
			}
		}
	}
}

// At returns one number that q stores. Negative indices count from the end. It panics unless there is one index per dimension, within its range.
func (q *Tensor) At(index ...int) float64 {
	q.given("At")
	if len(index) != len(q.shape) {
		fail("At", nil, fmt.Errorf("%d indices for %d dimensions", len(index), len(q.shape)))
	}
	at := 0
	for d, i := range index {
		if i < -q.shape[d] || i >= q.shape[d] {
			fail("At", nil, fmt.Errorf("index %d in a dimension of %d", i, q.shape[d]))
		}
		if i < 0 {
			i += q.shape[d]
		}
		at = at*q.shape[d] + i
	}
	cols, across, rows := q.grid.at()
	row, col := at/q.grid.width, at%q.grid.width
	bits := q.grid.element.Bits()
	first := at &^ 3 // four codes are whole bytes in every format
	codes := make([]uint8, min(4, q.grid.height*q.grid.width-first))
	unpack(codes, bytes(q.codes)[packed(first, bits):], bits, nil)
	x := decoding[q.grid.element][codes[at-first]]
	if q.scales == nil {
		return float64(x)
	}
	block := row/rows*across + col/cols
	if q.zeros != nil {
		x -= float32(int8(bytes(q.zeros)[block]))
	}
	return float64(float32(x * q.factors()[block]))
}

// Scales returns the scale of each block as float32, by which Dequantize multiplies: of shape (…, blocks) or, for blocks of several rows,
// (blocks down, blocks across). It is a scalar for a scale of the whole tensor, and nil for [Cast].
func (q *Tensor) Scales() *tensor.Tensor {
	q.given("Scales")
	if q.scales == nil {
		return nil
	}
	return tensor.FromFloat32s(q.factors(), max(len(q.factors()), 0)).Reshape(q.scales.Shape()...)
}

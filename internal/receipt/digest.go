package receipt

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"halfnote/internal/text"
)

// Digest identifies the elements of a tensor, and narrows down where two tensors differ. Its text is a line: dtype, shape and sums in base64.
//
// The hash is the sum of a hash of each element with its position: splitmix64's finaliser, of Steele, Lea and Flood, 2014. It guards against
// accidents, not against forgery. All NaNs count as equal: processors disagree on their bits.
type Digest struct {
	DType   string
	Shape   []int
	Hash    uint64
	Moments [3]uint64 // sum of the elements' bits, sum of these sums after each element, and sum of those
	Blocks  []uint16  // hashes of up to maxBlocks equal parts
}

// maxBlocks is the maximum number of blocks: a tensor with as many elements or fewer has a block for each.
const maxBlocks = 16

// elements are the element types: their size, the bits without the sign, infinity's bits (of a type without infinity, those of the largest
// number) and the bits that stand for every NaN. Elements of other types have no NaN.
var elements = map[string]element{
	"float64":       {8, 1<<63 - 1, 0x7ff << 52, 0x7ff8 << 48},
	"float32":       {4, 1<<31 - 1, 0xff << 23, 0x7fc << 20},
	"float16":       {2, 1<<15 - 1, 0x7c00, 0x7e00},
	"bfloat16":      {2, 1<<15 - 1, 0x7f80, 0x7fc0},
	"float8_e5m2":   {1, 1<<7 - 1, 0x7c, 0x7e},
	"float8_e4m3fn": {1, 1<<7 - 1, 0x7e, 0x7f},
	"int64":         {8, 0, 0, 0},
	"int32":         {4, 0, 0, 0},
	"int16":         {2, 0, 0, 0},
	"int8":          {1, 0, 0, 0},
	"uint8":         {1, 0, 0, 0},
	"bool":          {1, 0, 0, 0},
}

type element struct {
	size              int
	without, inf, nan uint64
}

// Writer makes the digest of the elements that are written to it, row-major and little-endian, whole elements at a time.
type Writer struct {
	d     Digest
	e     element
	block int // elements of a block
	at    int // number of elements so far
	sum   uint64
}

// NewWriter returns a writer for a tensor. The dtype has torch's name, such as float32; NewWriter panics for an unknown one.
func NewWriter(dtype string, shape ...int) *Writer {
	e, ok := elements[dtype]
	if !ok {
		panic("receipt: no dtype " + strconv.Quote(dtype))
	}
	w := &Writer{d: Digest{DType: dtype, Shape: slices.Clone(shape)}, e: e}
	w.block = blockSize(w.d.count())
	return w
}

// Of returns the digest of a tensor that write writes.
func Of(dtype string, shape []int, write func(io.Writer) (int64, error)) (Digest, error) {
	w := NewWriter(dtype, shape...)
	_, err := write(w)
	return w.Digest(), err
}

// count returns the number of elements.
func (d Digest) count() int {
	n := 1
	for _, size := range d.Shape {
		n *= size
	}
	return n
}

func blockSize(n int) int { return max(1, (n+maxBlocks-1)/maxBlocks) }

// Write implements io.Writer. It never fails.
func (w *Writer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest)/w.e.size, w.block-w.at%w.block)
		w.part(rest[:n*w.e.size])
		rest = rest[n*w.e.size:]
		if w.at%w.block == 0 {
			w.endBlock()
		}
	}
	return len(p), nil
}

func (w *Writer) endBlock() {
	w.d.Blocks = append(w.d.Blocks, uint16(w.sum>>48))
	w.d.Hash += w.sum
	w.sum = 0
}

// part adds elements of one block.
func (w *Writer) part(p []byte) {
	var room [256]uint64
	for len(p) > 0 {
		bits := room[:min(len(room), len(p)/w.e.size)]
		read(bits, p, w.e.size)
		w.add(bits)
		p = p[len(bits)*w.e.size:]
	}
}

// read sets bits to the first elements of p.
func read(bits []uint64, p []byte, size int) {
	switch size {
	case 1:
		for i := range bits {
			bits[i] = uint64(p[i])
		}
	case 2:
		for i := range bits {
			bits[i] = uint64(binary.LittleEndian.Uint16(p[2*i:]))
		}
	case 4:
		for i := range bits {
			bits[i] = uint64(binary.LittleEndian.Uint32(p[4*i:]))
		}
	case 8:
		for i := range bits {
			bits[i] = binary.LittleEndian.Uint64(p[8*i:])
		}
	}
}

func (w *Writer) add(bits []uint64) {
	at, sum, m0, m1, m2 := uint64(w.at)*golden, w.sum, w.d.Moments[0], w.d.Moments[1], w.d.Moments[2]
	without, inf, nan := w.e.without, w.e.inf, w.e.nan
	for _, b := range bits {
		if b&without > inf {
			b = nan
		}
		at += golden
		sum += mix(b + at)
		m0 += b
		m1 += m0
		m2 += m1
	}
	w.sum, w.d.Moments, w.at = sum, [3]uint64{m0, m1, m2}, w.at+len(bits)
}

const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Mix returns a hash of an earlier hash and a digest's.
func Mix(before, hash uint64) uint64 { return mix(before*golden + hash) }

// Digest returns the digest of what was written.
func (w *Writer) Digest() Digest {
	if w.at%w.block != 0 {
		w.endBlock()
	}
	return w.d
}

// String returns the digest as a line that Parse reads.
func (d Digest) String() string {
	b := binary.LittleEndian.AppendUint64(nil, d.Hash)
	for _, m := range d.Moments {
		b = binary.LittleEndian.AppendUint64(b, m)
	}
	for _, h := range d.Blocks {
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return fmt.Sprintf("%s%v %s", d.DType, d.Shape, base64.RawStdEncoding.EncodeToString(b))
}

// Parse returns the digest that a line holds.
func Parse(line string) (d Digest, err error) {
	wrong := func() (Digest, error) { return d, fmt.Errorf("receipt: %q is not the digest of a tensor", line) }
	dtype, rest, ok := strings.Cut(line, "[")
	shape, sums, ok2 := strings.Cut(rest, "] ")
	b, err := base64.RawStdEncoding.DecodeString(sums)
	if !ok || !ok2 || err != nil || elements[dtype].size == 0 || len(b) < 32 || len(b)%2 != 0 {
		return wrong()
	}
	d.DType = dtype
	for word := range strings.FieldsSeq(shape) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return wrong()
		}
		d.Shape = append(d.Shape, n)
	}
	d.Hash = binary.LittleEndian.Uint64(b)
	for i := range d.Moments {
		d.Moments[i] = binary.LittleEndian.Uint64(b[8+8*i:])
	}
	for b = b[32:]; len(b) > 0; b = b[2:] {
		d.Blocks = append(d.Blocks, binary.LittleEndian.Uint16(b))
	}
	if n := d.count(); n < 0 || len(d.Blocks) != (n+blockSize(n)-1)/blockSize(n) {
		return wrong()
	}
	return d, nil
}

// Equal reports whether two digests are of equal tensors.
func (d Digest) Equal(e Digest) bool {
	return d.DType == e.DType && slices.Equal(d.Shape, e.Shape) && d.Hash == e.Hash && d.Moments == e.Moments
}

// Only returns the only element in which d's tensor differs from was, and the difference of its bits. ok is false if
// several elements differ, or if the digests do not show which.
func (d Digest) Only(was Digest) (index int, bits int64, ok bool) {
	if d.DType != was.DType || !slices.Equal(d.Shape, was.Shape) {
		return 0, 0, false
	}
	_, differing := d.differing(was)
	delta := int64(d.Moments[0] - was.Moments[0])
	if differing > 1 || delta == 0 { // one that differs may have the same 16 bits
		return 0, 0, false
	}
	// An element k places from the end, 1 for the last, counts k times in the second moment and
	// k(k+1)/2 times in the third. Differences of several elements can fit a place in the second, but not in both.
	for i := range d.count() {
		k := uint64(d.count() - i)
		if k*uint64(delta) == d.Moments[1]-was.Moments[1] && k*(k+1)/2*uint64(delta) == d.Moments[2]-was.Moments[2] {
			return i, delta, true
		}
	}
	return 0, 0, false
}

// differing returns the first block that differs and the number of those that do.
func (d Digest) differing(was Digest) (first, n int) {
	for i := range d.Blocks {
		if d.Blocks[i] != was.Blocks[i] {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	return first, n
}

// Against says how d's tensor differs from one that was recorded, or "" if it does not. With at, which returns the
// bits of one of d's elements, it shows the numbers of an element that alone differs.
func (d Digest) Against(was Digest, at func(i int) uint64) string {
	switch {
	case d.Equal(was):
		return ""
	case d.DType != was.DType:
		return fmt.Sprintf("its dtype is %s; recorded %s", d.DType, was.DType)
	case !slices.Equal(d.Shape, was.Shape):
		return fmt.Sprintf("its shape is %s; recorded %s", text.Shape(d.Shape), text.Shape(was.Shape))
	}
	if i, bits, ok := d.Only(was); ok {
		place := d.place(i)
		if at == nil {
			return fmt.Sprintf("%s differs by %+d in its bits, and no other element does", place, bits)
		}
		now := at(i)
		return fmt.Sprintf("%s is %s; recorded %s; no other element differs", place, d.number(now), d.number(now-uint64(bits)))
	}
	first, n := d.differing(was)
	size, count := blockSize(d.count()), d.count()
	switch {
	case n == 0:
		return "some elements differ"
	case size == 1 && n == count:
		return fmt.Sprintf("all %s differ", text.Count(n, "element"))
	case size == 1:
		return fmt.Sprintf("%d of %s differ, the first is %s", n, text.Count(count, "element"), d.place(first))
	}
	return fmt.Sprintf("the first difference is from %s to %s; %d of its %d parts differ", d.place(first*size), d.index(min(count, (first+1)*size)-1), n, len(d.Blocks))
}

// place names an element.
func (d Digest) place(i int) string {
	if len(d.Shape) == 0 {
		return "its element"
	}
	return "element " + d.index(i)
}

// index returns the index of element i, counted row by row, as text: [1, 5].
func (d Digest) index(i int) string {
	index := make([]int, len(d.Shape))
	for k := len(index) - 1; k >= 0; k-- {
		index[k] = i % d.Shape[k]
		i /= d.Shape[k]
	}
	return "[" + strings.Trim(text.Shape(index), "(,)") + "]"
}

// number returns the number that bits stand for, and the bits.
func (d Digest) number(bits uint64) string {
	hex := fmt.Sprintf("0x%0*x", 2*elements[d.DType].size, bits)
	switch d.DType {
	case "float32":
		return fmt.Sprintf("%v (%s)", math.Float32frombits(uint32(bits)), hex)
	case "bfloat16":
		return fmt.Sprintf("%v (%s)", math.Float32frombits(uint32(bits)<<16), hex)
	case "float64":
		return fmt.Sprintf("%v (%s)", math.Float64frombits(bits), hex)
	case "int64", "int32", "int16", "int8":
		shift := 64 - 8*elements[d.DType].size
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	case "uint8", "bool":
		return strconv.FormatUint(bits, 10)
	}
	return hex
}

// Text returns a hash of a text.
func Text(s string) (h uint64) {
	for i := range len(s) {
		h = (h + uint64(s[i]) + 1) * golden
	}
	return mix(h)
}

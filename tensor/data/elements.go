package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// element is a type of number in files. Types that tensors lack become the next wider type
// that holds all their values.
type element struct {
	name  string                  // safetensors' name
	npy   string                  // numpy's kind and size, "" if it has none
	idx   byte                    // IDX's code, 0 if it has none
	size  int                     // bytes in the file, if it can be read
	bits  int                     // bits in the file
	dtype tensor.DType            // 0 if it cannot be read
	value func(code byte) float64 // the number of a code, for types that become bfloat16
}

// elements are in reverse order of the tensors in safetensors files: the order of Dtype in
// safetensors/src/tensor.rs.
var elements = []element{
	{"BOOL", "b1", 0, 1, 8, tensor.Bool, nil},
	{"F4", "", 0, 0, 4, 0, nil},
	{"F6_E2M3", "", 0, 0, 6, 0, nil},
	{"F6_E3M2", "", 0, 0, 6, 0, nil},
	{"U8", "u1", 0x08, 1, 8, tensor.Uint8, nil},
	{"I8", "i1", 0x09, 1, 8, tensor.Int8, nil},
	{"F8_E5M2", "", 0, 1, 8, tensor.Float8E5M2, nil},
	{"F8_E4M3", "", 0, 1, 8, tensor.Float8E4M3, nil},
	{"F8_E8M0", "", 0, 1, 8, tensor.BFloat16, quant.E8M0.Decode},
	{"F8_E4M3FNUZ", "", 0, 1, 8, tensor.BFloat16, quant.E4M3FNUZ.Decode},
	{"F8_E5M2FNUZ", "", 0, 1, 8, tensor.BFloat16, quant.E5M2FNUZ.Decode},
	{"I16", "i2", 0x0b, 2, 16, tensor.Int16, nil},
	{"U16", "u2", 0, 2, 16, tensor.Int32, nil},
	{"F16", "f2", 0, 2, 16, tensor.Float16, nil},
	{"BF16", "", 0, 2, 16, tensor.BFloat16, nil},
	{"I32", "i4", 0x0c, 4, 32, tensor.Int32, nil},
	{"U32", "u4", 0, 4, 32, tensor.Int64, nil},
	{"F32", "f4", 0x0d, 4, 32, tensor.Float32, nil},
	{"C64", "", 0, 0, 64, 0, nil},
	{"F64", "f8", 0x0e, 8, 64, tensor.Float64, nil},
	{"I64", "i8", 0, 8, 64, tensor.Int64, nil},
	{"U64", "u8", 0, 8, 64, 0, nil},
}

// find returns the first element for which is holds, or nil.
func find(is func(e *element) bool) *element {
	for i := range elements {
		if is(&elements[i]) {
			return &elements[i]
		}
	}
	return nil
}

// exactly returns the element type that d is written as.
func exactly(d tensor.DType) *element {
	return find(func(e *element) bool { return e.dtype == d && e.size == d.Size() })
}

// readable lists the names of the element types that can be read.
func readable(name func(e *element) string) string {
	var names []string
	for i := range elements {
		if n := name(&elements[i]); n != "" && elements[i].dtype != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// count returns the number of elements of a shape, or false if it is more than most
// or a size is negative.
func count(shape []int, most int64) (int64, bool) {
	n, empty := uint64(1), false
	for _, s := range shape {
		if s < 0 {
			return 0, false
		}
		if s == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(s))
		if hi != 0 || lo > 1<<62 {
			return 0, false
		}
		n = lo
	}
	if empty {
		return 0, true
	}
	return int64(n), n <= uint64(max(most, 0))
}

// read returns a tensor of the given shape with elements from r. The caller has checked that
// the file has enough of them.
func (e *element) read(r io.Reader, bigEndian bool, shape []int) (t *tensor.Tensor, err error) {
	if e.dtype == 0 {
		return nil, fmt.Errorf("elements of type %s, which tensors do not support", quoted(e.name))
	}
	if bigEndian && e.size > 1 || e.size != e.dtype.Size() {
		r = &recoder{r: r, e: e, bigEndian: bigEndian}
	}
	tooMuch := tensor.Try(func() { t, err = tensor.ReadTensor(r, e.dtype, shape...) })
	if tooMuch != nil {
		return nil, tooMuch
	}
	return t, err
}

// recoder converts the elements of a file to the bytes of a little-endian dtype. It reads
// whole elements.
type recoder struct {
	r         io.Reader
	e         *element
	bigEndian bool
	buffer    []byte
}

func (c *recoder) Read(p []byte) (int, error) {
	size, wide := c.e.size, c.e.dtype.Size()
	n := len(p) / wide
	c.buffer = slices.Grow(c.buffer[:0], n*size)[:n*size]
	if _, err := io.ReadFull(c.r, c.buffer); err != nil {
		return 0, err
	}
	for i := range n {
		from, to := c.buffer[i*size:(i+1)*size], p[i*wide:(i+1)*wide]
		if c.bigEndian {
			slices.Reverse(from)
		}
		fill := byte(0)
		if c.e.name[0] == 'I' && from[size-1] >= 0x80 {
			fill = 0xff // sign extension
		}
		if c.e.value != nil {
			binary.LittleEndian.PutUint16(to, uint16(math.Float32bits(float32(c.e.value(from[0])))>>16))
			continue
		}
		copy(to, from)
		for j := size; j < wide; j++ {
			to[j] = fill
		}
	}
	return n * wide, nil
}

// writeBigEndian writes the elements of t, each with its highest byte first.
func writeBigEndian(w io.Writer, t *tensor.Tensor) error {
	_, err := t.WriteTo(reverser{w, t.DType().Size()})
	return err
}

// reverser reverses the bytes of each element.
type reverser struct {
	w    io.Writer
	size int
}

func (r reverser) Write(p []byte) (int, error) {
	q := slices.Clone(p)
	for i := 0; i+r.size <= len(q); i += r.size {
		slices.Reverse(q[i : i+r.size])
	}
	return r.w.Write(q)
}

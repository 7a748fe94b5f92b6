package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"halfnote/tensor/driver"
)

// How elements look in files: row-major, each of them little-endian, a bool as a
// byte of 0 or 1.

// chunk is how many bytes go to or from a file at a time.
const chunk = 1 << 20

// FromBytes returns a tensor of dtype d whose elements are those of p, in row-major
// order and little-endian; without a shape, a vector. A bool is any byte but 0. It
// panics if p is not exactly as long. It is torch.frombuffer.
func FromBytes(d DType, p []byte, shape ...int) *Tensor {
	known("frombuffer", d)
	if len(shape) == 0 {
		shape = []int{len(p) / d.Size()}
	}
	shape = checkShape("frombuffer", shape)
	if size(shape)*d.Size() != len(p) {
		panic(&Error{Op: "frombuffer", Shapes: [][]int{shape}, DTypes: []DType{d}, Why: fmt.Sprintf("there are %d bytes; expected %d", len(p), size(shape)*d.Size())})
	}
	t := unsetTensor(CPU.backend(), d, shape)
	return setContents(t, hostOrder(d, slices.Clone(p)))
}

// ReadTensor returns a tensor of dtype d and a shape, its elements read from r as
// [FromBytes] takes them; without a shape, a scalar. The error is io.ErrUnexpectedEOF
// if r ends before. The memory is taken at once, so check sizes that come from outside
// first.
func ReadTensor(r io.Reader, d DType, shape ...int) (*Tensor, error) {
	known("read", d)
	need("read", "r", r != nil, "an io.Reader")
	t := unsetTensor(CPU.backend(), d, checkShape("read", shape))
	p := make([]byte, min(chunk, t.Bytes()))
	for off := 0; off < t.Bytes(); off += len(p) {
		driver.Poll()
		p = p[:min(len(p), t.Bytes()-off)]
		if _, err := io.ReadFull(r, p); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		t.mem.backend.Write(t.mem.buffer, off, hostOrder(d, p))
	}
	return t, nil
}

// WriteTo writes t's elements to w as [ReadTensor] reads them, and returns how many
// bytes those are.
func (t *Tensor) WriteTo(w io.Writer) (int64, error) {
	given("write_to", t)
	need("write_to", "w", w != nil, "an io.Writer")
	x := compact(t)
	p := make([]byte, min(chunk, x.Bytes()))
	written := int64(0)
	for off := 0; off < x.Bytes(); off += len(p) {
		driver.Poll()
		p = p[:min(len(p), x.Bytes()-off)]
		x.mem.backend.Read(p, x.mem.buffer, x.offset*x.dtype.Size()+off)
		n, err := w.Write(fileOrder(x.dtype, p))
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// hostOrder turns p, elements of dtype d in a file's form, into those in memory, in
// place.
func hostOrder(d DType, p []byte) []byte {
	if d == Bool {
		for i, b := range p {
			if b != 0 {
				p[i] = 1
			}
		}
	}
	return fileOrder(d, p)
}

// fileOrder is the way back.
func fileOrder(d DType, p []byte) []byte {
	if n := d.Size(); n > 1 && binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		for i := 0; i < len(p); i += n {
			slices.Reverse(p[i : i+n])
		}
	}
	return p
}

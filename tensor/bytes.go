package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"halfnote/tensor/driver"
)

// Elements in files are row-major and little-endian; a bool is a byte, 0 or 1.

// chunk is the number of bytes transferred to or from a file at a time.
const chunk = 1 << 20

// FromBytes returns a tensor of dtype d with the elements in p, row-major and little-endian.
// Without a shape it is a vector. Any byte but 0 is true. It panics if the length of p does not
// match the shape. It is torch.frombuffer.
func FromBytes(d DType, p []byte, shape ...int) *Tensor {
	known("frombuffer", d)
	if len(shape) == 0 {
		shape = []int{len(p) / d.Size()}
	}
	shape = checkShape("frombuffer", shape)
	if size(shape)*d.Size() != len(p) {
		panic(named(&Error{Op: "frombuffer", Shapes: [][]int{shape}, DTypes: []DType{d}, Why: fmt.Sprintf("got %d bytes; want %d", len(p), size(shape)*d.Size())}))
	}
	t := unsetTensor(CPU.backend(), d, shape)
	return setContents(t, hostOrder(d, slices.Clone(p)))
}

// ReadTensor reads a tensor of dtype d and the given shape from r, in the format of
// [FromBytes]. Without a shape it is a scalar. The error is io.ErrUnexpectedEOF if r ends
// early. Memory is allocated before reading, so check sizes from untrusted sources first.
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

// WriteTo writes t's elements to w in the format that [ReadTensor] reads, and returns the
// number of bytes written.
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

// hostOrder converts p, elements of dtype d, in place from file order to the host's.
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

// fileOrder is the inverse of hostOrder.
func fileOrder(d DType, p []byte) []byte {
	if n := d.Size(); n > 1 && binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		for i := 0; i < len(p); i += n {
			slices.Reverse(p[i : i+n])
		}
	}
	return p
}

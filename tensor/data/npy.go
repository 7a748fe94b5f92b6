package data

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"halfnote/internal/save"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// LoadNPY reads a NumPy file of any version, byte order and memory order. An array in Fortran
// order becomes a view, as in torch.from_numpy. Integer types that tensors lack are widened:
// uint16 to int32, uint32 to int64. If the file is malformed the error is a *[FormatError].
// It is numpy.load.
func LoadNPY(path string) (*tensor.Tensor, error) {
	src := source{"npy", path}
	f, size, err := opened(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readNPY(src, f, size)
}

// SaveNPY writes t to a file atomically, byte for byte as numpy.save does. NumPy has neither
// bfloat16 nor 8-bit floating-point types: convert such tensors first.
func SaveNPY(path string, t *tensor.Tensor) error {
	if err := save.File(path, func(w io.Writer) error { return writeNPY(w, t) }); err != nil {
		return source{"npy", path}.fail(err)
	}
	return nil
}

func writeNPY(w io.Writer, t *tensor.Tensor) error {
	header, err := npyHeader(t)
	if err == nil {
		_, err = w.Write(header)
	}
	if err == nil {
		_, err = t.WriteTo(w)
	}
	return err
}

// mostNPYHeader is the largest accepted length of a header. NumPy writes headers below
// 10000 bytes.
const mostNPYHeader = 1 << 20

// readNPY reads a file of size bytes.
func readNPY(src source, r io.Reader, size int64) (*tensor.Tensor, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	h, begin, err := src.readNPYHeader(b, size)
	if err != nil {
		return nil, err
	}
	if h.kind == nil {
		return nil, src.bad("descr", "text of type "+quoted(h.text), "numbers or bool; OpenNPZ reads the members of an .npz file one by one, and its Texts text")
	}
	if err := h.fits(src, begin, size, h.kind.size); err != nil {
		return nil, err
	}
	t, err := h.kind.readOrdered(b, h.bigEndian, h.fortran, h.shape)
	if err != nil {
		return nil, src.fail(err)
	}
	return t, nil
}

// fits returns an error unless the data, from byte begin of a file of size bytes, are the array's elements of the given width.
func (h npyArray) fits(src source, begin, size int64, width int) error {
	rest := size - begin
	if k, ok := count(h.shape, rest/int64(max(width, 1))); !ok || k*int64(width) != rest {
		return src.bad(atByte(begin), fmt.Sprintf("%d bytes of data", rest), fmt.Sprintf("the elements of shape %s, %d bytes each", text.Shape(h.shape), width))
	}
	return nil
}

// readNPYHeader reads a file's header and returns the number of its bytes.
func (src source) readNPYHeader(b *bufio.Reader, size int64) (h npyArray, begin int64, err error) {
	var start [8]byte
	if _, err := io.ReadFull(b, start[:]); err != nil {
		return h, 0, src.bad(atByte(0), fmt.Sprintf("a file of %d bytes", size), "the 8 bytes \"\\x93NUMPY\" and a version")
	}
	if string(start[:6]) != "\x93NUMPY" {
		return h, 0, src.bad(atByte(0), quoted(start[:6]), `"\x93NUMPY"`)
	}
	if v := start[6]; v < 1 || v > 3 || start[7] != 0 {
		return h, 0, src.bad(atByte(6), fmt.Sprintf("version %d.%d", v, start[7]), "1.0, 2.0 or 3.0")
	}
	length := make([]byte, 4)
	if start[6] == 1 {
		length = length[:2]
	}
	if _, err := io.ReadFull(b, length); err != nil {
		return h, 0, src.bad(atByte(8), "the end of the file", "the length of the header")
	}
	n := int64(binary.LittleEndian.Uint32(append(length, 0, 0)))
	begin = int64(8 + len(length))
	if most := min(size-begin, mostNPYHeader); n > most {
		return h, 0, src.bad(atByte(8), fmt.Sprintf("a header length of %d", n), fmt.Sprintf("at most %d, in a file of %d bytes", most, size))
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(b, header); err != nil {
		return h, 0, src.fail(err)
	}
	h, at, err := parseNPY(string(header))
	if kind := (*npyTypeError)(nil); errors.As(err, &kind) {
		return h, 0, src.bad(atByte(begin+int64(at)), kind.what, kind.want)
	}
	if err != nil {
		return h, 0, src.bad(atByte(begin+int64(at)), err.Error(), "a dictionary of descr, fortran_order and shape")
	}
	return h, begin + n, nil
}

// readOrdered reads an array in C or Fortran order; the latter becomes a view.
func (e *element) readOrdered(r io.Reader, bigEndian, fortran bool, shape []int) (*tensor.Tensor, error) {
	if !fortran || len(shape) < 2 {
		return e.read(r, bigEndian, shape)
	}
	t, err := e.read(r, bigEndian, reversed(shape))
	if err != nil {
		return nil, err
	}
	order := make([]int, len(shape))
	for i := range order {
		order[i] = len(shape) - 1 - i
	}
	return t.Permute(order...), nil
}

func reversed[T any](list []T) []T {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// npyHeader returns the header of t's file, as NumPy writes it: padded to a multiple of 64,
// with space for the first size to grow.
func npyHeader(t *tensor.Tensor) ([]byte, error) {
	const magic, align, growth = 10, 64, 21
	e := exactly(t.DType())
	if e.npy == "" {
		return nil, fmt.Errorf("NumPy does not support %v; want one of %s: convert with To", t.DType(), readable(func(e *element) string { return e.npy }))
	}
	order := "<"
	if e.size == 1 {
		order = "|"
	}
	shape := t.Shape()
	var sizes strings.Builder
	for i, s := range shape {
		if i > 0 {
			sizes.WriteString(" ")
		}
		fmt.Fprintf(&sizes, "%d,", s)
	}
	list := sizes.String()
	if len(shape) > 1 {
		list = strings.TrimSuffix(list, ",")
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, e.npy, list)
	if len(shape) > 0 {
		text += strings.Repeat(" ", growth-len(fmt.Sprint(shape[0])))
	}
	text += strings.Repeat(" ", align-(magic+len(text)+1)%align) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(head, text...), nil
}

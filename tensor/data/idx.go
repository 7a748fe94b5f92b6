package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"halfnote/internal/save"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// LoadIDX reads a file in the format of MNIST, http://yann.lecun.com/exdb/mnist/,
// gzipped or not: uint8, int8, int16, int32, float32 and float64. The error is a
// *[FormatError] if the file is not in that format.
func LoadIDX(path string) (*tensor.Tensor, error) {
	src := source{"idx", path}
	f, size, err := opened(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return unpackIDX(src, f, size)
}

func unpackIDX(src source, f io.Reader, size int64) (*tensor.Tensor, error) {
	r := bufio.NewReaderSize(f, 1<<16)
	if start, _ := r.Peek(2); string(start) == "\x1f\x8b" {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, src.fail(err)
		}
		return readIDX(src, z, size*mostInflation)
	}
	return readIDX(src, r, size)
}

// readIDX reads from r. most is the largest possible number of bytes.
func readIDX(src source, r io.Reader, most int64) (*tensor.Tensor, error) {
	var start [4]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return nil, src.bad(atByte(0), "the end of the file", "4 bytes: 0, 0, a type and the number of dimensions")
	}
	e := find(func(e *element) bool { return e.idx == start[2] && e.idx != 0 })
	if start[0] != 0 || start[1] != 0 || e == nil {
		return nil, src.bad(atByte(0), fmt.Sprintf("% x", start[:3]), "00 00 and a type: 08, 09, 0b, 0c, 0d or 0e")
	}
	shape := make([]int, start[3])
	sizes := make([]byte, 4*len(shape))
	if _, err := io.ReadFull(r, sizes); err != nil {
		return nil, src.bad(atByte(4), "the end of the file", fmt.Sprintf("%d sizes", len(shape)))
	}
	for i := range shape {
		shape[i] = int(binary.BigEndian.Uint32(sizes[4*i:]))
	}
	begin := int64(4 + len(sizes))
	n, ok := count(shape, (most-begin)/int64(e.size))
	want := fmt.Sprintf("the elements of shape %s, %d bytes each", text.Shape(shape), e.size)
	if !ok {
		return nil, src.bad(atByte(begin), fmt.Sprintf("at most %d bytes", most-begin), want)
	}
	// A compressed file may hold less than its header claims: allocate only after
	// reading the data.
	p, err := io.ReadAll(io.LimitReader(r, n*int64(e.size)+1))
	if err != nil {
		return nil, src.fail(err)
	}
	if int64(len(p)) != n*int64(e.size) {
		return nil, src.bad(atByte(begin), fmt.Sprintf("at least %d bytes", len(p)), want)
	}
	t, err := e.read(bytes.NewReader(p), true, shape)
	if err != nil {
		return nil, src.fail(err)
	}
	return t, nil
}

// SaveIDX writes t atomically to a file in the format of MNIST, gzipped if the name ends in
// .gz. t is uint8, int8, int16, int32, float32 or float64.
func SaveIDX(path string, t *tensor.Tensor) error {
	err := save.File(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return writeIDX(w, t)
		}
		z := gzip.NewWriter(w)
		return errors.Join(writeIDX(z, t), z.Close())
	})
	if err != nil {
		return source{"idx", path}.fail(err)
	}
	return nil
}

func writeIDX(w io.Writer, t *tensor.Tensor) error {
	e := exactly(t.DType())
	if e.idx == 0 {
		return fmt.Errorf("the format does not support %v; want uint8, int8, int16, int32, float32 or float64", t.DType())
	}
	if t.Dim() > 255 {
		return fmt.Errorf("%d dimensions; want at most 255", t.Dim())
	}
	header := []byte{0, 0, e.idx, byte(t.Dim())}
	for _, s := range t.Shape() {
		if int64(s) > 1<<32-1 {
			return fmt.Errorf("a size of %d; want below 2^32", s)
		}
		header = binary.BigEndian.AppendUint32(header, uint32(s))
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	return writeBigEndian(w, t)
}

// LoadMNIST returns the images (n, 1, 28, 28) of uint8 and the digits (n) of int64 of the
// training or the test set, from a folder with the four files of
// http://yann.lecun.com/exdb/mnist/, gzipped or not. It is torchvision.datasets.MNIST, whose
// images lack the dimension of size 1.
func LoadMNIST(folder string, train bool) (*TensorDataset, error) {
	part := "t10k"
	if train {
		part = "train"
	}
	images, err := loadEither(filepath.Join(folder, part+"-images-idx3-ubyte"))
	if err != nil {
		return nil, err
	}
	labels, err := loadEither(filepath.Join(folder, part+"-labels-idx1-ubyte"))
	if err != nil {
		return nil, err
	}
	if images.Dim() != 3 || labels.Dim() != 1 || images.Size(0) != labels.Size(0) || images.DType() != tensor.Uint8 || labels.DType() != tensor.Uint8 {
		return nil, source{"idx", folder}.bad("images and labels", fmt.Sprintf("%v of shape %s and %v of shape %s", images.DType(), text.Shape(images.Shape()), labels.DType(), text.Shape(labels.Shape())), "uint8 of shapes (n, h, w) and (n)")
	}
	return NewTensorDataset(images.Unsqueeze(1), labels.To(tensor.Int64)), nil
}

// loadEither reads an IDX file, or the one with .gz at the end.
func loadEither(path string) (*tensor.Tensor, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(path + ".gz"); err == nil {
			path += ".gz"
		}
	}
	return LoadIDX(path)
}

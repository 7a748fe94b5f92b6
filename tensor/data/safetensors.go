package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"halfnote/internal/save"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// Safetensors is an open safetensors file; it reads only the tensors requested. Its methods
// may be called from several goroutines at once.
type Safetensors struct {
	source
	file    io.ReaderAt
	close   func() error
	start   int64 // offset of the data
	entries map[string]entry
	names   []string
	meta    map[string]string
}

// OpenSafetensors opens a file and reads its header. The error is a *[FormatError] if the
// header is invalid: the tensors' ranges must cover the rest of the file without gap or
// overlap, names must be distinct, and each size must match its shape and type. It is
// safetensors.safe_open.
func OpenSafetensors(path string) (*Safetensors, error) {
	src := source{"safetensors", path}
	f, size, err := opened(src)
	if err != nil {
		return nil, err
	}
	s, err := readSafetensors(src, f, size)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.close = f.Close
	return s, nil
}

func readSafetensors(src source, file io.ReaderAt, size int64) (*Safetensors, error) {
	s := &Safetensors{source: src, file: file}
	return s, s.readHeader(size)
}

// Close closes the file. Tensors already read stay valid.
func (s *Safetensors) Close() error { return s.close() }

// Names returns the names of the tensors in file order.
func (s *Safetensors) Names() []string { return slices.Clone(s.names) }

// Metadata returns the file's metadata.
func (s *Safetensors) Metadata() map[string]string { return maps.Clone(s.meta) }

// Shape returns the shape of the named tensor without reading it, or nil if it does not
// exist.
func (s *Safetensors) Shape(name string) []int { return slices.Clone(s.entries[name].shape) }

// DType returns the type of the named tensor as the file writes it, such as BF16 or F8_E4M3FNUZ, or "" if it does not exist.
func (s *Safetensors) DType(name string) string {
	if e, ok := s.entries[name]; ok {
		return e.kind.name
	}
	return ""
}

// Tensor reads the named tensor. Types that tensors lack are widened: U16 to int32, U32 to int64, F8_E4M3FNUZ, F8_E5M2FNUZ and
// F8_E8M0 to bfloat16, which holds all their values. It is safe_open's get_tensor.
func (s *Safetensors) Tensor(name string) (*tensor.Tensor, error) {
	e, err := s.entry(name)
	if err != nil {
		return nil, err
	}
	return s.read(name, e, e.begin, e.shape)
}

// Codes reads the packed codes of a named tensor of elements of 4, 6 or 8 bits, F4, F6_E2M3, F6_E3M2 and those of F8, as uint8 of shape (…, bytes of the last dimension).
// Package quant makes a tensor of them: quant.FromStateDict. Two elements of F4 share a byte, the first in the low bits. The error says if the elements are wider, or if the last
// dimension does not end on a byte.
func (s *Safetensors) Codes(name string) (*tensor.Tensor, error) {
	e, err := s.entry(name)
	if err != nil {
		return nil, err
	}
	n := len(e.shape) - 1
	if bits := e.kind.bits; bits == 0 || bits > 8 || n < 0 || e.shape[n]*bits%8 != 0 {
		return nil, s.fail(fmt.Errorf("tensor %q of %s and shape %s; want elements of 4, 6 or 8 bits in whole bytes", name, e.kind.name, text.Shape(e.shape)))
	}
	shape := slices.Clone(e.shape)
	shape[n] = shape[n] * e.kind.bits / 8
	codes := entry{kind: exactly(tensor.Uint8), shape: shape, begin: e.begin, end: e.end}
	return s.read(name, codes, e.begin, shape)
}

// Rows reads only rows start to below end of the named tensor, (end-start, …). It is a slice of
// safe_open's get_slice.
func (s *Safetensors) Rows(name string, start, end int) (*tensor.Tensor, error) {
	e, err := s.entry(name)
	if err != nil {
		return nil, err
	}
	if len(e.shape) == 0 || start < 0 || end < start || end > e.shape[0] {
		return nil, s.fail(fmt.Errorf("rows %d to %d of %s, whose shape is %s; want rows within that shape", start, end, name, text.Shape(e.shape)))
	}
	shape := slices.Clone(e.shape)
	shape[0] = end - start
	rows := int64(0)
	if e.shape[0] > 0 {
		rows = (e.end - e.begin) / int64(e.shape[0])
	}
	return s.read(name, e, e.begin+int64(start)*rows, shape)
}

func (s *Safetensors) entry(name string) (entry, error) {
	e, ok := s.entries[name]
	if !ok {
		return e, s.fail(fmt.Errorf("tensor %q does not exist; want one of %d, such as %q", name, len(s.names), s.names[:min(3, len(s.names))]))
	}
	return e, nil
}

func (s *Safetensors) read(name string, e entry, begin int64, shape []int) (*tensor.Tensor, error) {
	t, err := e.kind.read(io.NewSectionReader(s.file, s.start+begin, e.end-begin), false, shape)
	if err != nil {
		return nil, s.fail(fmt.Errorf("tensor %q: %w", name, err))
	}
	return t, nil
}

// LoadSafetensors reads all tensors of a file, or of the shards of a checkpoint, by its index model.safetensors.index.json. It
// is safetensors.torch.load_file.
func LoadSafetensors(path string) (map[string]*tensor.Tensor, error) {
	src := source{"safetensors", path}
	f, size, err := unchecked(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if isJSON(f) {
		all, _, err := readShards(source{"index", path}, f, size, false)
		return all, err
	}
	if err := src.checkStart(f, size); err != nil {
		return nil, err
	}
	s, err := readSafetensors(src, f, size)
	if err != nil {
		return nil, err
	}
	all, _, err := s.all(false)
	return all, err
}

// all reads all tensors. With omit it leaves out those of types that tensors lack.
func (s *Safetensors) all(omit bool) (map[string]*tensor.Tensor, []Foreign, error) {
	return s.some(s.names, omit)
}

// some reads the named tensors like all.
func (s *Safetensors) some(names []string, omit bool) (map[string]*tensor.Tensor, []Foreign, error) {
	all, left := make(map[string]*tensor.Tensor, len(names)), []Foreign(nil)
	for _, name := range names {
		if e := s.entries[name]; e.kind != nil && e.kind.dtype == 0 {
			if omit {
				left = append(left, Foreign{name, "a tensor of " + e.kind.name})
				continue
			}
			return nil, nil, s.fail(fmt.Errorf("tensor %s has elements of type %s, which tensors do not support; OpenSafetensors and LoadKnown read the others", quoted(name), quoted(e.kind.name)))
		}
		t, err := s.Tensor(name)
		if err != nil {
			return nil, nil, err
		}
		all[name] = t
	}
	return all, left, nil
}

// SaveSafetensors writes named tensors to a file atomically. metadata may be nil. The same
// tensors and metadata give the same bytes; with at most one metadata entry, they are those
// that the Python package writes. It is safetensors.torch.save_file.
func SaveSafetensors(path string, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
	err := save.File(path, func(w io.Writer) error { return writeSafetensors(w, tensors, metadata) })
	if err != nil {
		return source{"safetensors", path}.fail(err)
	}
	return nil
}

func writeSafetensors(w io.Writer, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
	header, names, err := header(tensors, metadata)
	if err != nil {
		return err
	}
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	if _, err := w.Write(append(length, header...)); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := tensors[name].WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

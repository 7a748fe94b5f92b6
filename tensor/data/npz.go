package data

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"halfnote/internal/save"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// mostInflation is the largest ratio that deflate can reach; a zip file that claims
// more is malformed. It is from https://zlib.net/zlib_tech.html.
const mostInflation = 1032

// LoadNPZ reads all arrays of a NumPy file as [LoadNPY] does, stored or
// compressed. [OpenNPZ] reads those of a file that also holds text. It is numpy.load.
func LoadNPZ(path string) (map[string]*tensor.Tensor, error) {
	src := source{"npz", path}
	f, size, err := opened(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readNPZ(src, f, size)
}

func readNPZ(src source, f io.ReaderAt, size int64) (map[string]*tensor.Tensor, error) {
	z, err := openNPZ(src, f, size)
	if err != nil {
		return nil, err
	}
	if z.other != "" {
		return nil, src.bad("member "+quoted(z.other), "a name that does not end in .npy", "only arrays")
	}
	all := make(map[string]*tensor.Tensor, len(z.names))
	for _, name := range z.names {
		if all[name], err = z.Tensor(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// NPZ is an open NumPy archive; it reads only the members requested, so that one that is not an array of numbers does not hide
// the others. Its methods may be called from several goroutines at once.
type NPZ struct {
	source
	close   func() error
	size    int64
	members map[string]*zip.File
	names   []string
	other   string // a member that is not an array
}

// OpenNPZ opens a NumPy file, such as one of scipy.sparse.save_npz:
//
//	z, err := data.OpenNPZ("sparse.npz")
//	…
//	format, err := z.Texts("format") // ["csr"]
//	values, err := z.Tensor("data")
//
// Members whose names do not end in .npy are ignored. It is numpy.load.
func OpenNPZ(path string) (*NPZ, error) {
	src := source{"npz", path}
	f, size, err := opened(src)
	if err != nil {
		return nil, err
	}
	z, err := openNPZ(src, f, size)
	if err != nil {
		f.Close()
		return nil, err
	}
	z.close = f.Close
	return z, nil
}

func openNPZ(src source, f io.ReaderAt, size int64) (*NPZ, error) {
	archive, err := zip.NewReader(f, size)
	if err != nil {
		return nil, src.bad(atByte(0), "a file that is not a zip archive ("+err.Error()+")", "a zip archive of .npy files")
	}
	if slices.ContainsFunc(archive.File, func(m *zip.File) bool { return strings.HasSuffix(m.Name, "data.pkl") }) {
		return nil, src.bad("the archive", "data.pkl, as in PyTorch files", "a zip archive of .npy files; Load and LoadTorch read .pt and .pth")
	}
	z := &NPZ{source: src, size: size, members: map[string]*zip.File{}}
	for _, member := range archive.File {
		name, ok := strings.CutSuffix(member.Name, ".npy")
		switch {
		case !ok:
			z.other = member.Name
		case z.members[name] != nil:
			return nil, src.bad("member "+quoted(member.Name), "a duplicate name", "arrays with different names")
		default:
			z.members[name], z.names = member, append(z.names, name)
		}
	}
	return z, nil
}

// Close closes the file. Tensors already read stay valid.
func (z *NPZ) Close() error { return z.close() }

// Names returns the names of the arrays, without .npy, in file order.
func (z *NPZ) Names() []string { return slices.Clone(z.names) }

// Tensor reads the named array, as [LoadNPY] does.
func (z *NPZ) Tensor(name string) (t *tensor.Tensor, err error) {
	err = z.read(name, func(src source, r io.Reader, size int64) (err error) {
		t, err = readNPY(src, r, size)
		return err
	})
	return t, err
}

// Texts reads the elements of the named array of text, in row-major order: NumPy's str, or bytes, which must be UTF-8.
func (z *NPZ) Texts(name string) (texts []string, err error) {
	err = z.read(name, func(src source, r io.Reader, size int64) (err error) {
		texts, err = readTexts(src, r, size)
		return err
	})
	return texts, err
}

// read calls f with the bytes of the named member.
func (z *NPZ) read(name string, f func(src source, r io.Reader, size int64) error) error {
	member := z.members[name]
	if member == nil {
		return z.fail(fmt.Errorf("array %q does not exist; want one of %d, such as %q", name, len(z.names), z.names[:min(3, len(z.names))]))
	}
	packed, n := member.CompressedSize64, member.UncompressedSize64
	if packed > uint64(z.size) || n > packed*mostInflation {
		return z.bad("member "+quoted(member.Name), fmt.Sprintf("%d bytes compressed to %d", n, packed), fmt.Sprintf("at most %d bytes, and a ratio of at most %d", z.size, mostInflation))
	}
	r, err := member.Open()
	if err != nil {
		return z.fail(fmt.Errorf("member %s: %w", quoted(member.Name), err))
	}
	defer r.Close()
	within := source{z.format, z.file + ": " + member.Name}
	if err := f(within, r, int64(n)); err != nil {
		return err
	}
	// The checksum is verified at the end of the data.
	if more, err := io.Copy(io.Discard, io.LimitReader(r, 1)); err != nil || more > 0 {
		return within.bad(fmt.Sprintf("byte %d", n), fmt.Sprintf("extra data or an error (%v)", err), "the end of the data and a valid checksum")
	}
	return nil
}

// mostTexts is the largest number of texts of an array.
const mostTexts = 1 << 22

// readTexts reads the elements of an array of text.
func readTexts(src source, r io.Reader, size int64) ([]string, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	h, begin, err := src.readNPYHeader(b, size)
	if err != nil {
		return nil, err
	}
	switch {
	case h.kind != nil:
		return nil, src.bad("descr", "elements of "+quoted(h.kind.npy), "text; Tensor reads numbers")
	case h.fortran && len(h.shape) > 1:
		return nil, src.bad("fortran_order", "text in Fortran order", "row-major order: save a copy by numpy.ascontiguousarray")
	case h.width == 0:
		return nil, src.bad("descr", "text of no characters", "a type such as <U1")
	}
	if err := h.fits(src, begin, size, h.width); err != nil {
		return nil, err
	}
	n := (size - begin) / int64(h.width)
	if n > mostTexts {
		return nil, src.bad("shape", fmt.Sprintf("%d texts", n), fmt.Sprintf("at most %d", mostTexts))
	}
	var texts []string
	p := make([]byte, h.width)
	for i := range n {
		driver.Poll()
		if _, err := io.ReadFull(b, p); err != nil {
			return nil, src.fail(err)
		}
		s, ok := h.textOf(p)
		if !ok {
			return nil, src.bad(atByte(begin+i*int64(h.width)), quoted(p), "text in UTF-8, or Unicode's code points")
		}
		texts = append(texts, s)
	}
	return texts, nil
}

// textOf returns a text without the zeros that fill it up.
func (h npyArray) textOf(p []byte) (string, bool) {
	if strings.Contains(h.text, "S") {
		p = bytes.TrimRight(p, "\x00")
		return string(p), utf8.Valid(p)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if h.bigEndian {
		order = binary.BigEndian
	}
	var s strings.Builder
	for ; len(p) > 0; p = p[4:] {
		c := order.Uint32(p)
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return "", false
		}
		s.WriteRune(rune(c))
	}
	return strings.TrimRight(s.String(), "\x00"), true
}

// SaveNPZ writes named tensors to a file atomically. It is numpy.savez.
func SaveNPZ(path string, tensors map[string]*tensor.Tensor) error {
	return saveNPZ(path, tensors, zip.Store)
}

// SaveCompressedNPZ is SaveNPZ with compression. It is numpy.savez_compressed.
func SaveCompressedNPZ(path string, tensors map[string]*tensor.Tensor) error {
	return saveNPZ(path, tensors, zip.Deflate)
}

func saveNPZ(path string, tensors map[string]*tensor.Tensor, method uint16) error {
	err := save.File(path, func(w io.Writer) error { return writeNPZ(w, tensors, method) })
	if err != nil {
		return source{"npz", path}.fail(err)
	}
	return nil
}

func writeNPZ(w io.Writer, tensors map[string]*tensor.Tensor, method uint16) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if tensors[name] == nil || name == "" {
			return errors.New("a tensor is nil or has no name")
		}
		member, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err != nil {
			return err
		}
		if err := writeNPY(member, tensors[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return z.Close()
}

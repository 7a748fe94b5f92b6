package data

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"halfnote/internal/save"
	"halfnote/tensor"
)

// mostInflation is the largest ratio that deflate can reach; a zip file that claims
// more is malformed. It is from https://zlib.net/zlib_tech.html.
const mostInflation = 1032

// LoadNPZ reads all arrays of a NumPy file as [LoadNPY] does, stored or
// compressed. It is numpy.load.
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
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, src.bad(atByte(0), "a file that is not a zip archive ("+err.Error()+")", "a zip archive of .npy files")
	}
	if slices.ContainsFunc(z.File, func(m *zip.File) bool { return strings.HasSuffix(m.Name, "data.pkl") }) {
		return nil, src.bad("the archive", "data.pkl, as in PyTorch files", "a zip archive of .npy files; Load and LoadTorch read .pt and .pth")
	}
	all := map[string]*tensor.Tensor{}
	for _, member := range z.File {
		name := strings.TrimSuffix(member.Name, ".npy")
		if _, twice := all[name]; twice || name == member.Name {
			return nil, src.bad("member "+quoted(member.Name), "a name that is a duplicate or does not end in .npy", "only arrays, with different names")
		}
		if all[name], err = readMember(src, member, size); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readMember reads an array of an archive of size bytes.
func readMember(src source, member *zip.File, size int64) (*tensor.Tensor, error) {
	packed, n := member.CompressedSize64, member.UncompressedSize64
	if packed > uint64(size) || n > packed*mostInflation {
		return nil, src.bad("member "+quoted(member.Name), fmt.Sprintf("%d bytes compressed to %d", n, packed), fmt.Sprintf("at most %d bytes, and a ratio of at most %d", size, mostInflation))
	}
	r, err := member.Open()
	if err != nil {
		return nil, src.fail(fmt.Errorf("member %s: %w", quoted(member.Name), err))
	}
	defer r.Close()
	within := source{src.format, src.file + ": " + member.Name}
	t, err := readNPY(within, r, int64(n))
	if err != nil {
		return nil, err
	}
	// The checksum is verified at the end of the data.
	if more, err := io.Copy(io.Discard, io.LimitReader(r, 1)); err != nil || more > 0 {
		return nil, within.bad(fmt.Sprintf("byte %d", n), fmt.Sprintf("extra data or an error (%v)", err), "the end of the data and a valid checksum")
	}
	return t, nil
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

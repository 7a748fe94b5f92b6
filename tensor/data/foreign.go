package data

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// otherFormats lists files that are often given by mistake: their first bytes, their name,
// the advice, and the formats of this package that they may validly be.
var otherFormats = []struct {
	start, what, cure string
	formats           []string
}{
	{"<!doctype html", "an HTML page", "the file itself: the server sent a web page, so check the address or log in, and download again", nil},
	{"<html", "an HTML page", "the file itself: the server sent a web page, so check the address or log in, and download again", nil},
	{"version https://git-lfs", "a Git LFS pointer", "the file it points to: run git lfs pull", nil},
	{"PK\x03\x04", "a zip archive, such as a PyTorch .pt or .pth file or a NumPy .npz file", "{format}; Load and LoadTorch read .pt and .pth, LoadNPZ reads .npz", []string{"npz"}},
	{"\x80\x02", "a Python pickle, such as an old PyTorch .pt file", "{format}; Load and LoadTorch read .pt and .pth", nil},
	{"\x80\x03", "a Python pickle, such as an old PyTorch .pt file", "{format}; Load and LoadTorch read .pt and .pth", nil},
	{"\x80\x04", "a Python pickle, such as an old PyTorch .pt file", "{format}; Load and LoadTorch read .pt and .pth", nil},
	{"\x80\x05", "a Python pickle, such as an old PyTorch .pt file", "{format}; Load and LoadTorch read .pt and .pth", nil},
	{"\x93NUMPY", "a NumPy .npy file", "{format}; LoadNPY reads .npy", []string{"npy"}},
	{"\x1f\x8b", "a gzip file", "{format}; unpack it with gunzip first", []string{"idx"}},
	{"\x89HDF\r\n", "an HDF5 file, such as a Keras .h5 file", "{format}; in Python, h5py reads it and safetensors.numpy.save_file writes its arrays", nil},
	{"{", "JSON, such as the index of a sharded checkpoint", "{format}; Load and LoadSafetensors read model.safetensors.index.json with its shards", nil},
	{"GGUF", "a GGUF file", "{format}; the model's page often has a .safetensors file too", nil},
}

// binaryFormats are the formats that are never text.
var binaryFormats = []string{"safetensors", "npy", "npz", "idx"}

// checkStart fails if f is empty or begins like a file of another known format.
func (s source) checkStart(f io.ReaderAt, size int64) error {
	if !slices.Contains(binaryFormats, s.format) {
		return nil
	}
	if size == 0 {
		return s.bad(atByte(0), "an empty file", s.wanted()+"; the download or the program that wrote it may have been cut short")
	}
	start := make([]byte, 64)
	n, err := f.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return s.fail(err)
	}
	if s.format == "safetensors" && n > 8 && start[8] == '{' && start[7] == 0 {
		return nil // its first bytes are a length, which may look like anything
	}
	text := strings.ToLower(string(bytes.TrimSpace(start[:n])))
	for _, other := range otherFormats {
		if strings.HasPrefix(text, strings.ToLower(other.start)) && !slices.Contains(other.formats, s.format) {
			return s.bad(atByte(0), other.what, strings.Replace(other.cure, "{format}", s.wanted(), 1))
		}
	}
	return nil
}

func (s source) wanted() string {
	if s.format == "safetensors" {
		return "a safetensors file"
	}
	return "an " + s.format + " file" // npy, npz and idx
}

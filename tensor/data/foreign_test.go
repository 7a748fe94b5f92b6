package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestForeignFiles checks that the error for a file of another format names the format and
// gives advice.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	load := map[string]func(path string) error{
		"Load":            func(path string) error { _, err := Load(path); return err },
		"LoadSafetensors": func(path string) error { _, err := LoadSafetensors(path); return err },
		"LoadNPY":         func(path string) error { _, err := LoadNPY(path); return err },
		"LoadNPZ":         func(path string) error { _, err := LoadNPZ(path); return err },
		"LoadIDX":         func(path string) error { _, err := LoadIDX(path); return err },
	}
	for _, c := range []struct {
		name, text string
		says       []string
		not        string // functions that may read the file
	}{
		{"model.pt", "PK\x03\x04\x00\x00archive/data.pkl", []string{"zip archive", ".pt", "LoadTorch"}, "Load LoadNPZ"},
		{"old.pt", "\x80\x02\x8a\nl\xfc\x9cF", []string{"Python pickle", "LoadTorch"}, "Load"},
		{"new.pkl", "\x80\x05\x95abcdefgh", []string{"Python pickle"}, "Load"},
		{"empty.safetensors", "", []string{"an empty file", "cut short"}, ""},
		{"page.safetensors", "\n<!DOCTYPE html><html>", []string{"an HTML page", "download again"}, ""},
		{"lower.safetensors", "<html><body>", []string{"an HTML page"}, ""},
		{"pointer.safetensors", "version https://git-lfs.github.com/spec/v1\n", []string{"Git LFS", "git lfs pull"}, ""},
		{"array.npy", "\x93NUMPY\x01\x00v\x00", []string{"LoadNPY reads .npy"}, "LoadNPY"},
		{"model.h5", "\x89HDF\r\n\x1a\n", []string{"HDF5"}, ""},
		{"packed.gz", "\x1f\x8b\x08\x00", []string{"gunzip"}, "LoadIDX"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, f := range load {
			if slices.Contains(strings.Fields(c.not), name) {
				continue
			}
			err := f(path)
			if err == nil {
				t.Errorf("%s(%s): got no error", name, c.name)
				continue
			}
			for _, says := range append(c.says, path) {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%s(%s): got error %v, want an error that contains %q", name, c.name, err, says)
				}
			}
		}
	}
	for name, f := range load {
		if err := f(dir); err == nil || !strings.Contains(err.Error(), "is a directory; want a file") {
			t.Errorf("%s of a directory: got error %v", name, err)
		}
	}
}

// TestSafetensorsLengthLikeAnotherFormat checks that a safetensors file is read although the
// length of its header looks like the first bytes of another format.
func TestSafetensorsLengthLikeAnotherFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	const length = 0x280
	text := "\x80\x02\x00\x00\x00\x00\x00\x00{}" + strings.Repeat(" ", length-2)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := LoadSafetensors(path); err != nil || len(all) != 0 {
		t.Errorf("got %v, %v; want no tensors", all, err)
	}
}

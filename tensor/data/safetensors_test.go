package data_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// safetensorsFile is a case of testdata/safetensors_files.json, made by
// safetensors_files.py.
type safetensorsFile struct {
	Name     string
	File     []byte
	Metadata map[string]string
	Same     bool
	Tensors  map[string]struct {
		DType  string
		Shape  []int
		Values []float64
	}
}

func TestSafetensors(t *testing.T) {
	var files struct{ Files []safetensorsFile }
	readJSON(t, "safetensors_files.json", &files)
	widened := map[string]string{"uint16": "int32", "uint32": "int64"}
	for _, c := range files.Files {
		path := file(t, "x.safetensors", c.File)
		s, err := data.OpenSafetensors(path)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if !same(s.Metadata(), c.Metadata) || len(s.Names()) != len(c.Tensors) {
			t.Errorf("%s: metadata %v, names %q; want %v and %d", c.Name, s.Metadata(), s.Names(), c.Metadata, len(c.Tensors))
		}
		s.Close()
		all, err := data.LoadSafetensors(path)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for name, want := range c.Tensors {
			if w := widened[want.DType]; w != "" {
				want.DType = w
			}
			x := all[name]
			if x == nil || x.DType().String() != want.DType || !slices.Equal(x.Shape(), want.Shape) || !slices.Equal(x.To(tensor.Float64).Float64s(), want.Values) {
				t.Errorf("%s: tensor %q: got %v, want %+v", c.Name, name, x, want)
			}
		}
		path = filepath.Join(t.TempDir(), "y.safetensors")
		if err := data.SaveSafetensors(path, all, c.Metadata); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); c.Same && !bytes.Equal(got, c.File) {
			t.Errorf("%s: wrote\n%q\nwant\n%q", c.Name, got, c.File)
		}
	}
}

// TestSafetensorsRows checks Rows, and the order and alignment of tensors in a file.
func TestSafetensorsRows(t *testing.T) {
	x := tensor.Arange(0, 60).Reshape(5, 3, 4)
	path := filepath.Join(t.TempDir(), "x.safetensors")
	tensors := map[string]*tensor.Tensor{"x": x, "h": tensor.Arange(0, 5).To(tensor.BFloat16), "b": tensor.FromBools([]bool{true, false, true}), "s": tensor.Scalar(3), "t": x.Select(0, 1).T()}
	if err := data.SaveSafetensors(path, tensors, nil); err != nil {
		t.Fatal(err)
	}
	s, err := data.OpenSafetensors(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, want := s.Names(), []string{"s", "t", "x", "h", "b"}; !slices.Equal(got, want) {
		t.Errorf("names: got %q, want %q, wide types first, then by name", got, want)
	}
	for _, c := range [][2]int{{0, 5}, {1, 3}, {4, 5}, {2, 2}, {5, 5}} {
		got, err := s.Rows("x", c[0], c[1])
		if err != nil || !tensor.Equal(got, x.Slice(0, c[0], c[1])) {
			t.Errorf("rows %v: got %v, %v", c, got, err)
		}
	}
	if got, err := s.Rows("h", 1, 4); err != nil || !slices.Equal(got.Float64s(), []float64{1, 2, 3}) {
		t.Errorf("rows of h: got %v, %v", got, err)
	}
	if got, err := s.Tensor("t"); err != nil || !tensor.Equal(got, x.Select(0, 1).T()) {
		t.Errorf("a transposed tensor: got %v, %v", got, err)
	}
	if !slices.Equal(s.Shape("x"), []int{5, 3, 4}) || s.Shape("y") != nil {
		t.Errorf("shapes: got %v and %v", s.Shape("x"), s.Shape("y"))
	}
	content, _ := os.ReadFile(path)
	if start := 8 + binary.LittleEndian.Uint64(content); start%8 != 0 {
		t.Errorf("start of the data: got byte %d, want a multiple of 8", start)
	}
	for want, f := range map[string]func() (*tensor.Tensor, error){
		`tensor "z" does not exist; want one of 5, such as ["s" "t" "x"]`:          func() (*tensor.Tensor, error) { return s.Tensor("z") },
		`rows 4 to 6 of x, whose shape is (5, 3, 4); want rows within that shape`:  func() (*tensor.Tensor, error) { return s.Rows("x", 4, 6) },
		`rows 0 to 0 of s, whose shape is (); want rows within that shape`:         func() (*tensor.Tensor, error) { return s.Rows("s", 0, 0) },
		`rows -1 to 2 of x, whose shape is (5, 3, 4); want rows within that shape`: func() (*tensor.Tensor, error) { return s.Rows("x", -1, 2) },
		`rows 3 to 2 of x, whose shape is (5, 3, 4); want rows within that shape`:  func() (*tensor.Tensor, error) { return s.Rows("x", 3, 2) },
		`data: safetensors: ` + path + `: tensor "w" does not exist; want one`:     func() (*tensor.Tensor, error) { return s.Tensor("w") },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

// safe returns a file with a header.
func safe(header string, body int) []byte {
	p := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(p, header...), make([]byte, body)...)
}

func TestSafetensorsErrors(t *testing.T) {
	tooLong := binary.LittleEndian.AppendUint64(nil, 1<<40)
	for _, c := range []struct {
		name, want string
		content    []byte
	}{
		{"short", "byte 0: found a file of 3 bytes; want at least the 8 bytes of the header's length", []byte("abc")},
		{"long header", "byte 0: found a header length of 1099511627776; want 2 to 4, in a file of 12 bytes", append(tooLong, "{}{}"...)},
		{"no header", "found a header length of 0; want 2", make([]byte, 12)},
		{"not an object", `byte 8: found "["; want '{'`, safe("[]", 0)},
		{"no UTF-8", "byte 8: found a header that is not UTF-8", safe("{\"\xff\":1}", 0)},
		{"more", "found data after the object", safe("{}{}", 0)},
		{"cut", "tensor \"a\": the end of the text; want an object of tensors", safe(`{"a":{"dtype":"F32"`, 0)},
		{"twice", `found the name "a" twice`, safe(`{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1)},
		{"field twice", `tensor "a": the name "shape" twice`, safe(`{"a":{"shape":[],"shape":[]}}`, 1)},
		{"metadata twice", `found the name "k" twice`, safe(`{"__metadata__":{"k":"a","k":"b"}}`, 0)},
		{"metadata not text", `found 1 instead of a string`, safe(`{"__metadata__":{"k":1}}`, 0)},
		{"dtype", `tensor "a" has elements of type "F31", which tensors do not support`, safe(`{"a":{"dtype":"F31","shape":[],"data_offsets":[0,1]}}`, 1)},
		{"field", `tensor "a": the field "size"`, safe(`{"a":{"size":1}}`, 0)},
		{"missing", `tensor "a": a missing dtype or shape`, safe(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1)},
		{"offsets", `tensor "a": data_offsets (1, 0)`, safe(`{"a":{"dtype":"U8","shape":[],"data_offsets":[1,0]}}`, 1)},
		{"one offset", `tensor "a": data_offsets (1,)`, safe(`{"a":{"dtype":"U8","shape":[],"data_offsets":[1]}}`, 1)},
		{"negative", `tensor "a": -1 instead of a nonnegative integer`, safe(`{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}`, 1)},
		{"fraction", `tensor "a": 1.5 instead of a nonnegative integer`, safe(`{"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}}`, 1)},
		{"huge", `tensor "a": 99999999999999999999 instead`, safe(`{"a":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]}}`, 1)},
		{"not a list", `tensor "a": 3 instead of [`, safe(`{"a":{"dtype":"U8","shape":3}}`, 1)},
		{"size", `tensor "a": found 3 bytes for shape (2,) of U8; want 2`, safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,3]}}`, 3)},
		{"overflow", `tensor "a": found 1 bytes for shape (4294967296, 4294967296, 4294967296) of U8`, safe(`{"a":{"dtype":"U8","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,1]}}`, 1)},
		{"gap", `tensor "b": found data_offsets [2, 3]; want a start at 1`, safe(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 3)},
		{"overlap", `tensor "b": found data_offsets [1, 3]; want a start at 2`, safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3)},
		{"short data", `header: found 1 bytes of data; want 2, where the last tensor ends`, safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 1)},
		{"long data", `header: found 3 bytes of data; want 2`, safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 3)},
		{"unsupported type", `tensor "a" has elements of type "U64", which tensors do not support`, safe(`{"a":{"dtype":"U64","shape":[],"data_offsets":[0,8]}}`, 8)},
	} {
		path := file(t, "x.safetensors", c.content)
		_, err := data.LoadSafetensors(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "data: safetensors: "+path+": ") {
			t.Errorf("%s: got error %v, want %s", c.name, err, c.want)
		}
	}
	for want, tensors := range map[string]map[string]*tensor.Tensor{
		`tensor "n" is nil`:            {"n": nil},
		`tensor "__metadata__" is nil`: {"__metadata__": tensor.Ones(1)},
	} {
		path := filepath.Join(t.TempDir(), "y.safetensors")
		if err := data.SaveSafetensors(path, tensors, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: SaveSafetensors left a file", want)
		}
	}
}

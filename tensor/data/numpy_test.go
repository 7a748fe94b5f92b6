package data_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// numpyFile is a case of testdata/numpy_files.json, made by numpy_files.py.
type numpyFile struct {
	Name, DType string
	File        []byte
	Shape       []int
	Values      []any
	Same        bool
}

type numpyFiles struct{ Cases, Archives, Broken []numpyFile }

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// file writes a file in a temporary folder and returns its path.
func file(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// values returns x's elements in the notation of the fixtures.
func values(x *tensor.Tensor) []any {
	out := []any{}
	if x.DType().IsFloat() || x.DType() == tensor.Bool {
		for _, v := range x.Float64s() {
			out = append(out, v)
		}
		return out
	}
	for _, v := range x.Int64s() {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

func TestNPY(t *testing.T) {
	var files numpyFiles
	readJSON(t, "numpy_files.json", &files)
	for _, c := range files.Cases {
		x, err := data.LoadNPY(file(t, "x.npy", c.File))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if x.DType().String() != c.DType || !slices.Equal(x.Shape(), c.Shape) || !slices.Equal(values(x), c.Values) {
			t.Errorf("%s: got %v %v %v, want %s %v %v", c.Name, x.DType(), x.Shape(), values(x), c.DType, c.Shape, c.Values)
		}
		path := filepath.Join(t.TempDir(), "y.npy")
		if err := data.SaveNPY(path, x); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if got, _ := os.ReadFile(path); c.Same && !bytes.Equal(got, c.File) {
			t.Errorf("%s: wrote %q, want %q", c.Name, got, c.File)
		}
		if y, err := data.LoadNPY(path); err != nil || !slices.Equal(values(y), c.Values) {
			t.Errorf("%s: the written file: got %v, %v", c.Name, y, err)
		}
	}
	for _, c := range files.Broken {
		if _, err := data.LoadNPY(file(t, "x.npy", c.File)); err == nil || !strings.Contains(err.Error(), "want one of b1, u1") && !strings.Contains(err.Error(), "a structured type") && !strings.Contains(err.Error(), `text of type "<U1"; want numbers or bool`) {
			t.Errorf("%s: got error %v", c.Name, err)
		}
	}
}

func TestNPZ(t *testing.T) {
	var files numpyFiles
	readJSON(t, "numpy_files.json", &files)
	for _, c := range files.Archives {
		all, err := data.LoadNPZ(file(t, "x.npz", c.File))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if len(all) != 3 || !slices.Equal(all["w"].Float64s(), []float64{-3.25, -1.75, -0.25, 1.25, 2.75, 4.25}) || all["b/ias"].At(1) != -1<<63 || !slices.Equal(all["empty"].Shape(), []int{0, 2}) {
			t.Errorf("%s: got %v", c.Name, all)
		}
		for save := range 2 {
			path := filepath.Join(t.TempDir(), "y.npz")
			if err := []func(string, map[string]*tensor.Tensor) error{data.SaveNPZ, data.SaveCompressedNPZ}[save](path, all); err != nil {
				t.Fatal(err)
			}
			again, err := data.LoadNPZ(path)
			if err != nil || len(again) != 3 {
				t.Fatal(err)
			}
			for name, x := range all {
				if y := again[name]; y.DType() != x.DType() || !slices.Equal(y.Shape(), x.Shape()) || !slices.Equal(y.Bits(), x.Bits()) {
					t.Errorf("%s: got %v, want %v", name, y, x)
				}
			}
		}
	}
}

// npy returns a file with the given header and body.
func npy(header string, body ...byte) []byte {
	return append([]byte(fmt.Sprintf("\x93NUMPY\x01\x00%c\x00%s", rune(len(header)), header)), body...)
}

func TestNPYErrors(t *testing.T) {
	h := "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}"
	for want, content := range map[string][]byte{
		`byte 0: found a file of 2 bytes; want the 8 bytes`:                              []byte("\x93N"),
		`byte 0: found a zip archive, such as a PyTorch .pt`:                             []byte("PK\x03\x04abcdef"),
		`byte 0: found "P6 2 2"; want "\x93NUMPY"`:                                       []byte("P6 2 2 255"),
		`byte 6: found version 4.0; want 1.0, 2.0 or 3.0`:                                []byte("\x93NUMPY\x04\x00aaaa"),
		`byte 8: found a header length of 2570; want at most 1, in a file of 11`:         []byte("\x93NUMPY\x01\x00\n\nx"),
		`byte 8: found a header length of 4294967295; want`:                              []byte("\x93NUMPY\x02\x00\xff\xff\xff\xffx"),
		`byte 8: found the end of the file; want the length of the header`:               []byte("\x93NUMPY\x01\x00"),
		`byte 65: found 3 bytes of data; want the elements of shape (1,), 4 bytes each`:  npy(h, 1, 2, 3),
		`byte 65: found 5 bytes of data; want the elements of shape (1,)`:                npy(h, 1, 2, 3, 4, 5),
		`byte 20: found "[1]" instead of (`:                                              npy("{'shape': [1]"),
		`found the name "shape" twice`:                                                   npy("{'shape': (), 'shape': ()}"),
		`found the name "order"; want a dictionary of descr`:                             npy("{'order': 1}"),
		`found 1 of three names`:                                                         npy("{'shape': ()}"),
		`found "-1,)}" instead of a size`:                                                npy("{'shape': (-1,)}"),
		`found "x" after the dictionary`:                                                 npy(h + "x"),
		`found "1}" instead of False`:                                                    npy("{'fortran_order': 1}"),
		`found elements of type "<i3"; want one of b1, u1`:                               npy("{'descr': '<i3'}"),
		`found a structured type`:                                                        npy("{'descr': [('a', '<i4')]}"),
		`the elements of shape (4611686018427387903, 4611686018427387903), 4 bytes each`: npy("{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387903, 4611686018427387903)}"),
	} {
		path := file(t, "x.npy", content)
		_, err := data.LoadNPY(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "data: npy: "+path+": ") {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if err := data.SaveNPY(filepath.Join(t.TempDir(), "x"), tensor.Ones(1).To(tensor.BFloat16)); err == nil || !strings.Contains(err.Error(), "NumPy does not support bfloat16; want one of") {
		t.Errorf("got error %v", err)
	}
	if _, err := data.LoadNPY("missing.npy"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
}

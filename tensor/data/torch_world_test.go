package data_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// torchWorld is the content of testdata/torch_world.json, made by torch_world.py.
type torchWorld struct {
	Files []struct {
		Name string
		File []byte
		Want any
		Left []string
	}
	Numbers          map[string][]any
	Codes, Protocol0 []byte
	CodesSafetensors []byte `json:"codes_safetensors"`
}

// TestLoadKnown reads checkpoints that hold objects of Python's other classes or tensors of other types. Load must refuse them by
// name, and LoadKnown return the rest and name what it has left out.
func TestLoadKnown(t *testing.T) {
	var world torchWorld
	readJSON(t, "torch_world.json", &world)
	for _, c := range world.Files {
		path := file(t, "x.pt", c.File)
		got, left, err := data.LoadKnown(path)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if !reflect.DeepEqual(rendered(got), c.Want) {
			g, _ := json.Marshal(rendered(got))
			w, _ := json.Marshal(c.Want)
			t.Errorf("%s: got\n%s\nwant\n%s", c.Name, g, w)
		}
		var keys []string
		for _, l := range left {
			keys = append(keys, l.Key)
			if l.What == "" || strings.HasPrefix(l.What, "a call") {
				t.Errorf("%s: %s is left out as %q; want the name of a class or type", c.Name, l.Key, l.What)
			}
		}
		slices.Sort(keys)
		if !slices.Equal(keys, c.Left) {
			t.Errorf("%s: left out %v, want %v", c.Name, left, c.Left)
		}
		if _, err := data.Load(path); len(c.Left) == 0 && err != nil || len(c.Left) > 0 && (err == nil || !strings.Contains(err.Error(), left[0].What) || !strings.Contains(err.Error(), "LoadKnown leaves such values out")) {
			t.Errorf("%s: Load: got error %v, want one that names %v", c.Name, err, left)
		}
	}
	if _, err := data.Load(file(t, "x.pt", world.Protocol0)); err == nil || !strings.Contains(err.Error(), "pickle's protocol 0") || !strings.Contains(err.Error(), "save the tensors again") {
		t.Errorf("protocol 0: got error %v", err)
	}
}

// TestEightBitCodes reads all codes of PyTorch's five 8-bit types and compares their numbers with PyTorch's.
func TestEightBitCodes(t *testing.T) {
	var world torchWorld
	readJSON(t, "torch_world.json", &world)
	state, err := data.Load(file(t, "x.pt", world.Codes))
	if err != nil {
		t.Fatal(err)
	}
	tensors, err := data.LoadSafetensors(file(t, "x.safetensors", world.CodesSafetensors))
	if err != nil || len(tensors) != 5 {
		t.Fatal(tensors, err)
	}
	for name, want := range world.Numbers {
		for _, x := range []*tensor.Tensor{state[name].(*tensor.Tensor), tensors[name]} {
			if wide := !strings.HasSuffix(name, "fn") && name != "torch.float8_e5m2"; wide && x.DType() != tensor.BFloat16 || !wide && x.DType().Size() != 1 {
				t.Errorf("%s became %v", name, x.DType())
			}
			for code, got := range x.Float().Float64s() {
				if w, ok := want[code].(float64); ok && (got != w || math.Signbit(got) != math.Signbit(w)) || !ok && fmt.Sprint(got) != map[any]string{"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[want[code]] {
					t.Errorf("%s, code %#02x: got %v, want %v", name, code, got, want[code])
				}
			}
		}
	}
}

// TestUnknownDType checks that a tensor of a type that is not known, or that tensors lack, does not hide the others.
func TestUnknownDType(t *testing.T) {
	header := `{"a":{"dtype":"F8_NEW","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U64","shape":[1],"data_offsets":[3,11]},"w":{"dtype":"F32","shape":[1],"data_offsets":[11,15]}}`
	path := file(t, "x.safetensors", safe(header, 15))
	s, err := data.OpenSafetensors(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if w, err := s.Tensor("w"); err != nil || w.Numel() != 1 || s.DType("a") != "F8_NEW" || s.DType("c") != "" || !slices.Equal(s.Shape("a"), []int{3}) {
		t.Errorf("got %v, %v, type %q", w, err, s.DType("a"))
	}
	if _, err := s.Tensor("a"); err == nil || !strings.Contains(err.Error(), `elements of type "F8_NEW", which tensors do not support`) {
		t.Errorf("got error %v", err)
	}
	if _, err := data.LoadSafetensors(path); err == nil || !strings.Contains(err.Error(), "OpenSafetensors and LoadKnown read the others") {
		t.Errorf("got error %v", err)
	}
	state, left, err := data.LoadKnown(path)
	if err != nil || len(state) != 1 || fmt.Sprint(left) != "[a: a tensor of F8_NEW b: a tensor of U64]" {
		t.Errorf("got %v, %v, %v", state, left, err)
	}
}

// TestShards reads sharded checkpoints of both formats by their index, and checks what is said of indexes that do not fit.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := tensor.Arange(0, 3), tensor.Ones(2, 2).To(tensor.BFloat16)
	for name, x := range map[string]*tensor.Tensor{"a": a, "b": b} {
		if err := data.SaveSafetensors(filepath.Join(dir, "model-"+name+".safetensors"), map[string]*tensor.Tensor{name: x, "other of " + name: x}, nil); err != nil {
			t.Fatal(err)
		}
	}
	index := write("model.safetensors.index.json", "\n"+` {"metadata": {"total_size": 20, "nested": [{}]}, "weight_map": {"a": "model-a.safetensors", "b": "model-b.safetensors"}}`)
	all, err := data.LoadSafetensors(index)
	if err != nil || len(all) != 2 || !tensor.Equal(all["a"], a) || !tensor.Equal(all["b"], b) {
		t.Errorf("got %v, %v", all, err)
	}
	state, err := data.Load(index)
	if err != nil || len(state) != 2 || !tensor.Equal(state["b"].(*tensor.Tensor), b) {
		t.Errorf("got %v, %v", state, err)
	}
	if _, err := data.OpenSafetensors(index); err == nil || !strings.Contains(err.Error(), "Load and LoadSafetensors read model.safetensors.index.json") {
		t.Errorf("got error %v", err)
	}

	var files torchFiles
	readJSON(t, "torch_files.json", &files)
	write("pytorch_model-1.bin", string(files.Files[0].File)) // a state dict
	for _, f := range files.Files {
		if f.Name == "checkpoint" {
			write("pytorch_model-2.bin", string(f.File))
		}
	}
	bin := write("pytorch_model.bin.index.json", `{"weight_map": {"0.weight": "pytorch_model-1.bin", "0.bias": "pytorch_model-1.bin", "a": "model-a.safetensors"}}`)
	state, err = data.Load(bin)
	if err != nil || len(state) != 3 || !slices.Equal(state["0.weight"].(*tensor.Tensor).Shape(), []int{2, 3}) {
		t.Errorf("got %v, %v", state, err)
	}
	for want, text := range map[string]string{
		"shard model-c.safetensors: data: safetensors: ":                              `{"weight_map": {"c": "model-c.safetensors"}}`,
		`1 of 2 tensors of the index are missing, such as ["c"]`:                      `{"weight_map": {"a": "model-a.safetensors", "c": "model-a.safetensors"}}`,
		`found tensor "a" in the file "../x", which is not a name in the folder`:      `{"weight_map": {"a": "../x"}}`,
		`in the file "/etc/passwd", which is not a name in the folder`:                `{"weight_map": {"a": "/etc/passwd"}}`,
		`in the file "a\\b", which is not a name in the folder`:                       `{"weight_map": {"a": "a\\b"}}`,
		`in the file "..", which is not a name in the folder`:                         `{"weight_map": {"a": ".."}}`,
		`in the file "", which is not a name in the folder`:                           `{"weight_map": {"a": ""}}`,
		"found JSON without weight_map; want the index of a sharded checkpoint":       `{"a": {}}`,
		"found 3 instead of a string":                                                 `{"weight_map": {"a": 3}}`,
		`found the name "a" twice`:                                                    `{"weight_map": {"a": "x", "a": "x"}}`,
		"found the end of the text":                                                   `{"weight_map": {"a": "x"`,
		`key "optimizer": found map[string]interface {}; want a tensor`:               `{"weight_map": {"optimizer": "pytorch_model-2.bin"}}`,
		"shard loop.index.json: data: safetensors: " + dir + "/loop.index.json: byte": `{"weight_map": {"a": "loop.index.json"}}`,
	} {
		if _, err := data.Load(write("loop.index.json", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", text, err, want)
		}
	}
}

// npzOf returns an archive of members; those without an extension get .npy.
func npzOf(t *testing.T, members map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range members {
		if filepath.Ext(name) == "" {
			name += ".npy"
		}
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestNPZTexts reads an archive with text among its arrays, as scipy.sparse.save_npz writes.
func TestNPZTexts(t *testing.T) {
	number := npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", 5, 0, 0, 0)
	members := map[string][]byte{
		"data":   number,
		"format": npy("{'descr': '|S3', 'fortran_order': False, 'shape': ()}", 'c', 's', 'r'),
		"names":  npy("{'descr': '<U2', 'fortran_order': False, 'shape': (2,)}", 'a', 0, 0, 0, 0, 0, 0, 0, 0xb1, 3, 0, 0, 'b', 0, 0, 0),
		"big":    npy("{'descr': '>U1', 'fortran_order': False, 'shape': (1,)}", 0, 1, 0xf3, 0xb5),
		"wrong":  npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", 0, 0, 0x11, 0),
		"short":  npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", 'a', 'b', 'c'),
		"object": npy("{'descr': '|O', 'fortran_order': False, 'shape': ()}", 'N', '.'),
		"empty":  npy("{'descr': '|S0', 'fortran_order': False, 'shape': (9,)}"),
	}
	z, err := data.OpenNPZ(file(t, "x.npz", npzOf(t, members)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if names := z.Names(); len(names) != len(members) {
		t.Errorf("got names %q", names)
	}
	if x, err := z.Tensor("data"); err != nil || x.Ints()[0] != 5 {
		t.Errorf("got %v, %v", x, err)
	}
	for name, want := range map[string][]string{"format": {"csr"}, "names": {"a", "αb"}, "big": {"\U0001f3b5"}} {
		if got, err := z.Texts(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"data":   `elements of "i4"; want text; Tensor reads numbers`,
		"wrong":  "want text in UTF-8, or Unicode's code points",
		"short":  "3 bytes of data; want the elements of shape (2,), 3 bytes each",
		"object": `found elements of type "|O"; want one of b1`,
		"empty":  "text of no characters",
		"none":   `array "none" does not exist; want one of 8`,
	} {
		if _, err := z.Texts(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", name, err, want)
		}
	}
	if _, err := z.Tensor("format"); err == nil || !strings.Contains(err.Error(), `text of type "|S3"; want numbers or bool; OpenNPZ`) {
		t.Errorf("got error %v", err)
	}
	if _, err := data.LoadNPZ(file(t, "x.npz", npzOf(t, map[string][]byte{"a.npy": number, "readme.txt": nil}))); err == nil || !strings.Contains(err.Error(), `member "readme.txt"`) {
		t.Errorf("got error %v", err)
	}
}

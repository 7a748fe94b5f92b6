package data

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"halfnote/tensor"
)

// Every reader must return either an error with a position, or tensors that are not much
// larger than the file and that do not change when they are written and read again.

// mostWidening is the largest ratio of an element's size in memory to that in the file: int64
// for uint32.
const mostWidening = 2

// refused reports whether err is not nil. The test fails unless the message of an error has the prefix
// "data: " and a FormatError has all its fields.
func refused(t *testing.T, err error) bool {
	t.Helper()
	var f *FormatError
	if errors.As(err, &f) && (f.At == "" || f.Found == "" || f.Want == "" || f.File == "") {
		t.Fatalf("a field of the error is empty: %#v", f)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "data: ") {
		t.Fatalf("got error %v, want the prefix \"data: \"", err)
	}
	return err != nil
}

// within checks that tensors are not larger than a file of size bytes allows.
func within(t *testing.T, size int, tensors ...*tensor.Tensor) {
	t.Helper()
	total := 0
	for _, x := range tensors {
		total += x.Bytes()
	}
	if total > size*mostWidening {
		t.Fatalf("got %d bytes of tensors from a file of %d bytes", total, size)
	}
}

// alike checks that x and y have the same bits.
func alike(t *testing.T, what string, x, y *tensor.Tensor) {
	t.Helper()
	if x.DType() != y.DType() || !slices.Equal(x.Shape(), y.Shape()) || !slices.Equal(x.Bits(), y.Bits()) {
		t.Fatalf("%s: wrote %v, read %v", what, x, y)
	}
}

func allAlike(t *testing.T, x, y map[string]*tensor.Tensor) {
	t.Helper()
	if len(x) != len(y) {
		t.Fatalf("wrote %d tensors, read %d", len(x), len(y))
	}
	for name := range x {
		alike(t, name, x[name], y[name])
	}
}

// files returns the files of a fixture.
func files(f *testing.F, fixture, list string) (out [][]byte) {
	text, err := os.ReadFile("testdata/" + fixture)
	if err != nil {
		f.Fatal(err)
	}
	var all map[string]json.RawMessage
	var files []struct{ File []byte }
	if err := errors.Join(json.Unmarshal(text, &all), json.Unmarshal(all[list], &files)); err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		out = append(out, file.File)
	}
	return out
}

// FuzzSafetensors mutates header and data separately, so that the length of the header is correct. wrong is
// then added to that length.
func FuzzSafetensors(f *testing.F) {
	for _, file := range files(f, "safetensors_files.json", "files") {
		n := binary.LittleEndian.Uint64(file)
		f.Add(file[8:8+n], file[8+n:], int64(0))
	}
	f.Add([]byte("{}"), []byte{}, int64(-3))
	f.Fuzz(func(t *testing.T, header, body []byte, wrong int64) {
		p := slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(int64(len(header))+wrong)), header, body)
		s, err := readSafetensors(source{"safetensors", "x"}, bytes.NewReader(p), int64(len(p)))
		if refused(t, err) {
			return
		}
		all, _, err := s.all(false)
		if refused(t, err) {
			return
		}
		within(t, len(p), slices.Collect(maps.Values(all))...)
		var b bytes.Buffer
		if err := writeSafetensors(&b, all, s.Metadata()); err != nil {
			t.Fatal(err)
		}
		again, err := readSafetensors(source{"safetensors", "x"}, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := again.all(false)
		if err != nil || !maps.Equal(again.Metadata(), s.Metadata()) {
			t.Fatal(err)
		}
		allAlike(t, all, got)
	})
}

// FuzzCheckpoint mutates the tree of values of a checkpoint with two tensors.
func FuzzCheckpoint(f *testing.F) {
	x := map[string]*tensor.Tensor{"x": tensor.Arange(0, 3), "y": tensor.Scalar(1)}
	for _, tree := range []string{
		`["map[string]any",{}]`,
		`["map[string]any",{"a":["int",1],"b":["float64",0.1],"c":["string","text"],"d":["bool",true],"e":["nil",null],"x":["tensor","x"],"y":["tensor","y"]}]`,
		`["map[string]any",{"l":["[]any",[["[]int",[2]],["[]float64",[0.5,"NaN"]],["[]string",["s"]],["[]tensor",["x"]]]],"f":["map[string]float64",{"g":1}],"t":["map[string]tensor",{"y":"y"}]}]`,
	} {
		f.Add(tree)
	}
	write := func(tree string) ([]byte, error) {
		var b bytes.Buffer
		err := writeSafetensors(&b, x, map[string]string{checkpointKey: tree})
		return b.Bytes(), err
	}
	read := func(p []byte) (map[string]any, error) {
		s, err := readSafetensors(source{"safetensors", "x"}, bytes.NewReader(p), int64(len(p)))
		if err != nil {
			return nil, err
		}
		return readCheckpoint(source{"checkpoint", "x"}, s)
	}
	f.Fuzz(func(t *testing.T, tree string) {
		if !utf8.ValidString(tree) {
			return
		}
		p, err := write(tree)
		if err != nil {
			t.Fatal(err)
		}
		state, err := read(p)
		if refused(t, err) {
			return
		}
		var b, c bytes.Buffer
		if err := writeCheckpoint(&b, state); err != nil {
			if strings.Contains(err.Error(), "two tensors have the name") || strings.Contains(err.Error(), "__metadata__") {
				return // the file has other names for them
			}
			t.Fatal(err)
		}
		again, err := read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := writeCheckpoint(&c, again); err != nil || !bytes.Equal(b.Bytes(), c.Bytes()) {
			t.Fatalf("wrote %q, then %q, %v", b.Bytes(), c.Bytes(), err)
		}
	})
}

func FuzzNPY(f *testing.F) {
	for _, file := range append(files(f, "numpy_files.json", "cases"), files(f, "numpy_files.json", "broken")...) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		x, err := readNPY(source{"npy", "x"}, bytes.NewReader(p), int64(len(p)))
		if refused(t, err) {
			return
		}
		within(t, len(p), x)
		var b bytes.Buffer
		if err := writeNPY(&b, x); err != nil {
			t.Fatal(err)
		}
		y, err := readNPY(source{"npy", "x"}, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		alike(t, "npy", x, y)
	})
}

// FuzzNPZ makes archives with one member and a correct checksum, and changes one byte.
func FuzzNPZ(f *testing.F) {
	for i, file := range files(f, "numpy_files.json", "cases") {
		f.Add("x.npy", file, i%2 == 0, uint16(0), byte(0))
	}
	f.Add("x", []byte("no array"), false, uint16(3), byte(4))
	f.Add("x.npy", []byte("\x93NUMPY\x01\x00\x39\x00{'descr': '<U1', 'fortran_order': False, 'shape': (2,)}   \n\xb1\x03\x00\x00b\x00\x00\x00"), false, uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, name string, content []byte, deflate bool, at uint16, flip byte) {
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		header := &zip.FileHeader{Name: name}
		if deflate {
			header.Method = zip.Deflate
		}
		w, err := z.CreateHeader(header)
		if err != nil {
			return // a name too long
		}
		if _, err := w.Write(content); err != nil {
			return // a folder's name
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		p := archive.Bytes()
		p[int(at)%len(p)] ^= flip
		if z, err := openNPZ(source{"npz", "x"}, bytes.NewReader(p), int64(len(p))); !refused(t, err) {
			for _, name := range z.Names() {
				texts, err := z.Texts(name)
				if refused(t, err) {
					continue
				}
				if size := len(strings.Join(texts, "")); size > len(p)*mostInflation || slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) }) {
					t.Fatalf("%q: got %d bytes of text from a file of %d", name, size, len(p))
				}
			}
		}
		all, err := readNPZ(source{"npz", "x"}, bytes.NewReader(p), int64(len(p)))
		if refused(t, err) {
			return
		}
		if len(all) > len(p) {
			t.Fatalf("%d tensors in %d bytes", len(all), len(p))
		}
		for name, x := range all {
			if x.Bytes() > len(p)*mostInflation*mostWidening {
				t.Fatalf("%q: got %d bytes from a file of %d", name, x.Bytes(), len(p))
			}
			if name == "" {
				return // which SaveNPZ does not write
			}
		}
		var b bytes.Buffer
		if err := writeNPZ(&b, all, zip.Store); err != nil {
			t.Fatal(err)
		}
		again, err := readNPZ(source{"npz", "x"}, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		allAlike(t, all, again)
	})
}

func FuzzIDX(f *testing.F) {
	for _, s := range []string{
		"\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03\x00\x01\x02\xfd\xfe\xff", "\x00\x00\x09\x01\x00\x00\x00\x02\x80\x7f",
		"\x00\x00\x0b\x01\x00\x00\x00\x02\x80\x00\x01\x02", "\x00\x00\x0e\x00\xc0\x04\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x0d\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		x, err := unpackIDX(source{"idx", "x"}, bytes.NewReader(p), int64(len(p)))
		if refused(t, err) {
			return
		}
		within(t, len(p)*mostInflation, x)
		var b bytes.Buffer
		if err := writeIDX(&b, x); err != nil {
			t.Fatal(err)
		}
		y, err := unpackIDX(source{"idx", "x"}, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		alike(t, "idx", x, y)
	})
}

func FuzzCIFAR(f *testing.F) {
	f.Add(make([]byte, 3073), false)
	f.Add(make([]byte, 2*3074), true)
	f.Add([]byte("\x0a"), false)
	f.Fuzz(func(t *testing.T, p []byte, fine bool) {
		c, record := cifar10, 3073
		if fine {
			c, record = cifar100, 3074
		}
		file := slices.Clone(p)
		labels := make([][]int, len(c.classes))
		pixels, err := c.read(source{c.format, "x"}, bytes.NewReader(p), int64(len(p)), labels)
		if refused(t, err) {
			return
		}
		n := len(file) / record
		for i := range n {
			for j, l := range labels {
				if len(l) != n || l[i] != int(file[i*record+j]) || l[i] >= c.classes[j] {
					t.Fatalf("got labels %v", labels)
				}
			}
			if !bytes.Equal(pixels[i*cifarPixels:(i+1)*cifarPixels], file[(i+1)*record-cifarPixels:(i+1)*record]) {
				t.Fatalf("image %d changed", i)
			}
		}
	})
}

// FuzzIndex reads indexes of sharded checkpoints, whose only shard is x.safetensors with the tensor w.
func FuzzIndex(f *testing.F) {
	for _, s := range []string{`{"weight_map": {"w": "x.safetensors"}}`, `{"metadata": {"a": [1, {}]}, "weight_map": {"v": "../x"}}`, `{"weight_map": []}`, "\n{", `{"weight_map": {"w": "index"}}`} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	if err := SaveSafetensors(dir+"/x.safetensors", map[string]*tensor.Tensor{"w": tensor.Ones(2)}, nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		all, _, err := readShards(source{"index", dir + "/index"}, bytes.NewReader(p), int64(len(p)), false)
		if refused(t, err) {
			return
		}
		for name, x := range all {
			if name != "w" || x.Numel() != 2 {
				t.Fatalf("got %q, %v", name, x)
			}
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\ufeffa;b\r\n\"x\"\"\";\r\n", "a\n\"\"\n", "x,y\n1e400,NA\n", "\"", "a,a\n"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, noHeader bool) {
		tab, err := readCSV(source{"csv", "x"}, strings.NewReader(text), CSVOptions{NoHeader: noHeader})
		if refused(t, err) {
			return
		}
		if x, err := tab.Tensor(); err != nil || x.Size(0) != tab.Len() {
			t.Fatalf("numeric columns: got %v, %v", x, err)
		}
		for _, name := range tab.Names() {
			classes, names := tab.Classes(name)
			for i, c := range classes.Ints() {
				if names[c] != tab.Texts(name)[i] {
					t.Fatalf("row %d with %q: got class %q", i, name, names[c])
				}
			}
		}
		if strings.Contains(text, "\r") {
			return // encoding/csv changes line endings within fields
		}
		var b bytes.Buffer
		if err := tab.write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := readCSV(source{"csv", "x"}, &b, CSVOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.names, tab.names) || !reflect.DeepEqual(again.columns, tab.columns) {
			t.Fatalf("wrote %q, read %q", tab.columns, again.columns)
		}
	})
}

func FuzzVocabulary(f *testing.F) {
	f.Add([]byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##able\n"), "unable [CLS] x")
	f.Add([]byte("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\né\r\n##中\r\n"), "É中\u0301")
	f.Fuzz(func(t *testing.T, p []byte, text string) {
		tokens, err := readVocabulary(source{"vocabulary", "x"}, bytes.NewReader(p))
		if refused(t, err) {
			return
		}
		tok, err := NewTokenizer(tokens)
		if err != nil {
			t.Fatal(err)
		}
		e := tok.Encode(text, TextOptions{MaxLength: 9, PadTo: 5})
		if n := len(e.IDs); n < 5 || n > 9 || len(e.Types) != n || len(e.Mask) != n || e.IDs[0] != tok.ID("[CLS]") {
			t.Fatalf("%q: got encoding %+v", text, e)
		}
		for i, id := range tok.Encode(text, TextOptions{Plain: true}).IDs {
			if id < 0 || id >= tok.Len() {
				t.Fatalf("%q: token %d: got id %d", text, i, id)
			}
		}
		if s := tok.Decode(e.IDs); !utf8.ValidString(s) {
			t.Fatalf("%q: got %q when decoded", text, s)
		}
	})
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"Hello, World!", "CAFÉ 中文", "a\u200bb", "\xff\xfe", "İ", "e\u0301\u0301"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, lower bool) {
		list := words(text, lower)
		for _, w := range list {
			if w == "" || strings.ContainsAny(w, " \t\n\r") || !utf8.ValidString(w) {
				t.Fatalf("%q: got the word %q", text, w)
			}
		}
		// Splitting words again must not change them.
		if again := words(strings.Join(list, " "), lower); !slices.Equal(list, again) {
			t.Fatalf("%q: got words %q, and %q from these", text, list, again)
		}
	})
}

// FuzzTorch runs pickle programs in archives with one storage, or in files of the format from
// before PyTorch 1.6.
func FuzzTorch(f *testing.F) {
	for _, file := range files(f, "torch_files.json", "files") {
		if !bytes.HasPrefix(file, zipStart) {
			f.Add(file, []byte{}, true)
			continue
		}
		z, err := openTorchZip(source{"torch", "x"}, bytes.NewReader(file), int64(len(file)))
		if err != nil {
			f.Fatal(err)
		}
		content := func(name string) []byte {
			if z.members[name] == nil {
				return nil
			}
			r, err := z.open(name, int64(len(file)))
			if err != nil {
				f.Fatal(err)
			}
			p, err := io.ReadAll(r)
			if err != nil {
				f.Fatal(err)
			}
			return p
		}
		f.Add(content("data.pkl"), content("data/0"), false)
	}
	f.Fuzz(func(t *testing.T, program, storage []byte, legacy bool) {
		p := program
		if !legacy {
			p = archiveOf(t, zip.Store, member{"a/data.pkl", string(program)}, member{"a/data/0", string(storage)})
		}
		for _, omit := range []bool{false, true} {
			v, left, err := readTorch(source{"torch", "x"}, bytes.NewReader(p), int64(len(p)), omit)
			if refused(t, err) {
				continue
			}
			if !omit && len(left) > 0 {
				t.Fatalf("left out %v", left)
			}
			w := walk{t: t}
			w.value(v)
			if w.values > mostValues {
				t.Fatalf("got %d values", w.values)
			}
		}
	})
}

// walk visits all values of a tree and reads the tensors.
type walk struct {
	t      *testing.T
	values int
}

func (w *walk) value(v any) {
	w.values++
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			w.value(x)
		}
	case []any:
		for _, x := range v {
			w.value(x)
		}
	case *tensor.Tensor:
		if v.Numel() < 1<<16 { // views that repeat an element may have any size
			v.Float64s()
		}
	case nil, bool, int, float64, string, []byte, tensor.DType, tensor.Device:
	default:
		w.t.Fatalf("got a value of type %T", v)
	}
}

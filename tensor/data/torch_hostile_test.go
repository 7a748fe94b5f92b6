package data

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// member is a file in an archive.
type member struct{ name, content string }

// archiveOf returns a zip archive of members; method is zip.Store or zip.Deflate.
func archiveOf(t testing.TB, method uint16, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// programOf returns an archive with the pickle program and one storage of 16 bytes.
func programOf(t testing.TB, program string) []byte {
	return archiveOf(t, zip.Store, member{"a/data.pkl", program}, member{"a/data/0", "0123456789abcdef"})
}

// Parts of programs: a storage of numel elements, a text, a tensor.
func storageProgram(class, key string, numel uint32) string {
	return "(" + textProgram("storage") + "ctorch\n" + class + "\n" + textProgram(key) + textProgram("cpu") + "J" + string(binary.LittleEndian.AppendUint32(nil, numel)) + "tQ"
}
func textProgram(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}
func tensorProgram(storage, offset, shape, stride string) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + offset + "(" + shape + "t(" + stride + "t\x89}tR"
}

// overlapping returns an archive with n storages that all consist of the same bytes of the file.
func overlapping(program, content string, n int) []byte {
	var file, directory []byte
	entry := func(name, content string, at int) {
		sum := crc32.ChecksumIEEE([]byte(content))
		sizes := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(len(content))), uint32(len(content)))
		var h []byte
		h = append(h, "PK\x01\x02\x14\x00\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
		h = append(binary.LittleEndian.AppendUint32(h, sum), sizes...)
		h = binary.LittleEndian.AppendUint16(h, uint16(len(name)))
		h = append(h, make([]byte, 12)...)
		h = binary.LittleEndian.AppendUint32(h, uint32(at))
		directory = append(append(directory, h...), name...)
	}
	local := func(name, content string) int {
		at := len(file)
		file = append(file, "PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
		file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE([]byte(content)))
		file = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(file, uint32(len(content))), uint32(len(content)))
		file = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(file, uint16(len(name))), 0)
		file = append(append(file, name...), content...)
		return at
	}
	entry("data.pkl", program, local("data.pkl", program))
	at := local("data/0", content)
	for i := range n {
		entry(fmt.Sprintf("data/%d", i), content, at)
	}
	end := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte("PK\x05\x06\x00\x00\x00\x00"), uint16(n+1)), uint16(n+1))
	end = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(end, uint32(len(directory))), uint32(len(file)))
	return append(append(file, directory...), append(end, 0, 0)...)
}

// TestHostileTorchFiles checks that files that try to run code, to exhaust memory or to run forever are
// rejected with the reason, and that reading them takes little memory.
func TestHostileTorchFiles(t *testing.T) {
	trap := filepath.Join(t.TempDir(), "trap")
	run := "cos\nsystem\n(" + textProgram("touch "+trap) + "tR"
	eval := textProgram("builtins") + textProgram("eval") + "\x93" + textProgram("open('"+trap+"','w')") + "\x85R"
	laughs := "]" // each list contains the previous one ten times
	for range 30 {
		laughs += "q\x00]" + strings.Repeat("h\x00a", 10)
	}
	float := func(numel uint32) string { return storageProgram("FloatStorage", "0", numel) }
	var many string
	for i := range 100 {
		many += storageProgram("ByteStorage", fmt.Sprint(i), 4096) + "a"
	}
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		// Code.
		{"os.system", "found a call of os.system", programOf(t, run+".")},
		{"os.system, not kept", "found a call of os.system", programOf(t, run+"0N.")},
		{"builtins.eval", "found a call of builtins.eval", programOf(t, "\x80\x04"+eval+".")},
		{"eval in a dict", `key "a.0": found a call of builtins.eval`, programOf(t, "}"+textProgram("a")+"]"+eval+"as.")},
		{"eval in attributes", "found a call of builtins.eval", programOf(t, "ccollections\nOrderedDict\n)R"+eval+"b.")},
		{"eval by BUILD", "found a call of builtins.object", programOf(t, "cbuiltins\nobject\n)\x81}"+textProgram("x")+eval+"sb.")},
		{"eval by INST", "found a call of builtins.eval", programOf(t, "("+textProgram("1")+"ibuiltins\neval\n.")},
		{"eval by OBJ", "found a call of builtins.eval", programOf(t, "(cbuiltins\neval\n"+textProgram("1")+"o.")},
		{"eval by NEWOBJ_EX", "found a call of builtins.eval", programOf(t, "cbuiltins\neval\n)}"+textProgram("a")+"Ns\x92.")},
		{"call of a result", "found a call of builtins.getattr", programOf(t, "cbuiltins\ngetattr\n)R)R.")},
		{"a function itself", "found the name builtins.eval", programOf(t, "cbuiltins\neval\n.")},
		{"load within load", "found a call of torch.storage._load_from_bytes", programOf(t, "ctorch.storage\n_load_from_bytes\n(C\x00tR.")},
		{"a tensor of a custom class", "found a call of evil.Tensor", programOf(t, "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\ncevil\nTensor\n)}tR.")},
		{"a tensor by another function", "found a call of os.system", programOf(t, "ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\nctorch\nTensor\n)}tR.")},
		{"an extension", "the operation 0x82", programOf(t, "\x82\x01.")},
		{"a buffer", "the operation 0x97", programOf(t, "\x97.")},

		// Depth, size and time.
		{"deep lists", "containers nested 1001 deep", programOf(t, strings.Repeat("]", 100000)+strings.Repeat("a", 99999)+".")},
		{"deep tuples", "containers nested 1001 deep", programOf(t, ")"+strings.Repeat("\x85", 100000)+".")},
		{"deep dicts", "containers nested 1001 deep", programOf(t, strings.Repeat("}K\x01", 20000)+"N"+strings.Repeat("s", 20000)+".")},
		{"a billion laughs", "more than 16777216 values", programOf(t, laughs+".")},
		{"copies of copies", "more than 8388608 operations", programOf(t, "]("+strings.Repeat("N", 100000)+"eq\x00"+strings.Repeat("cbuiltins\nset\nh\x00\x85R0", 1000)+".")},
		{"bytes of text, again and again", "more than 8388608 operations", programOf(t, textProgram(strings.Repeat("x", 1<<20))+"q\x000"+strings.Repeat("c_codecs\nencode\nh\x00"+textProgram("latin1")+"\x86R0", 100)+".")},
		{"long text", "2147483647 bytes requested", programOf(t, "X\xff\xff\xff\x7f")},
		{"longer text", "bytes requested", programOf(t, "\x8d\xff\xff\xff\xff\xff\xff\xff\xff")},
		{"long bytes", "bytes requested", programOf(t, "B\xff\xff\xff\xffx.")},
		{"a long int", "an int of 2147483647 bytes", programOf(t, "\x8b\xff\xff\xff\x7f")},
		{"a long int in digits", "an int of at most 100 digits", programOf(t, "L"+strings.Repeat("9", 5000)+"L\n.")},
		{"a long line", "a line of more than 64 kB", programOf(t, "c"+strings.Repeat("a", 1<<17))},

		// Storages and tensors.
		{"a huge storage", "found 8589934588 bytes; want at most the file's", programOf(t, float(1<<31-1)+".")},
		{"a negative storage", "storage(a str, torch.FloatStorage", programOf(t, float(1<<32-1)+".")},
		{"a storage beyond int", "storage(a str, torch.FloatStorage", programOf(t, strings.Replace(float(0), "J\x00\x00\x00\x00", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01", 1)+".")},
		{"a storage of 2^62", "a storage of 4611686018427387904 elements", programOf(t, strings.Replace(float(0), "J\x00\x00\x00\x00", "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40", 1)+".")},
		{"a storage that does not exist", `no member "data/1"`, programOf(t, storageProgram("FloatStorage", "1", 4)+".")},
		{"a storage of another file", `no member "data/../../../etc/passwd"`, programOf(t, storageProgram("FloatStorage", "../../../etc/passwd", 4)+".")},
		{"a storage of two types", "of different types or sizes", programOf(t, float(4)+"0"+storageProgram("IntStorage", "0", 4)+".")},
		{"a storage of two sizes", "of different types or sizes", programOf(t, float(4)+"0"+float(3)+".")},
		{"complex", "a storage of torch.complex64", programOf(t, storageProgram("ComplexFloatStorage", "0", 2)+".")},
		{"a storage of another module", "a storage of the class torch.evil.FloatStorage", programOf(t, strings.Replace(float(4), "ctorch\n", "ctorch.evil\n", 1)+".")},
		{"storages that overlap", "at most the file's", overlapping("]"+many+".", strings.Repeat("x", 4096), 100)},
		{"a tensor beyond its storage", "in a storage of 4 elements", programOf(t, tensorProgram(float(4), "K\x00", "K\x05", "K\x01")+".")},
		{"an offset beyond", "in a storage of 4 elements", programOf(t, tensorProgram(float(4), "K\x01", "K\x04", "K\x01")+".")},
		{"an offset below 0", "in a storage of 4 elements", programOf(t, tensorProgram(float(4), "J\xff\xff\xff\xff", "K\x01", "K\x01")+".")},
		{"a stride below 0", "in a storage of 4 elements", programOf(t, tensorProgram(float(4), "K\x03", "K\x02", "J\xff\xff\xff\xff")+".")},
		{"a stride that overflows", "in a storage of 4 elements", programOf(t, tensorProgram(float(4), "K\x00", "K\x03", "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40")+".")},
		{"a size below 0", "in a storage of 4 elements", programOf(t, tensorProgram(float(4), "K\x00", "J\xff\xff\xff\xff", "K\x01")+".")},
		{"sizes that overflow", "in a storage of 4 elements", programOf(t, tensorProgram(float(4), "K\x00", strings.Repeat("J\xff\xff\xff\x7f", 3), "K\x00K\x00K\x00")+".")},
		{"65 dimensions", "_rebuild_tensor_v2(", programOf(t, tensorProgram(float(4), "K\x00", strings.Repeat("K\x01", 65), strings.Repeat("K\x01", 65))+".")},
		{"sizes without strides", "_rebuild_tensor_v2(", programOf(t, tensorProgram(float(4), "K\x00", "K\x01", "")+".")},
		{"a tensor of text", "_rebuild_tensor_v2(a str", programOf(t, tensorProgram(textProgram("0"), "K\x00", "K\x01", "K\x01")+".")},
		{"an array without its bytes", "8 bytes for an array of shape (1000000,)", programOf(t, "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\ntR(K\x01J\x40\x42\x0f\x00\x85cnumpy\ndtype\n("+textProgram("f8")+"tR\x89C\x0812345678tb.")},

		// The virtual machine of pickle.
		{"nothing on the stack", "an empty stack", programOf(t, "0.")},
		{"nothing to return", "an empty stack", programOf(t, ".")},
		{"below the mark", "an empty stack", programOf(t, "N(a.")},
		{"no mark", "without a mark", programOf(t, "Nt.")},
		{"no such value", "a reference to value 7", programOf(t, "h\x07.")},
		{"no end", "bytes requested, 0 left", programOf(t, "N")},
		{"protocol 6", "protocol 6", programOf(t, "\x80\x06N.")},
		{"items of a number", "items added to an int", programOf(t, "K\x01K\x02a.")},
		{"items of a tuple", "items added to a tuple", programOf(t, ")K\x02a.")},
		{"keys of a list", "keys set in a list", programOf(t, "]K\x01K\x02s.")},
		{"a key alone", "a key without a value", programOf(t, "}(K\x01u.")},
		{"a call of a number", "a call of an int", programOf(t, "K\x01)R.")},
		{"arguments of a number", "arguments that are an int", programOf(t, "cbuiltins\nset\nK\x01R.")},
		{"attributes of a number", "attributes of an int", programOf(t, "K\x01}b.")},
		{"a dict that contains itself", `key "a": found a dict that contains itself`, programOf(t, "}q\x00"+textProgram("a")+"h\x00s.")},
		{"no UTF-8", "text in UTF-8", programOf(t, "X\x01\x00\x00\x00\xff.")},

		// Archives.
		{"a zip bomb", "compressed data", archiveOf(t, zip.Deflate, member{"a/data.pkl", "]" + strings.Repeat("Na", 1<<22) + "."})},
		{"a bomb of a storage", "compressed data", slices.Concat(archiveOf(t, zip.Deflate, member{"a/data.pkl", float(1<<20) + "."}, member{"a/data/0", strings.Repeat("\x00", 4<<20)}))},
		{"two programs", "a second data.pkl", archiveOf(t, zip.Store, member{"a/data.pkl", "N."}, member{"b/data.pkl", "N."})},
		{"one name twice", "a duplicate name", archiveOf(t, zip.Store, member{"a/data.pkl", "N."}, member{"a/data/0", "x"}, member{"a/data/0", "y"})},
		{"an absolute path", "a name outside of the folder", archiveOf(t, zip.Store, member{"a/data.pkl", "N."}, member{"/etc/passwd", "x"})},
		{"a path that goes up", "a name outside of the folder", archiveOf(t, zip.Store, member{"a/data.pkl", "N."}, member{"../data/0", "x"})},
		{"TorchScript", "a TorchScript archive", archiveOf(t, zip.Store, member{"a/data.pkl", "N."}, member{"a/code/__torch__.py", "x"})},
		{"no program", "no data.pkl", archiveOf(t, zip.Store, member{"a/x.npy", "x"})},
		{"another byteorder", `found "middle"`, archiveOf(t, zip.Store, member{"a/data.pkl", "N."}, member{"a/byteorder", "middle"})},
		{"a long byteorder", "1000 bytes", archiveOf(t, zip.Store, member{"a/data.pkl", "N."}, member{"a/byteorder", strings.Repeat("x", 1000)})},
		{"a checksum", "checksum", wrongByte(programOf(t, float(4)+"."), "0123456789abcdef")},
		{"no archive", "an invalid zip archive", []byte("PK\x03\x04 and so on")},
		{"a pickle", "a pickle without PyTorch's magic number", []byte("\x80\x02N.")},
		{"a tar archive", "a tar archive", append(append(make([]byte, 257), "ustar"...), make([]byte, 300)...)},
		{"empty", `found ""`, nil},
		{"safetensors", "Load, LoadSafetensors", safeFile()},

		// The format before 1.6.
		{"another version", "1001", legacyOf("K\x01.", "}.", "N.", "].", "")},
		{"no keys", `storage "0": found no elements`, legacyOf("M\xe9\x03.", "}.", float(4)+".", "].", "")},
		{"another number of elements", "found 3 elements", legacyOf("M\xe9\x03.", "}.", float(4)+".", "]"+textProgram("0")+"a.", "\x03\x00\x00\x00\x00\x00\x00\x00"+strings.Repeat("x", 16))},
		{"too few bytes", "and 15 bytes to the end", legacyOf("M\xe9\x03.", "}.", float(4)+".", "]"+textProgram("0")+"a.", "\x04\x00\x00\x00\x00\x00\x00\x00"+strings.Repeat("x", 15))},
		{"a key twice", "each once", legacyOf("M\xe9\x03.", "}.", float(0)+".", "]"+textProgram("0")+"a"+textProgram("0")+"a.", strings.Repeat("\x00", 16))},
		{"a key without a storage", "storages of the program", legacyOf("M\xe9\x03.", "}.", "N.", "]"+textProgram("0")+"a.", "")},
		{"an instance of a module before 1.6", "found a call of evil.Net", legacyOf("M\xe9\x03.", "}.", "("+textProgram("module")+"cevil\nNet\nNNtQ)R.", "].", "")},
		{"another object before 1.6", "an object kept outside of the program", legacyOf("M\xe9\x03.", "}.", "("+textProgram("module")+"NNNtQ.", "].", "")},
		{"os.system before 1.6", "found a call of os.system", legacyOf("M\xe9\x03.", "}.", run+".", "].", "")},
		{"a module before 1.6", "found the name evil.Net", legacyOf("M\xe9\x03.", "}.", "("+textProgram("module")+"cevil\nNet\nNNNtQ.", "].", "")},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, _, err := readTorch(source{"torch", "x.pt"}, bytes.NewReader(c.file), int64(len(c.file)), false)
		runtime.ReadMemStats(&after)
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v and the error %v, want an error that contains %q", c.name, v, err, c.want)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 256<<20 {
			t.Errorf("%s: allocated %d MB for a file of %d bytes", c.name, taken>>20, len(c.file))
		}
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program in a file was run")
	}
}

// wrongByte changes the first byte of content in an archive.
func wrongByte(archive []byte, content string) []byte {
	at := bytes.Index(archive, []byte(content))
	archive[at] ^= 1
	return archive
}

func safeFile() []byte {
	return append(binary.LittleEndian.AppendUint64(nil, 2), "{}"...)
}

// legacyOf returns a file in the format from before PyTorch 1.6.
func legacyOf(version, facts, program, keys, storages string) []byte {
	return []byte("\x80\x02\x8a\x0a" + string(magicNumber) + "." + version + facts + program + keys + storages)
}

// TestTruncatedTorchFiles checks that files cut at any byte are errors.
func TestTruncatedTorchFiles(t *testing.T) {
	whole := tensorProgram(storageProgram("FloatStorage", "0", 4), "K\x00", "K\x02K\x02", "K\x02K\x01") + "."
	for _, file := range [][]byte{programOf(t, whole), legacyOf("M\xe9\x03.", "}.", whole, "]"+textProgram("0")+"a.", "\x04\x00\x00\x00\x00\x00\x00\x00"+strings.Repeat("\x00", 16))} {
		v, _, err := readTorch(source{"torch", "x.pt"}, bytes.NewReader(file), int64(len(file)), false)
		if x, ok := v.(*tensor.Tensor); err != nil || !ok || !slices.Equal(x.Shape(), []int{2, 2}) {
			t.Fatalf("the whole file: got %v, %v", v, err)
		}
		for n := range len(file) {
			if v, _, err := readTorch(source{"torch", "x.pt"}, bytes.NewReader(file[:n]), int64(n), false); err == nil {
				t.Errorf("the first %d bytes of %d: got %v and no error", n, len(file), v)
			}
		}
	}
}

// TestTorchByteOrder checks that big-endian elements are read.
func TestTorchByteOrder(t *testing.T) {
	program := tensorProgram(storageProgram("FloatStorage", "0", 2), "K\x00", "K\x02", "K\x01") + "."
	const elements = "\x3f\x80\x00\x00\xc0\x20\x00\x00"
	for name, file := range map[string][]byte{
		"zip":        archiveOf(t, zip.Store, member{"a/data.pkl", program}, member{"a/byteorder", "big"}, member{"a/data/0", elements}),
		"before 1.6": legacyOf("M\xe9\x03.", "}"+textProgram("little_endian")+"\x89s.", program, "]"+textProgram("0")+"a.", "\x00\x00\x00\x00\x00\x00\x00\x02"+elements),
	} {
		v, _, err := readTorch(source{"torch", "x.pt"}, bytes.NewReader(file), int64(len(file)), false)
		if x, ok := v.(*tensor.Tensor); err != nil || !ok || !slices.Equal(x.Float64s(), []float64{1, -2.5}) {
			t.Errorf("%s: got %v, %v", name, v, err)
		}
	}
}

// TestTorchInterrupt checks that an interrupt ends a long program.
func TestTorchInterrupt(t *testing.T) {
	file := programOf(t, "]("+strings.Repeat("N", 1<<22)+"e.")
	type interrupted struct{}
	driver.SetHost(driver.Host{Poll: func() { panic(interrupted{}) }})
	defer driver.SetHost(driver.Host{})
	defer func() {
		if p := recover(); p != any(interrupted{}) {
			t.Errorf("got the panic %v", p)
		}
	}()
	v, _, err := readTorch(source{"torch", "x.pt"}, bytes.NewReader(file), int64(len(file)), false)
	t.Errorf("got %v, %v", v, err)
}

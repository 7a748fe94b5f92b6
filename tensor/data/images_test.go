package data_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

func gzipped(p []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(p)
	z.Close()
	return b.Bytes()
}

func TestIDX(t *testing.T) {
	for _, c := range []struct {
		name    string
		content string
		dtype   tensor.DType
		shape   []int
		want    []float64
		same    bool
	}{
		{"uint8", "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03\x00\x01\x02\xfd\xfe\xff", tensor.Uint8, []int{2, 3}, []float64{0, 1, 2, 253, 254, 255}, true},
		{"int8", "\x00\x00\x09\x01\x00\x00\x00\x02\x80\x7f", tensor.Int8, []int{2}, []float64{-128, 127}, true},
		{"int16", "\x00\x00\x0b\x01\x00\x00\x00\x02\x80\x00\x01\x02", tensor.Int16, []int{2}, []float64{-32768, 258}, true},
		{"int32", "\x00\x00\x0c\x01\x00\x00\x00\x02\xff\xff\xff\xfe\x00\x01\x00\x00", tensor.Int32, []int{2}, []float64{-2, 65536}, true},
		{"float32", "\x00\x00\x0d\x01\x00\x00\x00\x01\x3f\xc0\x00\x00", tensor.Float32, []int{1}, []float64{1.5}, true},
		{"float64", "\x00\x00\x0e\x00\xc0\x04\x00\x00\x00\x00\x00\x00", tensor.Float64, []int{}, []float64{-2.5}, true},
		{"none", "\x00\x00\x08\x02\x00\x00\x00\x00\x00\x00\x00\x03", tensor.Uint8, []int{0, 3}, []float64{}, true},
	} {
		for _, content := range [][]byte{[]byte(c.content), gzipped([]byte(c.content))} {
			x, err := data.LoadIDX(file(t, "x.idx", content))
			if err != nil || x.DType() != c.dtype || !slices.Equal(x.Shape(), c.shape) || !slices.Equal(x.Float64s(), c.want) {
				t.Errorf("%s: got %v, %v", c.name, x, err)
				continue
			}
			for _, name := range []string{"y.idx", "y.idx.gz"} {
				path := filepath.Join(t.TempDir(), name)
				if err := data.SaveIDX(path, x); err != nil {
					t.Fatal(err)
				}
				if got, _ := os.ReadFile(path); c.same && name == "y.idx" && string(got) != c.content {
					t.Errorf("%s: wrote %q, want %q", c.name, got, c.content)
				}
				if y, err := data.LoadIDX(path); err != nil || !tensor.Equal(y, x) {
					t.Errorf("%s: %s: got %v, %v", c.name, name, y, err)
				}
			}
		}
	}
}

func TestMNIST(t *testing.T) {
	folder := t.TempDir()
	images, labels := tensor.Arange(0, 3*28*28).Reshape(3, 28, 28).To(tensor.Uint8), tensor.NewAs(tensor.Uint8, []float64{7, 0, 9})
	for name, x := range map[string]*tensor.Tensor{"train-images-idx3-ubyte": images, "train-labels-idx1-ubyte.gz": labels, "t10k-images-idx3-ubyte.gz": images, "t10k-labels-idx1-ubyte": images} {
		if err := data.SaveIDX(filepath.Join(folder, name), x); err != nil {
			t.Fatal(err)
		}
	}
	set, err := data.LoadMNIST(folder, true)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := set.Fields[0], set.Fields[1]; !slices.Equal(x.Shape(), []int{3, 1, 28, 28}) || !slices.Equal(x.Bits(), images.Bits()) || y.DType() != tensor.Int64 || !slices.Equal(y.Ints(), []int{7, 0, 9}) {
		t.Errorf("got %v and %v", x.Shape(), y)
	}
	if _, err := data.LoadMNIST(folder, false); err == nil || !strings.Contains(err.Error(), "found uint8 of shape (3, 28, 28) and uint8 of shape (3, 28, 28); want uint8 of shapes (n, h, w) and (n)") {
		t.Errorf("got error %v", err)
	}
	if _, err := data.LoadMNIST(t.TempDir(), true); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got error %v", err)
	}
}

func TestIDXErrors(t *testing.T) {
	for want, content := range map[string]string{
		"byte 0: found the end of the file; want 4 bytes":                                                               "\x00\x00\x08",
		"byte 0: found 01 00 08; want 00 00 and a type":                                                                 "\x01\x00\x08\x01",
		"byte 0: found 00 00 0a; want 00 00 and a type: 08, 09, 0b":                                                     "\x00\x00\x0a\x01",
		"byte 4: found the end of the file; want 2 sizes":                                                               "\x00\x00\x08\x02\x00\x00\x00\x01\x00",
		"byte 8: found at most 2 bytes; want the elements of shape (3,)":                                                "\x00\x00\x08\x01\x00\x00\x00\x03ab",
		"byte 8: found at least 2 bytes; want the elements of shape (1,)":                                               "\x00\x00\x08\x01\x00\x00\x00\x01ab",
		"byte 16: found at most 0 bytes; want the elements of shape (4294967295, 4294967295, 4294967295), 8 bytes each": "\x00\x00\x0e\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		string(gzipped([]byte("\x00\x00\x08\x01\x00\x00\x00\x03ab"))):                                                   "byte 8: found at least 2 bytes; want the elements of shape (3,)",
	} {
		if strings.HasPrefix(want, "\x1f") {
			want, content = content, want
		}
		path := file(t, "x.idx", []byte(content))
		if _, err := data.LoadIDX(path); err == nil || !strings.Contains(err.Error(), "data: idx: "+path+": "+want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "y.idx")
	if err := data.SaveIDX(path, tensor.Ones(1).To(tensor.Int64)); err == nil || !strings.Contains(err.Error(), "the format does not support int64; want uint8") {
		t.Errorf("got error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) > 0 {
		t.Errorf("failed saves left the files %v", left)
	}
}

func TestCIFAR(t *testing.T) {
	folder := t.TempDir()
	var want []byte
	for i, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"} {
		images := tensor.Arange(0, 2*3*32*32).AddScalar(float64(7*i)).Reshape(2, 3, 32, 32).To(tensor.Int64).To(tensor.Uint8)
		classes := tensor.FromInts([]int{i, 9 - i})
		path := filepath.Join(folder, name)
		if err := data.SaveCIFAR10(path, images, classes); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil || len(content) != 2*3073 || content[0] != byte(i) || content[3073] != byte(9-i) || content[1] != byte(7*i) {
			t.Fatalf("%s: %d bytes, %v", name, len(content), err)
		}
		want = append(append(want, content[1:3073]...), content[3074:]...)
	}
	set, err := data.LoadCIFAR10(folder, true)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := set.Fields[0], set.Fields[1]; !tensor.Equal(x, tensor.FromBytes(tensor.Uint8, want, 10, 3, 32, 32)) || !slices.Equal(y.Ints(), []int{0, 9, 1, 8, 2, 7, 3, 6, 4, 5}) {
		t.Errorf("got %v and %v", x.Shape(), y)
	}
	one, err := data.LoadCIFAR10(filepath.Join(folder, "data_batch_3.bin"), false)
	if err != nil || !slices.Equal(one.Fields[1].Ints(), []int{2, 7}) {
		t.Errorf("one file: got %v", err)
	}

	path := filepath.Join(folder, "test.bin")
	x := tensor.Full(3, 1, 3, 32, 32).To(tensor.Uint8)
	if err := data.SaveCIFAR100(path, x, tensor.FromInts([]int{19}), tensor.FromInts([]int{99})); err != nil {
		t.Fatal(err)
	}
	hundred, err := data.LoadCIFAR100(folder, false)
	if err != nil || !tensor.Equal(hundred.Fields[0], x) || hundred.Fields[1].At(0) != 19 || hundred.Fields[2].At(0) != 99 {
		t.Errorf("a hundred classes: got %v", err)
	}
}

func TestCIFARErrors(t *testing.T) {
	record := make([]byte, 2*3073)
	record[3073] = 10
	for want, content := range map[string][]byte{
		"byte 3073: found a record of 2 bytes at the end; want records of 3073 bytes": make([]byte, 3075),
		"byte 3073: found label 10 in record 1; want 0 to 9":                          record,
	} {
		path := file(t, "x.bin", content)
		if _, err := data.LoadCIFAR10(path, true); err == nil || !strings.Contains(err.Error(), "data: cifar-10: "+path+": "+want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "y.bin")
	x := tensor.Zeros(2, 3, 32, 32).To(tensor.Uint8)
	for want, err := range map[string]error{
		"images of float32 and shape (2, 3, 32, 32); want uint8": data.SaveCIFAR10(path, tensor.Zeros(2, 3, 32, 32), tensor.FromInts([]int{0, 0})),
		"images of uint8 and shape (2, 3072); want":              data.SaveCIFAR10(path, x.Reshape(2, 3072), tensor.FromInts([]int{0, 0})),
		"classes of shape (1,); want (2,)":                       data.SaveCIFAR10(path, x, tensor.FromInts([]int{0})),
		"class 10 of image 1; want 0 to 9":                       data.SaveCIFAR10(path, x, tensor.FromInts([]int{0, 10})),
		"class 20 of image 0; want 0 to 19":                      data.SaveCIFAR100(path, x, tensor.FromInts([]int{20, 0}), tensor.FromInts([]int{0, 0})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if _, err := data.LoadCIFAR10(t.TempDir(), true); err == nil || !strings.Contains(err.Error(), "data_batch_1.bin") {
		t.Errorf("an empty folder: got error %v", err)
	}
}

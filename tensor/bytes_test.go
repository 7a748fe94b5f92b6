package tensor_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"halfnote/tensor"
)

// TestBytes writes and reads back every dtype, whole, strided and in pieces.
func TestBytes(t *testing.T) {
	for _, d := range tensor.DTypes() {
		for _, shape := range [][]int{{}, {0}, {1}, {3, 5}, {2, 0, 3}, {700, 801}} {
			x := tensor.Rand(shape...).MulScalar(50).To(d)
			if len(shape) == 2 {
				x = x.T()
			}
			var b bytes.Buffer
			n, err := x.WriteTo(&b)
			if err != nil || n != int64(x.Bytes()) || b.Len() != x.Bytes() {
				t.Fatalf("%v %v: %d bytes written, error %v; want %d", d, shape, n, err, x.Bytes())
			}
			y := tensor.FromBytes(d, b.Bytes(), x.Shape()...)
			z, err := tensor.ReadTensor(iotest.HalfReader(&b), d, x.Shape()...)
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]*tensor.Tensor{"FromBytes": y, "ReadTensor": z} {
				// without sizes FromBytes makes a vector
				if !slices.Equal(got.Bits(), x.Bits()) || len(shape) > 0 && !slices.Equal(got.Shape(), x.Shape()) {
					t.Errorf("%s: %v %v: the elements differ from those written", name, d, shape)
				}
			}
		}
	}
	if got := tensor.FromBytes(tensor.Int32, []byte{1, 2, 0, 0, 255, 255, 255, 255}).Ints(); !slices.Equal(got, []int{513, -1}) {
		t.Errorf("the bytes are read as %v", got)
	}
	if got := tensor.FromBytes(tensor.Bool, []byte{0, 1, 7}).Bits(); !slices.Equal(got, []uint64{0, 1, 1}) {
		t.Errorf("bools: got %v", got)
	}
}

func TestBytesErrors(t *testing.T) {
	for want, f := range map[string]func(){
		"frombuffer: shape (2, 2): dtype float32: got 12 bytes; want 16": func() { tensor.FromBytes(tensor.Float32, make([]byte, 12), 2, 2) },
		"got 7 bytes; want 6": func() { tensor.FromBytes(tensor.Float16, make([]byte, 7)) },
		"unknown dtype":       func() { tensor.FromBytes(tensor.DType(99), nil) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if _, err := tensor.ReadTensor(strings.NewReader("abc"), tensor.Float32, 1); err != io.ErrUnexpectedEOF {
		t.Errorf("truncated input: got error %v", err)
	}
}

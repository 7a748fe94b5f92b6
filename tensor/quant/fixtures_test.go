package quant_test

import (
	"math"
	"os"
	"sync"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/quant"
)

// fixtures returns the tensors that testdata/formats.py wrote: those of testdata, or of the file that HALFNOTE_FORMATS names.
var fixtures = sync.OnceValues(func() (map[string]*tensor.Tensor, error) {
	path := "testdata/formats.safetensors"
	if p := os.Getenv("HALFNOTE_FORMATS"); p != "" {
		path = p
	}
	return data.LoadSafetensors(path)
})

// fixture returns a tensor of the file.
func fixture(t *testing.T, name string) *tensor.Tensor {
	t.Helper()
	all, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	if all[name] == nil {
		t.Fatalf("the fixtures have no %s", name)
	}
	return all[name]
}

// bytesOf returns the elements of a uint8 tensor.
func bytesOf(t *testing.T, name string) []uint8 { return codesOf(fixture(t, name)) }

func codesOf(x *tensor.Tensor) []uint8 {
	list := make([]uint8, 0, x.Numel())
	for _, v := range x.Int64s() {
		list = append(list, uint8(v))
	}
	return list
}

// numbers returns the elements of a tensor as float32.
func numbers(x *tensor.Tensor) []float32 { return x.Float32s() }

// named returns the format with a name.
func named(t *testing.T, name string) quant.Format {
	for _, f := range quant.Formats() {
		if f.String() == name {
			return f
		}
	}
	t.Fatalf("no format %s", name)
	return 0
}

// unpacked returns the codes of q, one in a byte.
func unpacked(q *quant.Tensor, bits int) []uint8 {
	var list []uint8
	codes := codesOf(q.Codes())
	at := 0
	for range q.Numel() {
		c := int(codes[at/8]) >> (at % 8)
		if at/8+1 < len(codes) {
			c |= int(codes[at/8+1]) << (8 - at%8)
		}
		list = append(list, uint8(c&(1<<bits-1)))
		at += bits
	}
	return list
}

// same reports whether two numbers have the same value and sign, or are NaN.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

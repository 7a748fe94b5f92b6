package torchtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"halfnote/tensor"
)

// fixtures are what a file in testdata holds.
type fixtures struct {
	torch   string
	cases   []fixture
	tensors map[string]entry
	data    []byte
}

// fixture describes a case.
type fixture struct {
	Name     string
	DTypes   []string
	Double   bool
	Tol      float64
	Operands []struct{ Grad, Cast bool }
}

// op returns the operation that a case is counted under.
func (c fixture) op() string { return strings.TrimRight(strings.Fields(c.Name)[0], ",:") }

type entry struct {
	DType   string
	Shape   []int
	Offsets [2]int `json:"data_offsets"`
}

func readFixtures(family string) (*fixtures, error) {
	p, err := os.ReadFile(filepath.Join("testdata", family+".safetensors"))
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(p)
	f := &fixtures{tensors: map[string]entry{}, data: p[8+n:]}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(p[8:8+n], &header); err != nil {
		return nil, err
	}
	for name, text := range header {
		if name == "__metadata__" {
			var m struct{ Torch, Cases string }
			if err := json.Unmarshal(text, &m); err != nil {
				return nil, err
			}
			f.torch = m.Torch
			if err := json.Unmarshal([]byte(m.Cases), &f.cases); err != nil {
				return nil, err
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, err
		}
		f.tensors[name] = e
	}
	return f, nil
}

// tensor returns the tensor of a name, nil if there is none.
func (f *fixtures) tensor(name string) *tensor.Tensor {
	e, ok := f.tensors[name]
	if !ok {
		return nil
	}
	p := f.data[e.Offsets[0]:e.Offsets[1]]
	if d, ok := integers[e.DType]; ok {
		data := make([]int64, len(p)/d.Size())
		for i := range data {
			data[i] = integer(d, p[d.Size()*i:])
		}
		return tensor.FromInt64s(data, len(data)).Reshape(e.Shape...).To(d)
	}
	d, size, decode := decoder(e.DType)
	data := make([]float64, len(p)/size)
	for i := range data {
		data[i] = decode(p[size*i:])
	}
	return tensor.NewAs(d, data, len(data)).Reshape(e.Shape...)
}

var integers = map[string]tensor.DType{"I64": tensor.Int64, "I32": tensor.Int32, "U8": tensor.Uint8, "BOOL": tensor.Bool}

func integer(d tensor.DType, p []byte) int64 {
	switch d {
	case tensor.Int64:
		return int64(binary.LittleEndian.Uint64(p))
	case tensor.Int32:
		return int64(int32(binary.LittleEndian.Uint32(p)))
	}
	return int64(p[0])
}

// decoder returns the dtype of a name of the format, its size, and its numbers as
// float64, which holds them exactly.
func decoder(name string) (tensor.DType, int, func([]byte) float64) {
	le := binary.LittleEndian
	switch name {
	case "F64":
		return tensor.Float64, 8, func(p []byte) float64 { return math.Float64frombits(le.Uint64(p)) }
	case "F32":
		return tensor.Float32, 4, func(p []byte) float64 { return float64(math.Float32frombits(le.Uint32(p))) }
	case "BF16":
		return tensor.BFloat16, 2, func(p []byte) float64 { return value(tensor.BFloat16, int(le.Uint16(p))) }
	case "F16":
		return tensor.Float16, 2, func(p []byte) float64 { return value(tensor.Float16, int(le.Uint16(p))) }
	}
	panic(fmt.Sprintf("torchtest: dtype %s in a fixture; expected F64, F32, F16, BF16, an integer or BOOL", name))
}

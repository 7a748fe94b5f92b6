package tensor

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

// TestPrinting compares with PyTorch's texts in testdata/printing.json, written by testdata/printing.py,
// except for the short name of the dtype.
func TestPrinting(t *testing.T) {
	text, err := os.ReadFile("testdata/printing.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			DType, Want string
			Shape       []int
			Data        []string
			Ramp        []float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 400 {
		t.Errorf("got %d tensors, want hundreds", len(file.Cases))
	}
	for _, c := range file.Cases {
		d := dtypeNamed(c.DType)
		data := make([]float64, size(c.Shape))
		for i := range data {
			if c.Ramp != nil {
				data[i] = c.Ramp[0] + c.Ramp[1]*float64(i)
			} else if data[i], err = strconv.ParseFloat(c.Data[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		if got := NewAs(d, data).Reshape(c.Shape...).String(); got != c.Want {
			t.Errorf("%v %v: got\n%s\nwant\n%s", d, c.Shape, got, c.Want)
		}
	}
}

func dtypeNamed(name string) DType {
	for _, d := range DTypes() {
		if d.String() == name {
			return d
		}
	}
	panic(name)
}

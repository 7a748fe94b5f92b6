package tensor

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestString compares with torch's texts, except for the short name of the dtype, requires_grad and
// grad_fn. TestPrinting has more cases.
func TestString(t *testing.T) {
	for _, c := range []struct {
		x    *Tensor
		want string
	}{
		{NewAs(Float16, []float64{0.1}).Reshape(), "tensor(0.1000, dtype=float16)"},
		{Full(3), "tensor(3.)"},
		{New([]float64{1, 2, -3}), "tensor([ 1.,  2., -3.])"},
		{New([]float64{1.5, -2, 300}), "tensor([  1.5000,  -2.0000, 300.0000])"},
		{New([]float64{1e-5, 1}), "tensor([1.0000e-05, 1.0000e+00])"},
		{New([]float64{math.Inf(1), math.NaN(), 1}), "tensor([inf, nan, 1.])"},
		{NewAs(Float64, []float64{1, 2, 3, 4}, 2, 2), "tensor([[1., 2.],\n        [3., 4.]], dtype=float64)"},
		{Zeros(2, 1, 2), "tensor([[[0., 0.]],\n\n        [[0., 0.]]])"},
		{FromInt64s([]int64{1<<62 + 1, -3}), "tensor([4611686018427387905,                  -3])"},
		{Zeros(0), "tensor([])"},
		{Zeros(2, 0), "tensor([], size=(2, 0))"},
		{leaf(1), "tensor([1.], requires_grad=True)"},
		{leaf(1).MulScalar(2), "tensor([2.], grad_fn=mul_scalar)"},
		{Arange(0, 1001), "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])"},
		{Ones(40, 30), "tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n        [1., 1., 1.,  ..., 1., 1., 1.],\n        [1., 1., 1.,  ..., 1., 1., 1.],\n        ...,\n        [1., 1., 1.,  ..., 1., 1., 1.],\n        [1., 1., 1.,  ..., 1., 1., 1.],\n        [1., 1., 1.,  ..., 1., 1., 1.]])"},
		{Arange(0, 20), "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., 19.])"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestHTML(t *testing.T) {
	h := NewAs(Float16, []float64{1, 0, 0x1p-24, math.Inf(1), math.NaN(), -2}).HTML()
	for _, part := range []string{"#C2410C", ">float16<", "(6,)", "cpu", "12 bytes", "-2 to 1, mean -0.25", "inf</td>", "1 of 6", "subnormal"} {
		if !strings.Contains(h, part) {
			t.Errorf("%q is missing in %s", part, h)
		}
	}
	for _, part := range []string{"<script", "<style", "class=", "var("} {
		if strings.Contains(h, part) {
			t.Errorf("%q is in %s", part, h)
		}
	}
	s := NewAs(Float16, []float64{1, 0, 0x1p-24, math.Inf(-1), math.NaN(), -2}).Stats()
	if want := (Stats{Counts: Counts{Count: 6, Zeros: 1, Subnormals: 1, Infs: 1, NaNs: 1, AbsMin: 0x1p-24, AbsMax: 2}, Min: -2, Max: 1, Mean: (1 + 0x1p-24 - 2) / 4}); s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if low := testenv.LowContrast(h); len(low) > 0 {
		t.Errorf("low contrast: %q", low)
	}
	if h := Zeros(0, 3).HTML(); !strings.Contains(h, "(0, 3)") || strings.Contains(h, "NaN") {
		t.Errorf("an empty tensor is shown as %s", h)
	}
}

func TestFInfo(t *testing.T) {
	for _, d := range dtypes {
		f := FInfo(d)
		top := NewAs(d, []float64{f.Max, f.Subnormal, 1 + f.Eps, f.Subnormal / 4, f.Tiny}).Float64s()
		if top[0] != f.Max || top[1] != f.Subnormal || top[2] != 1+f.Eps || top[3] != 0 && d != Float64 || top[4] != f.Tiny {
			t.Errorf("%v: %v cannot represent its own limits: %v", d, f, top)
		}
	}
	if got, want := FInfo(Float16).String(), "float16: max 65504, eps 0.000976562, tiny 6.10352e-05, smallest subnormal 5.96046e-08"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMemory(t *testing.T) {
	runtime.GC() // other tensors may be released meanwhile
	ResetPeakMemory()
	x := Zeros(1 << 20)
	after := Memory()
	if after.Live < x.Bytes() || after.Peak < after.Live {
		t.Errorf("after another 4 MiB: got %+v", after)
	}
	runtime.KeepAlive(x)
}

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

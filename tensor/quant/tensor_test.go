package quant_test

import (
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/quant"
)

// schemes are schemes of all kinds, for a matrix of 256 x 128.
var schemes = []quant.Scheme{
	quant.Cast{Element: quant.E2M1}, quant.Cast{Element: quant.E3M2}, quant.Cast{Element: quant.E5M2, Overflow: quant.Special}, quant.Cast{Element: quant.Int8},
	quant.MXFP8, quant.MX{Element: quant.E5M2, Mode: quant.Ceil}, quant.MXFP6, quant.MX{Element: quant.E3M2, Mode: quant.Even},
	quant.MXFP4, quant.MX{Element: quant.E2M1, Mode: quant.RCeil, Rounding: quant.Stochastic(5)}, quant.MXINT8,
	quant.NVFP4{}, quant.NVFP4{TwoDimensional: true}, quant.NVFP4{Rounding: quant.Stochastic(9)},
	quant.Float8{}, quant.Float8{Element: quant.E5M2FNUZ, Granularity: quant.PerRow}, quant.Float8{Granularity: quant.Per1x128}, quant.Float8{Granularity: quant.Per128x128, PowerOfTwo: true},
	quant.Int{Bits: 8}, quant.Int{Bits: 4, Group: 32}, quant.Int{Bits: 8, Asymmetric: true}, quant.Int{Bits: 4, Group: 64, Asymmetric: true},
}

// sample returns random numbers of many magnitudes.
func sample(shape ...int) *tensor.Tensor {
	tensor.ManualSeed(4)
	return tensor.Randn(shape...).Mul(tensor.Randn(shape...).Exp())
}

// bits returns the bit patterns of a tensor.
func bits(x *tensor.Tensor) []uint32 {
	var list []uint32
	for _, v := range x.Float32s() {
		list = append(list, math.Float32bits(v))
	}
	return list
}

// Parts, joined parts, single elements and saved tensors have the bits of the whole.
func TestTensors(t *testing.T) {
	x := sample(256, 128)
	for _, s := range schemes {
		q := quant.Quantize(x, s)
		whole := q.Dequantize(tensor.Float32)
		want := bits(whole)
		if got := bits(quant.Cat(q.Slice(0, 128), q.Slice(128, 256)).Dequantize(tensor.Float32)); !slices.Equal(got, want) {
			t.Errorf("%v: two halves differ from the whole", s)
		}
		if got := bits(q.Slice(128, 256).Dequantize(tensor.Float32)); !slices.Equal(got, want[128*128:]) {
			t.Errorf("%v: a part differs from that of the whole", s)
		}
		for _, at := range [][2]int{{0, 0}, {3, 1}, {17, 127}, {-1, -2}, {255, 63}} {
			r, c := (at[0]+256)%256, (at[1]+128)%128
			if got := q.At(at[0], at[1]); math.Float32bits(float32(got)) != want[r*128+c] {
				t.Errorf("%v: element %v is %v, want %v", s, at, got, math.Float32frombits(want[r*128+c]))
			}
		}
		path := filepath.Join(t.TempDir(), "q.safetensors")
		if err := data.SaveSafetensors(path, q.StateDict("layer.weight"), nil); err != nil {
			t.Fatal(err)
		}
		state, err := data.LoadSafetensors(path)
		if err != nil {
			t.Fatal(err)
		}
		read, err := quant.FromStateDict(state, "layer.weight", s)
		if err != nil {
			t.Errorf("%v: %v", s, err)
		} else if got := bits(read.Dequantize(tensor.Float32)); !slices.Equal(got, want) || !slices.Equal(read.Shape(), q.Shape()) {
			t.Errorf("%v: a saved tensor of shape %v differs", s, read.Shape())
		}
		if text := q.String(); !strings.HasPrefix(text, "tensor([[") || !strings.HasSuffix(text, "scheme="+s.String()+")") {
			t.Errorf("%v is shown as %s", s, text)
		}
		if q.Bytes() < q.Codes().Bytes() || q.Codes().Bytes() > 256*128 {
			t.Errorf("%v takes %d bytes, %d of codes", s, q.Bytes(), q.Codes().Bytes())
		}
	}
}

// Bytes of 256 x 128 numbers: codes, and scales of blocks.
func TestBytes(t *testing.T) {
	const n = 256 * 128
	x := sample(256, 128)
	for _, c := range []struct {
		scheme quant.Scheme
		want   int
	}{
		{quant.MXFP8, n + n/32}, {quant.MXFP6, n*6/8 + n/32}, {quant.MXFP4, n/2 + n/32}, {quant.NVFP4{}, n/2 + n/16 + 4},
		{quant.Float8{}, n + 4}, {quant.Float8{Granularity: quant.Per128x128}, n + 2*4}, {quant.Int{Bits: 4, Group: 32, Asymmetric: true}, n/2 + n/32*5},
	} {
		if got := quant.Quantize(x, c.scheme).Bytes(); got != c.want {
			t.Errorf("%v: %d bytes, want %d", c.scheme, got, c.want)
		}
	}
}

// Codes of 4 bits lie two in a byte, the first in the low bits; codes of 6 bits lie four in three bytes.
func TestPacking(t *testing.T) {
	if got := codesOf(quant.Quantize(tensor.New([]float64{0.5, 1, 1.5, -6}), quant.Cast{Element: quant.E2M1}).Codes()); !slices.Equal(got, []uint8{0x21, 0xf3}) {
		t.Errorf("E2M1: %#x", got)
	}
	// The codes 1, 2, 3 and 0x3f.
	if got := codesOf(quant.Quantize(tensor.New([]float64{0.125, 0.25, 0.375, -7.5}), quant.Cast{Element: quant.E2M3}).Codes()); !slices.Equal(got, []uint8{1 | 2<<6, 2>>2 | 3<<4, 0x3f<<2 | 3>>4}) {
		t.Errorf("E2M3: %#x", got)
	}
}

// Results do not depend on the number of workers, nor on how numbers of 16 bits are given.
func TestWorkers(t *testing.T) {
	x := sample(512, 1024)
	want := map[quant.Scheme][]uint32{}
	for _, n := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(n)
		for _, s := range schemes {
			got := bits(quant.Quantize(x, s).Dequantize(tensor.Float32))
			if n == 1 {
				want[s] = got
			} else if !slices.Equal(got, want[s]) {
				t.Errorf("%v: %d workers have another result than one", s, n)
			}
		}
		runtime.GOMAXPROCS(old)
	}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		h := x.To(d)
		if !slices.Equal(bits(quant.Quantize(h, quant.MXFP8).Dequantize(tensor.Float32)), bits(quant.Quantize(h.Float(), quant.MXFP8).Dequantize(tensor.Float32))) {
			t.Errorf("%v and its float32 have different codes", d)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		call func()
		want string
	}{
		{"float64", func() { quant.Quantize(sample(2, 32).Double(), quant.MXFP8) }, "x.Float()"},
		{"blocks", func() { quant.Quantize(sample(2, 33), quant.MXFP8) }, "multiple of 32"},
		{"rows", func() { quant.Quantize(sample(15, 32), quant.NVFP4{TwoDimensional: true}) }, "multiple of 16"},
		{"scalar", func() { quant.Quantize(tensor.Scalar(1), quant.Float8{}) }, "Unsqueeze"},
		{"odd", func() { quant.Quantize(sample(3, 3), quant.Cast{Element: quant.E2M1}) }, "multiple of 2"},
		{"element", func() { quant.Quantize(sample(1, 32), quant.MX{Element: quant.E8M0}) }, "E4M3FN"},
		{"bits", func() { quant.Quantize(sample(1, 32), quant.Int{Bits: 3}) }, "want 8 or 4"},
		{"integers", func() { quant.Quantize(tensor.FromInts([]int{1, 2}), quant.Float8{}) }, "float32"},
		{"dequantize", func() { quant.Quantize(sample(1, 32), quant.MXFP8).Dequantize(tensor.Int64) }, "floating-point"},
		{"slice", func() { quant.Quantize(sample(256, 128), quant.Float8{Granularity: quant.Per128x128}).Slice(0, 100) }, "multiples of 128"},
		{"cat", func() {
			quant.Cat(quant.Quantize(sample(2, 32), quant.Float8{}), quant.Quantize(sample(2, 32).MulScalar(2), quant.Float8{}))
		}, "different scales"},
		{"schemes", func() {
			quant.Cat(quant.Quantize(sample(2, 32), quant.MXFP8), quant.Quantize(sample(2, 32), quant.MXFP4))
		}, "one scheme"},
	} {
		err := tensor.Try(c.call)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want an error that contains %q", c.name, err, c.want)
		}
	}
	q := quant.Quantize(sample(4, 32), quant.MXFP8)
	state := q.StateDict("w")
	delete(state, "w_scale")
	if _, err := quant.FromStateDict(state, "w", quant.MXFP8); err == nil || !strings.Contains(err.Error(), "w_scale") {
		t.Errorf("without scales: %v", err)
	}
	if _, err := quant.FromStateDict(q.StateDict("w"), "w", quant.NVFP4{}); err == nil {
		t.Error("MXFP8 was read as NVFP4")
	}
}

// FakeQuantize fills the last block with zeros, keeps dtype and shape, and lets gradients pass.
func TestFakeQuantize(t *testing.T) {
	for _, s := range schemes {
		x := sample(5, 37).To(tensor.BFloat16)
		y := quant.FakeQuantize(x, s)
		if y.DType() != tensor.BFloat16 || !slices.Equal(y.Shape(), x.Shape()) {
			t.Fatalf("%v: %v %v", s, y.DType(), y.Shape())
		}
	}
	x := sample(5, 37)
	got := quant.FakeQuantize(x, quant.MXFP4)
	want := quant.Quantize(x.Pad([]int{0, 27}, tensor.PadOptions{}), quant.MXFP4).Dequantize(tensor.Float32).Slice(1, 0, 37)
	if !slices.Equal(bits(got), bits(want)) {
		t.Error("a partial block differs from one filled with zeros")
	}
	w := sample(5, 37)
	w.RequireGrad()
	quant.FakeQuantize(w, quant.NVFP4{}).MulScalar(3).Sum().Backward()
	if g := w.Grad().Stats(); g.Min != 3 || g.Max != 3 {
		t.Errorf("the gradient is %v to %v, want 3", g.Min, g.Max)
	}
}

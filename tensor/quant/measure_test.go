package quant_test

import (
	"fmt"
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// Statistics of formats are those of a plain loop over what FakeQuantize returns.
func TestMeasure(t *testing.T) {
	tensor.ManualSeed(3)
	x := tensor.Randn(40, 75).Mul(tensor.Randn(40, 75).MulScalar(4).Exp())
	x.Set(0, 3, 3)
	for _, s := range []quant.Scheme{
		quant.Cast{Element: quant.E2M1}, quant.MXFP4, quant.MXFP8, quant.MXINT8, quant.MX{Element: quant.E5M2, Mode: quant.RCeil}, quant.NVFP4{}, quant.NVFP4{TwoDimensional: true},
		quant.Float8{}, quant.Float8{Granularity: quant.PerRow}, quant.Float8{Granularity: quant.Per1x128}, quant.Float8{Granularity: quant.Per128x128}, quant.Int{Bits: 4}, quant.Int{Bits: 8, Asymmetric: true},
	} {
		got := quant.Measure(x, s)
		want := quant.Stats{Count: 3000, Zeros: 1}
		src, dst := x.Float64s(), quant.FakeQuantize(x, s).Float64s()
		for i, v := range src {
			if v != 0 && dst[i] == 0 {
				want.Flushed++
			}
			want.Energy += v * v
			want.Noise += (v - dst[i]) * (v - dst[i])
		}
		if got.Count != want.Count || got.Zeros != want.Zeros || got.Flushed != want.Flushed || math.Abs(got.Error()-want.Error()) > 1e-12 {
			t.Errorf("%v: got %+v, want %+v", s, got, want)
		}
		if m, ok := s.(quant.MX); ok && m.Mode == quant.RCeil && got.Saturated > 0 {
			t.Errorf("%v: %d saturate, want none", s, got.Saturated)
		}
		if twice := got.Add(got); twice.Error() != got.Error() || twice.Count != 6000 || twice.Range() != got.Range() {
			t.Errorf("%v added to itself: %v", s, twice)
		}
	}
}

// Blocks have ranges and scales for themselves.
func TestMeasureBlocks(t *testing.T) {
	x := tensor.Ones(2, 64)
	x.Set(1024, 0, 0)
	x.Set(448*3, 1, 40) // 1.3 times the largest number with the scale that Floor takes
	got := quant.Measure(x, quant.MXFP8)
	if got.Saturated != 0 || got.BlockRange != math.Log2(448*3) || got.ScaleMin != 0x1p-8 || got.ScaleMax != 4 {
		t.Errorf("got %+v", got)
	}
	x.Set(500, 1, 40) // the scale is 1
	if got = quant.Measure(x, quant.MXFP8); got.Saturated != 1 {
		t.Errorf("500 in E4M3: %+v, want one that saturates", got)
	}
	if got = quant.Measure(x, quant.MX{Element: quant.E4M3FN, Mode: quant.RCeil}); got.Saturated != 0 {
		t.Errorf("500 with the scale 2: %+v, want none that saturates", got)
	}
	x.Set(math.Inf(1), 0, 0)
	if got = quant.Measure(x, quant.MXFP8); got.NonFinite != 32 || got.Count != 96 {
		t.Errorf("a block with an infinity: %+v, want 32 numbers that are lost", got)
	}
}

// One outlier makes the rest of its block 0; other blocks keep their numbers.
func ExampleMeasure() {
	x := tensor.Full(0.1, 64)
	x.Set(100, 0)
	m := quant.Measure(x, quant.MXFP4)
	fmt.Println(m.Flushed, "of", m.Count, "become 0; scales from", m.ScaleMin, "to", m.ScaleMax)
	// Output: 31 of 64 become 0; scales from 0.015625 to 16
}

// A rotation keeps lengths, undoes itself, and spreads an outlier.
func TestHadamard(t *testing.T) {
	tensor.ManualSeed(1)
	x := tensor.Randn(3, 64)
	for _, size := range []int{1, 2, 16, 64} {
		y := quant.Hadamard(x, size)
		if !tensor.AllClose(quant.Hadamard(y, size), x, 1e-5, 1e-6) || math.Abs(y.Mul(y).Sum().Item()/x.Mul(x).Sum().Item()-1) > 1e-5 {
			t.Errorf("size %d does not undo itself, or changes lengths", size)
		}
	}
	one := tensor.Zeros(16)
	one.Set(8, 5)
	if y := quant.Hadamard(one, 16); y.Counts().AbsMax != 2 || y.Counts().Zeros != 0 {
		t.Errorf("one 8 of 16 becomes %v, want 16 numbers of magnitude 2", y)
	}
	for _, size := range []int{0, 3, 128} {
		if tensor.Try(func() { quant.Hadamard(x, size) }) == nil {
			t.Errorf("size %d is accepted", size)
		}
	}
}

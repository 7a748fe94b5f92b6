package quant_test

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// mlTypes are the formats that ml_dtypes has.
var mlTypes = []string{
	"float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
	"float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
}

// torchTypes are the formats that torch has, with its rule for overflow.
var torchTypes = map[string]quant.Overflow{
	"float8_e4m3fn": quant.Saturate, "float8_e5m2": quant.Special, "float8_e4m3fnuz": quant.Special, "float8_e5m2fnuz": quant.Special,
	"float8_e8m0fnu": quant.Special,
}

// Every code of every format.
func TestDecode(t *testing.T) {
	for _, name := range mlTypes {
		f := named(t, name)
		want := numbers(fixture(t, "table/"+name))
		got := f.Values()
		if len(got) != len(want) {
			t.Fatalf("%s: %d codes, want %d", name, len(got), len(want))
		}
		for c, w := range want {
			if !same(float32(got[c]), w) {
				t.Errorf("%s: code %#x is %v, want %v", name, c, got[c], w)
			}
		}
	}
}

// knownDifference reports whether docs/formats.md lists the conversion of x as one in which we differ from the package.
func knownDifference(f quant.Format, x float32, torch bool) bool {
	switch {
	case x != x: // the payload of NaN, and formats without NaN
		return true
	case f == quant.E8M0 && torch:
		return x < 0 // torch drops the sign
	case f == quant.E8M0:
		return x == 0 // ml_dtypes has NaN
	}
	return false
}

// Conversions equal those of ml_dtypes and torch on all edges and on random numbers.
func TestCastPackages(t *testing.T) {
	x := fixture(t, "cast/in")
	in := numbers(x)
	check := func(name string, want []uint8, o quant.Overflow, torch bool) {
		f := named(t, name)
		wrong := 0
		for i, v := range in {
			if knownDifference(f, v, torch) {
				if v != v && f.HasNaN() {
					if got := f.Decode(f.Encode(float64(v), quant.Nearest, o)); got == got {
						t.Errorf("%s: NaN becomes %v", name, got)
					}
				}
				continue
			}
			if got := f.Encode(float64(v), quant.Nearest, o); got != want[i] {
				if wrong++; wrong < 4 {
					t.Errorf("%s (torch %v): %v (%#x) becomes %#x, want %#x", name, torch, v, math.Float32bits(v), got, want[i])
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s (torch %v): %d of %d differ", name, torch, wrong, len(in))
		}
	}
	for _, name := range mlTypes {
		check(name, bytesOf(t, "cast/ml/"+name), quant.Special, false)
	}
	for name, o := range torchTypes {
		check(name, bytesOf(t, "cast/torch/"+name), o, true)
	}
}

// The conversion of tensors has the bits of the conversion of single numbers.
func TestCastTensors(t *testing.T) {
	var finite []float64
	for _, v := range numbers(fixture(t, "cast/in")) {
		if v == v {
			finite = append(finite, float64(v))
		}
	}
	finite = finite[:len(finite)&^7]
	x := tensor.New(finite)
	for _, f := range quant.Formats() {
		for _, r := range []quant.Rounding{quant.Nearest, quant.TowardZero, quant.Dithered(3)} {
			for _, o := range []quant.Overflow{quant.Saturate, quant.Special} {
				q := quant.Quantize(x, quant.Cast{Element: f, Rounding: r, Overflow: o})
				got, back := unpacked(q, f.Bits()), numbers(q.Dequantize(tensor.Float32))
				for i, v := range finite {
					want := f.Encode(v, r, o)
					if got[i] != want&(1<<f.Bits()-1) || !same(back[i], float32(f.Decode(want))) {
						t.Fatalf("%v, %v, %v: %v becomes %#x, %v; want %#x, %v", f, r, o, v, got[i], back[i], want, f.Decode(want))
					}
				}
			}
		}
	}
}

// One rounding, also from float64: through float32 it would be a tie.
func TestEncodeOnce(t *testing.T) {
	if got := quant.E4M3FN.Round(1.0625+0x1p-40, quant.Nearest, quant.Saturate); got != 1.125 {
		t.Errorf("1.0625 + 2^-40 becomes %v, want 1.125", got)
	}
}

// Numbers between two codes go to one of them: down toward zero, and with stochastic rounding so that the mean is the number.
func TestRoundings(t *testing.T) {
	for _, f := range quant.Formats() {
		values := f.Values()
		for c := 0; c+1 < 1<<(f.Bits()-1); c++ {
			lo, hi := values[c], values[c+1]
			if !(hi > lo) || math.IsInf(hi, 0) {
				continue
			}
			for _, part := range []float64{0.25, 0.5, 0.75} {
				x := lo + part*(hi-lo)
				if got := f.Round(x, quant.TowardZero, quant.Saturate); got != lo {
					t.Errorf("%v: %v toward zero is %v, want %v", f, x, got, lo)
				}
			}
		}
		// Numbers of the format stay.
		for c, v := range values {
			if v != v || math.IsInf(v, 0) {
				continue
			}
			for _, r := range []quant.Rounding{quant.Nearest, quant.TowardZero, quant.Stochastic(1), quant.Dithered(1)} {
				if got := f.Round(v, r, quant.Special); got != v && !(f == quant.MXInt8 && v == -2) { // the specification asks for a symmetric range
					t.Errorf("%v: code %#x, %v, becomes %v with %v", f, c, v, got, r)
				}
			}
		}
	}
}

// The mean of stochastic rounding is within four standard deviations of the number, and draws neither depend on the number of workers nor repeat for another seed.
func TestStochastic(t *testing.T) {
	const n = 1 << 16
	for _, f := range []quant.Format{quant.E2M1, quant.E4M3FN, quant.E5M2, quant.E3M2} {
		for _, part := range []float64{0.1, 0.5, 0.9} {
			lo, hi := f.Decode(5), f.Decode(6)
			x := float32(lo + part*(hi-lo))
			p := (float64(x) - lo) / (hi - lo)
			scheme := quant.Cast{Element: f, Rounding: quant.Stochastic(7)}
			ups := 0
			for _, v := range numbers(quant.Quantize(tensor.Full(float64(x), n), scheme).Dequantize(tensor.Float32)) {
				switch float64(v) {
				case hi:
					ups++
				case lo:
				default:
					t.Fatalf("%v: %v becomes %v, want %v or %v", f, x, v, lo, hi)
				}
			}
			if z := (float64(ups) - p*n) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 4 {
				t.Errorf("%v: %v rounds up %d times of %d, %.1f standard deviations from %v", f, x, ups, n, z, p)
			}
			scheme.Rounding = quant.Dithered(7)
			d := quant.Quantize(tensor.Full(float64(x), 16), scheme).Dequantize(tensor.Float32)
			if s := d.Stats(); s.Min != s.Max {
				t.Errorf("%v: equal numbers become %v and %v by a dither", f, s.Min, s.Max)
			}
		}
	}
}

func TestEncodeRefusesNaN(t *testing.T) {
	for _, f := range quant.Formats() {
		if f.HasNaN() {
			continue
		}
		if err := tensor.Try(func() { quant.Quantize(tensor.New([]float64{1, math.NaN(), 2, 3}), quant.Cast{Element: f}) }); err == nil {
			t.Errorf("%v: NaN was stored", f)
		}
	}
}

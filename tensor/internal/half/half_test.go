package half

import (
	"fmt"
	"math"
	"testing"
)

// format describes a 16-bit format and its conversions.
type format struct {
	name     string
	bits     func(float32) uint16
	value    func(uint16) float32
	to       func([]uint16, []float32)
	from     func([]float32, []uint16)
	exponent int // width of the exponent in bits
	nan      uint16
}

var formats = []format{
	{"float16", Float16bits, Float16frombits, ToFloat16, FromFloat16, 5, NaNFloat16},
	{"bfloat16", BFloat16bits, BFloat16frombits, ToBFloat16, FromBFloat16, 8, NaNBFloat16},
}

// define returns the value of a 16-bit pattern from the definition of IEEE 754,
// in float64, where it is exact for both formats.
func define(h uint16, exponentBits int) float64 {
	fractionBits := 15 - exponentBits
	bias := 1<<(exponentBits-1) - 1
	sign := 1 - 2*float64(h>>15)
	e := int(h>>fractionBits) & (1<<exponentBits - 1)
	m := float64(h & (1<<fractionBits - 1))
	switch {
	case e == 1<<exponentBits-1 && m != 0:
		return math.NaN()
	case e == 1<<exponentBits-1:
		return sign * math.Inf(1)
	case e == 0:
		return sign * math.Ldexp(m, 1-bias-fractionBits)
	}
	return sign * math.Ldexp(1+math.Ldexp(m, -fractionBits), e-bias)
}

func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || a == b && math.Signbit(a) == math.Signbit(b)
}

func TestValuesOfAllPatterns(t *testing.T) {
	for _, f := range formats {
		all := make([]uint16, 1<<16)
		for i := range all {
			all[i] = uint16(i)
		}
		values := make([]float32, len(all))
		f.from(values, all)
		back := make([]uint16, len(all))
		f.to(back, values)
		for i, h := range all {
			want := define(h, f.exponent)
			if got := f.value(h); !same(float64(got), want) {
				t.Fatalf("%s: value of %#04x: got %g, want %g", f.name, h, got, want)
			}
			if !same(float64(values[i]), want) {
				t.Fatalf("%s: value of %#04x in a slice: got %g, want %g", f.name, h, values[i], want)
			}
			wantBits := h
			if math.IsNaN(want) {
				wantBits = f.nan
			}
			if got := f.bits(values[i]); got != wantBits || back[i] != wantBits {
				t.Fatalf("%s: %#04x there and back: got %#04x, in a slice %#04x, want %#04x", f.name, h, got, back[i], wantBits)
			}
		}
	}
}

// TestRounding checks all pairs of neighbours in a format: the value halfway between them
// rounds to the even one, and the float32 next to it rounds to the nearer one.
func TestRounding(t *testing.T) {
	for _, f := range formats {
		inf := uint16(1<<f.exponent-1) << (15 - f.exponent)
		for lo := uint16(0); lo < inf; lo++ {
			hi := lo + 1
			a, b := define(lo, f.exponent), define(hi, f.exponent)
			if hi == inf { // rounding acts as if the exponents continued
				b = 2*a - define(lo-1, f.exponent)
			}
			middle := float32(a + (b-a)/2)
			if float64(middle) != a+(b-a)/2 {
				t.Fatalf("%s: no float32 between %#04x and %#04x", f.name, lo, hi)
			}
			even := lo
			if lo&1 == 1 {
				even = hi
			}
			for _, c := range []struct {
				x    float32
				want uint16
			}{
				{middle, even},
				{math.Nextafter32(middle, 0), lo},
				{math.Nextafter32(middle, float32(math.Inf(1))), hi},
			} {
				dst := []uint16{0, 0}
				f.to(dst, []float32{c.x, -c.x})
				if got, neg := f.bits(c.x), f.bits(-c.x); got != c.want || neg != c.want|0x8000 {
					t.Fatalf("%s: %g (%#08x): got %#04x and %#04x, want %#04x", f.name, c.x, math.Float32bits(c.x), got, neg, c.want)
				}
				if dst[0] != c.want || dst[1] != c.want|0x8000 {
					t.Fatalf("%s: %g in a slice: got %#04x, want %#04x", f.name, c.x, dst, c.want)
				}
			}
		}
	}
}

// TestScalarsAndSlices compares the conversions of single numbers, which x448/float16 does, with those of slices, which are written
// here: all patterns, with the bits of their NaN, and numbers of all exponents and signs.
func TestScalarsAndSlices(t *testing.T) {
	var value [1]float32
	for h := range 1 << 16 {
		FromFloat16(value[:], []uint16{uint16(h)})
		if got, want := math.Float32bits(Float16frombits(uint16(h))), math.Float32bits(value[0]); got != want {
			t.Fatalf("value of %#04x: got bits %#08x, in a slice %#08x", h, got, want)
		}
	}
	var bits [1]uint16
	const step = 65537 // odd, so that all low bits occur
	for b := uint64(0); b < 1<<32; b += step {
		x := math.Float32frombits(uint32(b))
		ToFloat16(bits[:], []float32{x})
		if got := Float16bits(x); got != bits[0] {
			t.Fatalf("float16 of %#08x: got %#04x, in a slice %#04x", b, got, bits[0])
		}
	}
}

// TestTorchConversions compares with conversions measured with torch 1.13.1.
func TestTorchConversions(t *testing.T) {
	tests := []struct {
		x    float64
		want uint16
	}{
		{65504, 0x7bff},
		{65519.99609375, 0x7bff},
		{65520, 0x7c00},
		{-70000, 0xfc00},
		{655504, 0x7c00},
		{6.103515625e-05, 0x0400},
		{5.960464477539063e-08, 0x0001},
		{2.9802322387695312e-08, 0x0000},
		{2.980235080940474e-08, 0x0001},
		{8.940696716308594e-08, 0x0002},
		{1e-08, 0x0000},
		{3e-08, 0x0001},
		{1e-07, 0x0002},
		{6.097555160522461e-05, 0x03ff},
		{2049, 0x6800},
		{2051, 0x6802},
		{4098, 0x6c00},
		{4102, 0x6c02},
		{0.1, 0x2e66},
		{0.3333333333333333, 0x3555},
		{1.00048828125, 0x3c00},
		{1.00146484375, 0x3c02},
		{1.0004892349243164, 0x3c01},
		{math.Copysign(0, -1), 0x8000},
		{math.Pi, 0x4248},
		{math.NaN(), 0x7e00},
		{0.001, 0x1419},
		{0.0001, 0x068e},
		{1 + 0x1p-11 + 0x1p-40, 0x3c00}, // rounds twice
		{70000, 0x7c00},
	}
	for _, test := range tests {
		if got := Float16bits(float32(test.x)); got != test.want {
			t.Errorf("float16 of %v: got %#04x, want %#04x", test.x, got, test.want)
		}
	}
	for _, test := range []struct {
		x    float64
		want uint16
	}{
		{257, 0x4380},
		{259, 0x4382},
		{65536, 0x4780},
		{3.39e+38, 0x7f7f},
		{3.4e+38, 0x7f80},
		{1.00390625, 0x3f80},
		{1.01171875, 0x3f82},
		{0.1, 0x3dcd},
		{1e-40, 0x0001},
		{math.Inf(-1), 0xff80},
		{math.NaN(), 0x7fc0},
	} {
		if got := BFloat16bits(float32(test.x)); got != test.want {
			t.Errorf("bfloat16 of %v: got %#04x, want %#04x", test.x, got, test.want)
		}
	}
}

// TestNaNPayloads checks that NaNs of any payload and sign become the same NaN.
func TestNaNPayloads(t *testing.T) {
	for _, b := range []uint32{0x7f800001, 0xff800001, 0x7fbfffff, 0x7f80ffff, 0xffffffff} {
		for _, f := range formats {
			if got := f.bits(math.Float32frombits(b)); got != f.nan {
				t.Errorf("%s of NaN %#08x: got %#04x, want %#04x", f.name, b, got, f.nan)
			}
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	const n = 1 << 14
	inputs := []struct {
		name  string
		value func(i int) float32
	}{
		{"normal", func(i int) float32 { return (float32(i%199) - 99.5) / 50 }},
		{"subnormal", func(i int) float32 { return (float32(i%199) - 99.5) * 0x1p-24 }},
		{"zero", func(i int) float32 { return 0 }},
		{"relu", func(i int) float32 { return max(0, float32(i*i%199-99)/50) }},
	}
	for _, f := range formats {
		for _, in := range inputs {
			wide, narrow := make([]float32, n), make([]uint16, n)
			for i := range wide {
				wide[i] = in.value(i)
			}
			b.Run(fmt.Sprintf("to-%s/%s", f.name, in.name), func(b *testing.B) {
				b.SetBytes(6 * n)
				for b.Loop() {
					f.to(narrow, wide)
				}
			})
			b.Run(fmt.Sprintf("from-%s/%s", f.name, in.name), func(b *testing.B) {
				b.SetBytes(6 * n)
				for b.Loop() {
					f.from(wide, narrow)
				}
			})
		}
	}
}

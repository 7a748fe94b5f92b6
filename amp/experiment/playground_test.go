package experiment

import (
	"math"
	"strings"
	"testing"

	"halfnote/tensor"
)

// TestLayout compares the numbers that bit patterns stand for with tensors that hold them.
func TestLayout(t *testing.T) {
	for _, d := range shownFormats {
		info := tensor.FInfo(d)
		f := layout{info, -math.Ilogb(info.Eps)}
		step := uint64(1) << max(info.Bits-16, 0)
		for pattern := uint64(0); pattern < 1<<info.Bits; pattern += step {
			v := f.value(pattern)
			if v != v {
				continue
			}
			if got := f.pattern(v); got != pattern {
				t.Fatalf("%v: pattern %#x stands for %g, which has the pattern %#x", d, pattern, v, got)
			}
			if got := f.atOrdinal(f.ordinal(pattern)); got != v {
				t.Fatalf("%v: got %g at the position of %g", d, got, v)
			}
		}
	}
}

// TestBitsWidget acts as a reader who changes the controls.
func TestBitsWidget(t *testing.T) {
	p := newBitsPlay(0.1)
	for _, tt := range []struct {
		name string
		act  func()
		x    float64
		bits string
	}{
		{"shown", func() {}, 0.1, "0010111001100110"},
		{"lowest bit", func() { p.bits[15].SetValue(true) }, 0.10003662109375, "0010111001100111"},
		{"sign", func() { p.bits[0].SetValue(true) }, -0.10003662109375, "1010111001100111"},
		{"next number", func() { p.line.SetValue(p.line.Value() + 1) }, -0.0999755859375, "1010111001100110"},
		{"largest", func() { p.line.SetValue(1 << 20) }, 65504, "0111101111111111"},
		{"infinity", func() { p.value.SetValue("inf") }, math.Inf(1), "0111110000000000"},
		{"not a number", func() { p.value.SetValue("a tenth") }, math.Inf(1), "0111110000000000"},
		{"another format", func() { p.value.SetValue("1.5"); p.format.SetValue("float8_e4m3fn") }, 1.5, "00111100"},
		{"32 bits", func() { p.format.SetValue("float32") }, 1.5, "00111111110000000000000000000000"},
		{"exponent", func() { p.bits[1].SetValue(true) }, math.NaN(), "01111111110000000000000000000000"},
	} {
		tt.act()
		var bits string
		for _, b := range p.bits {
			bits += map[bool]string{false: "0", true: "1"}[b.Value()]
		}
		if p.x != tt.x && !(p.x != p.x && tt.x != tt.x) || bits != tt.bits {
			t.Errorf("%s: got %v and bits %s, want %v and %s", tt.name, p.x, bits, tt.x, tt.bits)
		}
		if text := p.out.String(); !strings.Contains(text, Bits(p.x).Figure.String()) || strings.Contains(text, "Numbers from") != (p.x-p.x == 0) {
			t.Errorf("%s: got the output %q", tt.name, text)
		}
	}
}

func TestOverflow(t *testing.T) {
	for _, tt := range []struct {
		operation string
		x         float64
		want      string // outcomes in float32, bfloat16 and float16
	}{
		{"square", 256, "is in range, is in range, overflows"}, // 2^16 is above 65504
		{"square", 0x1p-10, "is in range, is in range, is subnormal"},
		{"square", 0x1p-14, "is in range, is in range, becomes 0"}, // 2^-28 is below half of 2^-24
		{"exp", 12, "is in range, is in range, overflows"},         // e^12 = 162755
		{"exp", 100, "overflows, overflows, overflows"},            // e^100 is above 2^128
		{"exp", 1000, "is not finite, is not finite, is not finite"},
		{"reciprocal", 0x1p-20, "is in range, is in range, overflows"},
		{"sum of 1000", 64, "is in range, is in range, is in range"},
		{"sum of 1000", 128, "is in range, is in range, overflows"},
		{"norm of 1000", 512, "is in range, is in range, is in range"}, // 16191: the squares do not overflow, because norm sums in float32
	} {
		var got []string
		for _, d := range Overflow(tt.operation, tt.x).DTypes {
			got = append(got, d.Outcome)
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%s of %g: got %s, want %s", tt.operation, tt.x, text, tt.want)
		}
	}
	if text := OverflowPlayground().String(); !strings.Contains(text, "square with x = 256 is 65536: it overflows in float16.") {
		t.Errorf("got the playground %q", text)
	}
}

package experiment_test

import (
	"math"
	"strings"
	"testing"

	"halfnote/amp/experiment"
)

var inf = math.Inf(1)

// same reports whether two numbers are equal, including NaN and infinities.
func same(a, b float64) bool { return a == b || a != a && b != b }

func equal(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !same(got, want) {
		t.Errorf("%s: got %.12g, want %.12g", what, got, want)
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.12g, want %.12g within %g", what, got, want, tolerance)
	}
}

// shows checks that a report prints as text, and as HTML that a notebook displays even if it is not trusted.
func shows(t *testing.T, r interface {
	String() string
	HTML() string
}, want string) {
	t.Helper()
	if s := r.String(); !strings.Contains(s, want) || strings.Contains(s, "%!") {
		t.Errorf("got text without %q:\n%s", want, s)
	}
	if h := r.HTML(); !strings.Contains(h, "<table") || strings.Contains(h, "<script") || strings.Contains(h, "<style") {
		t.Errorf("got HTML that is not a plain table:\n%s", h)
	}
}

// TestArithmetic compares results with the numbers of IEEE 754's binary16, which are also torch's.
func TestArithmetic(t *testing.T) {
	ranges := experiment.Ranges()
	half := ranges.DTypes[2]
	equal(t, "largest float16", half.Max, 65504)
	equal(t, "smallest float16", half.Subnormal, 0x1p-24)
	equal(t, "smallest normal float16", half.Tiny, 0x1p-14)
	equal(t, "the misprint", half.Misprint, inf)
	shows(t, ranges, "65504")

	sum := experiment.SumOfOnes(65536)
	equal(t, "65536 ones", sum.Half, inf)
	equal(t, "65536 ones under autocast", sum.Autocast, 65536)
	equal(t, "65536 ones in float32", sum.Float32, 65536)
	equal(t, "65519 ones", experiment.SumOfOnes(65519).Half, 65504)
	shows(t, sum, "+Inf")

	plus := experiment.OnePlus(0.0001)
	equal(t, "half 1 + 0.0001", plus.Float16, 1)
	equal(t, "bfloat16 1 + 0.0001", plus.BFloat16, 1)
	equal(t, "float32 1 + 0.0001", plus.Float32, float64(float32(1.0001)))
	equal(t, "half 1 + 0.0005", experiment.OnePlus(0.0005).Float16, 1+0x1p-10)
	shows(t, plus, "1.0001")
}

func TestAccumulation(t *testing.T) {
	tenths := experiment.Accumulation(10000, 0.1)
	equal(t, "float16 sum of 0.1", tenths.Sums[0].Sum, 256)
	near(t, "float32 sum of 0.1", tenths.Sums[2].Sum, 1000, 0.2)
	ones := experiment.Accumulation(5000, 1)
	equal(t, "float16 count", ones.Sums[0].Sum, 2048)
	equal(t, "float16 count is stuck at", float64(ones.Sums[0].Stuck), 2048)
	equal(t, "bfloat16 count", ones.Sums[1].Sum, 256)
	equal(t, "float32 count", ones.Sums[2].Sum, 5000)
	shows(t, tenths, "256")
}

func TestMasterWeights(t *testing.T) {
	r := experiment.MasterWeights(10000, 1e-4)
	equal(t, "float16 weight", r.Half, 1)
	near(t, "float32 master", r.Master, 2.00016594, 1e-8)
	shows(t, r, "2.000")
	if up := experiment.MasterWeights(3, 1e-3); up.Half == 1 {
		t.Error("an update that float16 can represent did not change the weight")
	}
}

// TestDotProduct adds 4096 products of mean 1/4, whose sum is about 1024. In float16 each addition near the
// end has an error of up to 2^-2.
func TestDotProduct(t *testing.T) {
	for seed := range int64(3) {
		r := experiment.DotProduct(4096, seed)
		if r.Errors[0] < 0.03 || r.Errors[1] > 0x1p-11 {
			t.Errorf("seed %d: got %v", seed, r)
		}
		shows(t, r, "float64")
	}
}

func TestConstants(t *testing.T) {
	lost := experiment.LostConstants()
	equal(t, "eps", lost.Eps, 0)
	equal(t, "mask", lost.Mask, -inf)
	equal(t, "row", lost.Row, math.NaN())
	if lost.Refused == nil || !strings.Contains(lost.Refused.Error(), "65504") {
		t.Errorf("MaskedFill: got error %v", lost.Refused)
	}
	shows(t, lost, "-Inf")

	s := experiment.Saturation(8.4)
	equal(t, "sigmoid(8.4)", s.Sigmoid, 1)
	equal(t, "its loss", s.Loss, 100)
	near(t, "the gradient with logits", s.Gradient, 1/(1+math.Exp(-8.4)), 1e-6)
	equal(t, "sigmoid(8)", experiment.Saturation(8).Sigmoid, 0.99951171875)
	if s.Refused == nil || !strings.Contains(s.Refused.Error(), "binary_cross_entropy") {
		t.Errorf("autocast: got error %v", s.Refused)
	}
	shows(t, s, "with logits")

	d := experiment.DoubleSigmoid(20)
	near(t, "floor", d.Twice, (math.Log1p(math.Exp(-1))+math.Ln2)/2, 1e-6)
	near(t, "floor to three digits", d.Twice, 0.503, 5e-4)
	near(t, "right", d.Right, 0, 1e-8)
	shows(t, d, "0.503")
}

package experiment_test

import (
	"math"
	"strings"
	"testing"

	"halfnote/amp/experiment"
	"halfnote/tensor"
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
	shows(t, ranges, "gap after 1") // 0.000977 is eps, not 1 + eps

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
	equal(t, "float16 count in pairs", ones.Sums[3].Sum, 5000) // 8 + 128 + 256 + 512 + 4096, which float16 holds
	equal(t, "float16 ones into float32", ones.Sums[4].Sum, 5000)
	near(t, "float16 sum of 0.1 in pairs", tenths.Sums[3].Sum, 1000, 1)
	equal(t, "float16 0.1 into float32 is stuck at", float64(tenths.Sums[4].Stuck), -1)
	shows(t, tenths, "256")
	// The lines of the float32 sums are that of the exact sum.
	if got, want := ones.Figure.String(), "Sum of 5000 terms, exactly 5000: float16 stops at 2048 from term 2048 on, bfloat16 stops at 256 from term 256 on, float16 in pairs ends at 5000"; got != want {
		t.Errorf("got the chart %q, want %q", got, want)
	}
	shows(t, experiment.Accumulation(0, 1), "0 additions")
}

// TestResidue adds 2048 and 64 ones: above 2048, float16's numbers are 2 apart, so 2048 + 1 is 2048.
func TestResidue(t *testing.T) {
	terms := []float64{2048}
	for range 64 {
		terms = append(terms, 1)
	}
	r := experiment.Residue(terms, tensor.Float16)
	for i, want := range []experiment.ResidueRow{{"as given", 2048, 64}, {"smallest first", 2112, 0}, {"largest first", 2048, 64}} {
		if r.Orders[i] != want {
			t.Errorf("got %v, want %v", r.Orders[i], want)
		}
	}
	shows(t, r, "2112")
	if got, want := r.Figure.String(), "Lost in a sum of 65 terms: as given 64, smallest first 0, largest first 64"; got != want {
		t.Errorf("got the chart %q, want %q", got, want)
	}
}

// TestBits compares with the bits of torch's torch.tensor(x).to(dtype).view(…); those of TF32 follow from float32's.
func TestBits(t *testing.T) {
	for x, want := range map[float64][]uint64{
		0.1:             {0x3dcccccd, 0x1ee66, 0x3dcd, 0x2e66, 0x1d, 0x2e},
		-1e-8:           {0xb22bcc77, 0x5915e, 0xb22c, 0x8000, 0x80, 0x80},
		1 + 0x1p-11:     {0x3f801000, 0x1fc00, 0x3f80, 0x3c00, 0x38, 0x3c}, // a tie
		1 + 0x1.8p-10:   {0x3f803000, 0x1fc02, 0x3f80, 0x3c02, 0x38, 0x3c},
		70000:           {0x4788b800, 0x23c46, 0x4789, 0x7c00, 0x7e, 0x7c},
		math.Inf(-1):    {0xff800000, 0x7fc00, 0xff80, 0xfc00, 0xfe, 0xfc},
		math.MaxFloat32: {0x7f7fffff, 0x3fc00, 0x7f80, 0x7c00, 0x7e, 0x7c},
		0x1p-149:        {1, 0, 0, 0, 0, 0},
		0x1.8p-136:      {0x3000, 2, 0, 0, 0, 0}, // a tie,
	} {
		r := experiment.Bits(x)
		for i, s := range r.Stored {
			if s.Bits != want[i] {
				t.Errorf("%g in %s: got %#x, want %#x", x, s.Format, s.Bits, want[i])
			}
		}
		shows(t, r, "tf32")
	}
	s := experiment.Bits(0.1).Stored
	near(t, "error of 0.1 in float16", s[3].ULP, (0.0999755859375-0.1)/0x1p-14, 1e-9)
	equal(t, "0.1 in TF32", s[1].Value, 0.0999755859375)
}

func TestDifference(t *testing.T) {
	r := &experiment.RunsReport{Runs: []experiment.Run{{Name: "float32", Losses: []float64{4, 2, 1}}, {Name: "autocast", Losses: []float64{4, 2.5, 1.25}}}}
	if got, want := r.Difference("autocast").String(), "autocast against float32: loss up to 20 % apart (step 1), 20 % at the end"; got != want {
		t.Errorf("got the chart %q, want %q", got, want)
	}
}

func TestSpacing(t *testing.T) {
	r := experiment.Spacing(1, 2, tensor.Float16, tensor.BFloat16)
	equal(t, "float16 gap at 1", r.DTypes[0].From, 0x1p-10)
	equal(t, "float16 gap at 2", r.DTypes[0].To, 0x1p-9)
	equal(t, "bfloat16 gap at 1", r.DTypes[1].From, 0x1p-7)
	shows(t, r, "1,025 in float16, 129 in bfloat16")
	shows(t, experiment.Spacing(-1, 1e6), "float8_e4m3fn")
	for _, f := range []func(){func() { experiment.Spacing(2, 1) }, func() { experiment.Spacing(0, math.NaN()) }, func() { experiment.Spacing(0, 1, tensor.Int64) }, func() { experiment.Residue(nil, tensor.Float16) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("got no panic, want one")
				}
			}()
			f()
		}()
	}
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

package tensor

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor/internal/asm"
)

// nans are bits of NaNs of float32: quiet and signalling, of both signs, with several payloads.
var nans = []uint64{0x7fc00000, 0xffc00000, 0x7fc12345, 0xffc54321, 0x7f800001, 0xff812345, 0x7fffffff}

// canonicalNaN is the NaN that Maximum and other comparisons return.
const canonicalNaN = 0x7fc00000

// TestNaNBits checks the bits of NaN results. An operation that compares two numbers always gives the same
// NaN; one that selects an element gives that element's bits, or a quiet NaN for a signalling operand. The
// test runs itself once for every kernel tier of this processor. The rule holds on arm64 and for portable code too.
func TestNaNBits(t *testing.T) {
	if os.Getenv("HALFNOTE_CPU") != "" {
		checkNaNBits(t)
		return
	}
	tiers := []string{asm.Portable}
	for _, tier := range asm.Tiers() {
		tiers = append(tiers, tier.Name)
	}
	for _, tier := range tiers {
		t.Run(tier, func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.run=^TestNaNBits$", "-test.v")
			c.Env = append(os.Environ(), "HALFNOTE_CPU="+tier)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "PASS") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func checkNaNBits(t *testing.T) {
	first := func(x, _ *Tensor) *Tensor { return x }
	for _, n := range []int{1, 3, 5, 17, 64, 300} {
		for i, nan := range nans {
			other := nans[(i+1)%len(nans)]
			x := withNaNs(n, nan, other)
			y := x.Flip(0).Clone()
			for name, z := range map[string]*Tensor{
				"amax": x.Amax(), "amax of rows": x.Amax(1), "amax of columns": x.Amax(0), "amin": x.Amin(), "amin of rows": x.Amin(1), "amin of columns": x.Amin(0),
				"amax of a transpose": x.T().Amax(0), "maximum": x.Maximum(y), "minimum": x.Minimum(y), "clamp": x.Clamp(-1, 1), "clamp_min": x.ClampMin(0),
				"clamp of tensors": x.ClampTensor(y, y), "relu6": x.ReLU6(), "hardtanh": x.Hardtanh(-1, 1), "hardsigmoid": x.Hardsigmoid(),
				"scatter_reduce": x.ScatterReduce(0, ZerosLike(x).Long(), y, "amax", ScatterReduceOptions{}).Select(0, 0), "amax of float16": x.Half().Amax(1).Float(),
				"maximum of bfloat16": x.BFloat16().Maximum(y.BFloat16()).Float(), "amin of float64": x.Double().Amin(1).Float(), "maximum of float64": x.Double().Maximum(y.Double()).Float(),
			} {
				expectNaNs(t, fmt.Sprintf("%s of %d with %x", name, n, nan), z, true, canonicalNaN)
			}
			for name, z := range map[string]*Tensor{
				"fmax": x.Fmax(y), "fmin": x.Fmin(y), "relu": x.ReLU(), "leaky_relu": x.LeakyReLU(.1), "cummax": first(x.Cummax(1)), "cummin": first(x.Cummin(1)),
				"sort": first(x.Sort(1)), "max": first(x.Max(1)), "min": first(x.Min(1)), "median": first(x.Median(1)), "topk": first(x.TopK(1, 1)), "abs": x.Abs(), "sign": x.Sign(),
				"max_pool1d": functional{}.MaxPool(x.Unsqueeze(0), 1, []int{1 + n/4}, poolOptions{}), "adaptive_max_pool1d": functional{}.AdaptiveMaxPool(x.Unsqueeze(0), 1, []int{1}),
			} {
				expectNaNs(t, fmt.Sprintf("%s of %d with %x", name, n, nan), z, false, nan, other, nan|1<<22, other|1<<22)
			}
		}
	}
}

// withNaNs returns four rows of n numbers. Each row has a NaN, and the third has two.
func withNaNs(n int, nan, other uint64) *Tensor {
	x := make([]float32, 4*n)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	for row, at := range []int{0, n / 2, n - 1, n / 3} {
		x[row*n+at] = math.Float32frombits(uint32(nan))
		if row == 2 {
			x[row*n+(at+1)%n] = math.Float32frombits(uint32(other))
		}
	}
	return FromFloat32s(x, 4, n)
}

// expectNaNs fails unless the bits of all NaNs of x are among those given, and x has a NaN if it must.
func expectNaNs(t *testing.T, what string, x *Tensor, must bool, among ...uint64) {
	t.Helper()
	found := false
	for i, b := range x.Bits() {
		if b&0x7fffffff <= 0x7f800000 {
			continue
		}
		if found = true; !slices.Contains(among, b) {
			t.Errorf("%s: element %d is the NaN %x, want one of %x", what, i, b, among)
			return
		}
	}
	if must && !found {
		t.Errorf("%s has no NaN: %v", what, x)
	}
}

package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestSliceBounds checks, for all bounds within and beyond a small tensor, that Slice, SliceStep, Index with
// R and Set select the elements of t[from:to:step] in PyTorch, which clips bounds.
func TestSliceBounds(t *testing.T) {
	const n = 4
	bounds := []int{math.MinInt, -9, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 9, math.MaxInt}
	x := Arange(0, n)
	for _, from := range bounds {
		for _, to := range bounds {
			for step := 1; step <= 3; step++ {
				want := []float64{}
				for i := pythonBound(from, n); i < pythonBound(to, n); i += step {
					want = append(want, float64(i))
				}
				for name, y := range map[string]*Tensor{"SliceStep": x.SliceStep(0, from, to, step), "R": x.Index(R(from, to, step))} {
					if !slices.Equal(y.Float64s(), want) {
						t.Errorf("%s %d:%d:%d: got %v, want %v", name, from, to, step, y.Float64s(), want)
					}
				}
				if y := Zeros(n).Set(1, R(from, to, step)); y.Sum().Item() != float64(len(want)) {
					t.Errorf("Set of %d:%d:%d: got %v, want %d ones", from, to, step, y, len(want))
				}
				if y := x.Slice(-1, from, to); step == 1 && !slices.Equal(y.Float64s(), want) {
					t.Errorf("Slice %d:%d: got %v, want %v", from, to, y.Float64s(), want)
				}
			}
		}
	}
}

// pythonBound is the bound of a slice as defined in Python's reference, section 3.3.8.
func pythonBound(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// TestSliceLikeTorch compares with PyTorch 2.15's output for torch.arange(4).
func TestSliceLikeTorch(t *testing.T) {
	x := Arange(0, 4)
	for text, c := range map[string]struct {
		from, to int
		want     []float64
	}{
		"1:9": {1, 9, []float64{1, 2, 3}}, "-9:9": {-9, 9, []float64{0, 1, 2, 3}}, "-9:-8": {-9, -8, nil}, "9:12": {9, 12, nil}, "3:1": {3, 1, nil},
		"1:-1": {1, -1, []float64{1, 2}}, "-1:1": {-1, 1, nil}, "2:-9": {2, -9, nil},
	} {
		if got := x.Slice(0, c.from, c.to); !slices.Equal(got.Float64s(), c.want) {
			t.Errorf("[%s]: got %v, want %v", text, got.Float64s(), c.want)
		}
	}
	y := Ones(4).RequireGrad()
	y.Slice(0, 2, 9).Sum().Backward()
	if got := y.Grad().Float64s(); !slices.Equal(got, []float64{0, 0, 1, 1}) {
		t.Errorf("gradient of [2:9]: got %v", got)
	}
}

// TestNarrowBounds checks that Narrow rejects the starts and lengths that torch.narrow rejects.
func TestNarrowBounds(t *testing.T) {
	x := Arange(0, 4)
	for _, c := range []struct {
		start, length int
		ok            bool
	}{{1, 3, true}, {-2, 2, true}, {4, 0, true}, {1, 9, false}, {-9, 1, false}, {5, 0, false}, {1, -1, false}, {1, math.MaxInt, false}, {math.MinInt, 1, false}} {
		if err := Try(func() { x.Narrow(0, c.start, c.length) }); (err == nil) != c.ok {
			t.Errorf("%s: %v", fmt.Sprint(c), err)
		}
	}
}

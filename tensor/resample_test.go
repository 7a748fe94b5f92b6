package tensor

import (
	"math"
	"strings"
	"testing"
)

func TestMaxPoolFirst(t *testing.T) {
	inf := math.Inf(1)
	x := New([]float64{1, 3, 3, -inf, -inf, math.NaN()}, 1, 6).RequireGrad()
	y := functional{}.MaxPool(x, 1, []int{3}, poolOptions{})
	if got := y.Float64s(); got[0] != 3 || got[1] == got[1] {
		t.Errorf("got %v, want [3, NaN]", got)
	}
	y.Slice(1, 0, 1).Sum().Backward()
	if got := x.Grad().Ints(); got[1] != 1 || got[2] != 0 {
		t.Errorf("equal maxima: got gradient %v, want all of it at the first", got)
	}
	if got := (functional{}).MaxPool(New([]float64{1, 2}, 1, 2), 1, []int{2}, poolOptions{Stride: []int{3}, Dilation: []int{2}, CeilMode: true}); got.Item() != 1 {
		t.Errorf("a window that crosses the border: got %v, want 1", got)
	}
	if got := (functional{}).MaxPoolIndices(Full(-inf, 1, 2, 2), 2, []int{2}, poolOptions{Stride: []int{1}, Padding: []int{1}}).Ints(); got[0] != 0 || got[8] != 3 {
		t.Errorf("padding before -Inf: got positions %v, want positions inside the input", got)
	}
}

// TestResamplingSkipsOmittedInfinities checks that resampling does not multiply omitted elements by 0.
// TestIntegersInWindows compares max pooling with padding, and the trapezoidal rule, of integers at the ends of their ranges with those of float64.
func TestIntegersInWindows(t *testing.T) {
	for _, d := range []DType{Int64, Int32, Int16, Int8, Uint8, Bool} {
		data := []float64{0, 1, 1, 0}
		if d != Bool {
			i := IInfo(d)
			least, most := float64(i.Min), float64(i.Max/2+1) // float64 has these
			data = []float64{least, most, least, 3, most, most, max(-5, least), max(-7, least), least}
		}
		x := NewAs(Float64, data, 1, len(data))
		whole := x.To(d)
		for _, size := range []int{2, 3} {
			o := poolOptions{Stride: []int{1}, Padding: []int{1}}
			got, want := functional{}.MaxPool(whole, 1, []int{size}, o), functional{}.MaxPool(x, 1, []int{size}, o)
			if !Equal(got.Double(), want) {
				t.Errorf("max pool of %v, windows of %d: got %v, want %v", d, size, got, want)
			}
		}
		if d == Bool || d == Int64 {
			continue
		}
		if got, want := whole.Trapezoid(1, -1).Double(), x.Trapezoid(1, -1); !AllClose(got, want, 1e-6, 0) {
			t.Errorf("trapezoid of %v: got %v, want %v", d, got, want)
		}
	}
}

// TestEinsumOfIntegers compares sums of integers with those of float64, where an operand is summed alone.
func TestEinsumOfIntegers(t *testing.T) {
	x, y := Arange(1, 7).Reshape(2, 3), Arange(2, 8).Reshape(3, 2)
	for _, e := range []string{"ij,kl->kl", "ij,jk->ik", "ij,kl->j", "ij,jk->k", "ij,ki->"} {
		want := Einsum(e, x, y)
		for _, d := range []DType{Int64, Int32, Uint8} {
			if got := Einsum(e, x.To(d), y.To(d)); !Equal(got.Float(), want.To(got.DType()).Float()) {
				t.Errorf("%s of %v: got %v, want %v", e, d, got, want)
			}
		}
	}
}

func TestResamplingSkipsOmittedInfinities(t *testing.T) {
	x := New([]float64{1, 2, math.Inf(1), 4}, 1, 1, 4)
	for mode, want := range map[string][]float64{"nearest": {1, math.Inf(1)}, "linear": {1.5, math.Inf(1)}} {
		got := x.Interpolate(InterpolateOptions{Size: []int{2}, Mode: mode}).Float64s()
		if got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s: got %v, want %v", mode, got, want)
		}
	}
	grid := New([]float64{-3, 0}, 1, 1, 1, 2)
	if got := Full(math.Inf(1), 1, 1, 2, 2).GridSample(grid, GridSampleOptions{}).Item(); got != 0 {
		t.Errorf("grid_sample outside: got %v, want 0", got)
	}
	if got := Ones(1, 1, 2, 2).GridSample(Full(math.NaN(), 1, 1, 1, 2), GridSampleOptions{}).Item(); got == got {
		t.Errorf("grid_sample at NaN: got %v, want NaN", got)
	}
}

func TestNearestGrid(t *testing.T) {
	grid := Zeros(1, 1, 1, 2).RequireGrad()
	if g := Grad(Ones(1, 1, 2, 2).RequireGrad().GridSample(grid, GridSampleOptions{Mode: "nearest"}).Sum(), grid)[0]; g.Norm().Item() != 0 {
		t.Errorf("the gradient of the grid: got %v, want 0", g)
	}
}

func TestUnfoldIsView(t *testing.T) {
	x := Arange(0, 6)
	y := x.Unfold(0, 3, 2)
	if y.mem != x.mem || y.String() != New([]float64{0, 1, 2, 2, 3, 4}, 2, 3).String() {
		t.Errorf("got %v", y)
	}
	if got := Zeros(0, 2).Unfold(0, 0, 1).Shape(); got[0] != 1 {
		t.Errorf("empty slices: got %v, want one slice", got)
	}
}

func TestSampleErrors(t *testing.T) {
	x := Zeros(1, 4, 5, 6)
	for _, c := range []struct {
		body func()
		want string
	}{
		{func() { x.To(Uint8).Interpolate(InterpolateOptions{Mode: "bilinear", Size: []int{2}}) }, "interpolate: dtype uint8: mode bilinear takes averages, which are not integers"},
		{func() { functional{}.AvgPool(x.Long(), 2, []int{2}, poolOptions{}) }, "avg_pool2d: dtypes int64"},
		{func() { x.Long().Interpolate(InterpolateOptions{Mode: "area", Size: []int{2}}) }, "interpolate: dtype int64"},
		{func() { functional{}.MaxPool(x, 2, []int{7}, poolOptions{}) }, "max_pool2d: shape (1, 4, 5, 6): the window spans 7 elements, but the input has only 5"},
		{func() { functional{}.MaxPool(x, 2, []int{2}, poolOptions{Divisor: 2}) }, "Divisor is 2"},
		{func() {
			functional{}.MaxPool(Zeros(1, 1), 1, []int{2}, poolOptions{Padding: []int{1}, Dilation: []int{2}})
		}, "covers only padding in dimension 1 of size 1"},
		{func() { functional{}.AdaptiveMaxPool(x, 2, nil) }, "adaptive_max_pool2d: shape (1, 4, 5, 6)"},
		{func() { functional{}.MaxUnpool(x, Zeros(1, 4, 5, 5).Long(), 8, 8) }, "max_unpool2d: shapes (1, 4, 5, 6) and (1, 4, 5, 5): cannot unpool to (8, 8)"},
		{func() { x.Im2Col([]int{6}, ConvOptions{}) }, "unfold: shape (1, 4, 5, 6): the window (6, 6)"},
		{func() { x.Col2Im([]int{3}, []int{2}, ConvOptions{}) }, "fold: shape (1, 4, 5, 6): t does not match (2, 2) places of a window (2, 2)"},
		{func() { x.Unfold(2, 6, 1) }, "unfold: shape (1, 4, 5, 6): size is 6 and step is 1 in dimension 2; want size at most 5 and step at least 1"},
		{func() { x.Interpolate(InterpolateOptions{}) }, "interpolate: shape (1, 4, 5, 6): Size is () and ScaleFactor is (); want exactly one of them"},
		{func() { x.Interpolate(InterpolateOptions{Size: []int{2}, Mode: "linear"}) }, "mode linear is 1-dimensional"},
		{func() { x.Interpolate(InterpolateOptions{Size: []int{2}, Mode: "cubic"}) }, `unknown mode "cubic"; want nearest`},
		{func() { x.Interpolate(InterpolateOptions{Size: []int{2}, AlignCorners: true}) }, "AlignCorners needs a linear or cubic mode"},
		{func() { x.Interpolate(InterpolateOptions{ScaleFactor: []float64{0.1}}) }, "the factor 0.1 leaves no elements of 5"},
		{func() { x.GridSample(Zeros(1, 2, 2, 3), GridSampleOptions{}) }, "grid_sample: shapes (1, 4, 5, 6) and (1, 2, 2, 3)"},
		{func() { x.GridSample(Zeros(1, 2, 2, 2).Half(), GridSampleOptions{}) }, "grid_sample: dtypes float32 and float16"},
		{func() { x.GridSample(Zeros(1, 2, 2, 2), GridSampleOptions{Mode: "linear"}) }, `mode "linear", padding mode "zeros", 2 dimensions`},
		{func() { Zeros(2, 3).AffineGrid([]int{1, 1, 2, 2}, false) }, "affine_grid: shape (2, 3): sizes are (1, 1, 2, 2)"},
		{func() { x.PixelShuffle(3) }, "pixel_shuffle: shape (1, 4, 5, 6): factor is 3"},
		{func() { x.PixelUnshuffle(2) }, "pixel_unshuffle"},
		{func() { x.ChannelShuffle(3) }, "channel_shuffle: shape (1, 4, 5, 6): groups is 3"},
		{func() { functional{}.LocalResponseNorm(x, 0, 1e-4, 0.75, 1) }, "local_response_norm: shape (1, 4, 5, 6): size is 0"},
	} {
		if err := Try(c.body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that contains %q", err, c.want)
		}
	}
}

package tensor

import (
	"math"
	"strings"
	"testing"
)

// TestBatchNormRunningStatistics compares running statistics with the formula in float64: a tenth of the
// batch's mean and of its variance with divisor n-1.
func TestBatchNormRunningStatistics(t *testing.T) {
	for _, d := range []DType{Float64, Float32, Float16, BFloat16} {
		x := NewAs(d, []float64{1, 2, 3, 4, 5, 9}, 3, 2)
		mean, variance := NewAs(Float32, []float64{1, -1}), NewAs(Float32, []float64{2, 4})
		y := BatchNorm(x, mean, variance, nil, nil, BatchNormOptions{Training: true})
		if y.dtype != d {
			t.Errorf("%v gives %v", d, y.dtype)
		}
		for i, want := range []float64{0.9 + 0.3, -0.9 + 0.5} {
			if got := mean.At(i); math.Abs(got-want) > 1e-6 {
				t.Errorf("%v: running mean %d: got %v, want %v", d, i, got, want)
			}
		}
		for i, want := range []float64{1.8 + 0.1*4, 3.6 + 0.1*13} {
			if got := variance.At(i); math.Abs(got-want) > 1e-6 {
				t.Errorf("%v: running variance %d: got %v, want %v", d, i, got, want)
			}
		}
		z := BatchNorm(x, mean, variance, nil, nil, BatchNormOptions{Eps: 1})
		if want := NewAs(d, []float64{(1 - 1.2) / math.Sqrt(2.2+1)}).Item(); math.Abs(z.At(0, 0)-want) > 2*FInfo(d).Eps+1e-7 {
			t.Errorf("%v: evaluation: got %v, want %v", d, z.At(0, 0), want)
		}
	}
	mean, variance := Zeros(2), Ones(2)
	InstanceNorm(New([]float64{1, 3, 5, 9}, 1, 2, 2), mean, variance, nil, nil, BatchNormOptions{Training: true, Momentum: 0.5})
	if mean.At(0) != 1 || mean.At(1) != 3.5 || variance.At(0) != 1.5 || variance.At(1) != 4.5 {
		t.Errorf("instance norm: got %v and %v, want [1, 3.5] and [1.5, 4.5]", mean, variance)
	}
}

// TestNormsOfHugeNumbers checks the results and derivatives of norms whose variances overflow: NaN or 0, as in PyTorch 2.15.
func TestNormsOfHugeNumbers(t *testing.T) {
	batch := BatchNormOptions{Training: true}
	one := []float64{1, -1, 1, 2}
	for _, c := range []struct {
		name string
		f    func(x, w, b *Tensor) *Tensor // x (2, 4, 4), w and b (4)
		nan  bool
	}{
		{"layer_norm", func(x, w, b *Tensor) *Tensor { return LayerNorm(x, []int{4}, w, b, NormOptions{}) }, true},
		{"group_norm", func(x, w, b *Tensor) *Tensor { return GroupNorm(x, 2, w, b, NormOptions{}) }, true},
		{"batch_norm", func(x, w, b *Tensor) *Tensor { return BatchNorm(x, nil, nil, w, b, batch) }, false},
		{"instance_norm", func(x, w, b *Tensor) *Tensor { return InstanceNorm(x, nil, nil, w, b, batch) }, false},
		{"rms_norm", func(x, w, b *Tensor) *Tensor { return RMSNorm(x, []int{4}, w, NormOptions{}).Add(b) }, false},
	} {
		for _, d := range []DType{Float32, BFloat16, Float64} {
			for _, size := range []float64{1e20, 1e37} {
				if d == Float64 {
					size *= 1e160
				}
				for _, affine := range []bool{true, false} {
					x := NewAs(d, one, 1, 1, 4).MulScalar(size).Expand(2, 4, 4).Clone().RequireGrad()
					w, b := NewAs(d, one).RequireGrad(), NewAs(d, one).RequireGrad()
					var y *Tensor
					if affine {
						y = c.f(x, w, b)
					} else {
						y = c.f(x, nil, ZerosAs(d, 4))
					}
					g := GradGraph(y.Mul(NewAs(d, one)).Sum(), x)[0]
					h := Grad(g.Mul(NewAs(d, one)).Sum(), x)[0]
					for _, r := range []struct {
						what string
						*Tensor
					}{{"result", y}, {"derivative", g}, {"second derivative", h}} {
						all := r.Detach().IsNaN().All().Item() == 1
						if none := r.Detach().IsNaN().Any().Item() == 0; c.nan && !all || !c.nan && !none && r.what != "second derivative" {
							t.Errorf("%s of %v times %v, weight %v: the %s is %v, want NaN: %v", c.name, d, size, affine, r.what, r, c.nan)
						}
					}
				}
			}
		}
	}
}

func TestNormErrors(t *testing.T) {
	x := Zeros(2, 4, 3)
	for _, c := range []struct {
		body func()
		want string
	}{
		{func() { BatchNorm(x, nil, nil, nil, nil, BatchNormOptions{}) }, "batch_norm: shape (2, 4, 3): mean or variance is nil; pass both, or set Training"},
		{func() { BatchNorm(x, nil, nil, Zeros(3), nil, BatchNormOptions{Training: true}) }, "batch_norm: shapes (2, 4, 3) and (3,): the weight does not match the input's channels; want shape (4,)"},
		{func() { BatchNorm(Zeros(1, 4), nil, nil, nil, nil, BatchNormOptions{Training: true}) }, "one value per channel has no variance"},
		{func() { BatchNorm(Zeros(4), nil, nil, nil, nil, BatchNormOptions{Training: true}) }, "want (n, c, …)"},
		{func() { LayerNorm(x, []int{4}, nil, nil, NormOptions{}) }, "layer_norm: shape (2, 4, 3): the normalized shape is (4,)"},
		{func() { LayerNorm(x, []int{3}, Zeros(4), nil, NormOptions{}) }, "weight does not match the input; want shape (3,)"},
		{func() { GroupNorm(x, 3, nil, nil, NormOptions{}) }, "group_norm: shape (2, 4, 3): got 3 groups"},
		{func() { InstanceNorm(x, nil, nil, nil, Zeros(3), BatchNormOptions{Training: true}) }, "the bias does not match the input's channels; want shape (4,)"},
		{func() { RMSNorm(x, []int{3}, Zeros(2), NormOptions{}) }, "rms_norm: shapes (2, 4, 3) and (2,)"},
		{func() { x.Renorm(0, 0, 1) }, "renorm: p is 0 and the limit is 1"},
		{func() { functional{}.AvgPool(x, 2, []int{2}, poolOptions{Padding: []int{2}}) }, "avg_pool2d: shape (2, 4, 3): padding is (2, 2); want at most half of the window size (2, 2)"},
		{func() { functional{}.AvgPool(x, 2, []int{5}, poolOptions{}) }, "the window spans 5 elements, but the input has only 4 with padding"},
		{func() { functional{}.AvgPool(x, 3, []int{1}, poolOptions{}) }, "input is 3-dimensional; want 4 or 5 dimensions"},
		{func() { functional{}.AvgPool(x, 1, nil, poolOptions{}) }, "the window size is empty"},
		{func() { functional{}.AdaptiveAvgPool(x, 2, []int{1, 2, 3}) }, "adaptive_avg_pool2d: output size is (1, 2, 3), of length 3; want length 1 or 2"},
		//lint:ignore SA5012 an odd number of sizes is the mistake
		{func() { x.Pad([]int{1}, PadOptions{}) }, "pad: shape (2, 4, 3): pad is (1,); want two numbers for each of at most 3 dimensions"},
		{func() { x.Pad([]int{-2, -2}, PadOptions{}) }, "padding (-2, -2) removes more than the 3 elements of dimension 2"},
		{func() { x.Pad([]int{3, 0}, PadOptions{Mode: "reflect"}) }, "padding is (3, 0) in mode reflect, dimension 2; want at most 2"},
		{func() { x.Pad([]int{4, 0}, PadOptions{Mode: "circular"}) }, "want at most 3"},
		{func() { x.Pad([]int{1, 0}, PadOptions{Mode: "mirror"}) }, `unknown mode "mirror"; want constant, reflect, replicate or circular`},
	} {
		if err := Try(c.body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that contains %q", err, c.want)
		}
	}
}

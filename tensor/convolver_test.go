package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// TestConvolver checks that convolutions of bfloat16 without padding, where the processor has them, give the
// bits of products of padded images, for numbers of all magnitudes.
func TestConvolver(t *testing.T) {
	convolver, ok := CPU.backend().(driver.Convolver)
	if !ok {
		t.Skip("the backend has no convolutions without padding")
	}
	r := rand.New(rand.NewPCG(1, 2))
	filled := func(shape []int, tiny bool) *Tensor {
		words := make([]float32, size(shape))
		for i := range words {
			words[i] = float32(r.NormFloat64())
			switch {
			case tiny:
				words[i] *= float32(math.Pow(2, -60-10*r.Float64()))
			case r.IntN(8) == 0:
				words[i] = 0
			case r.IntN(50) == 0:
				words[i] = -words[i] * 0x1p-100
			}
		}
		return FromFloat32s(words, shape...).BFloat16()
	}
	taken := 0
	for i := range 600 {
		dims := 1 + r.IntN(3)
		n, c, o := []int{16, 15, 32, 47, 17}[r.IntN(5)], 32*(1+r.IntN(3)), 1+r.IntN(45)
		x, w := []int{n, c}, []int{o, c}
		var opt ConvOptions
		for range dims {
			k := 1 + r.IntN(4)
			dilation, padding := 1+r.IntN(2), r.IntN(3)
			x, w = append(x, max(1, k*dilation+1-2*padding)+r.IntN([]int{0, 40, 8, 3}[dims])), append(w, k)
			opt.Padding, opt.Stride, opt.Dilation = append(opt.Padding, padding), append(opt.Stride, 1+r.IntN(2)*r.IntN(2)), append(opt.Dilation, dilation)
		}
		xs, ws, bias := filled(x, i%5 == 4), filled(w, i%5 == 4), filled([]int{o}, false)
		if i%2 == 1 {
			bias = nil
		}
		conv := []func(t, w, b *Tensor, o ConvOptions) *Tensor{Conv1d, Conv2d, Conv3d}[dims-1]
		var dy *Tensor
		results := func(b driver.Backend) []*Tensor {
			x, w := copied(b, xs).RequireGrad(), copied(b, ws).RequireGrad()
			in := []*Tensor{x, w}
			var ours *Tensor
			if bias != nil {
				ours = copied(b, bias).RequireGrad()
				in = append(in, ours)
			}
			y := conv(x, w, ours, opt)
			if dy == nil {
				dy = filled(y.shape, i%5 == 4)
			}
			return append(GradWith(y, in, BackwardOptions{Gradient: copied(b, dy)}), y)
		}
		cpu := CPU.backend()
		counted := &countingConvolver{Backend: cpu, Convolver: convolver}
		want := results(basic{cpu})
		for j, got := range results(counted) {
			if !slices.Equal(copied(cpu, got).bytes(), copied(cpu, want[j]).bytes()) {
				t.Fatalf("case %d, %v, %v, %s: result %d differs from a padded convolution's", i, x, w, fmt.Sprint(opt), j)
			}
		}
		taken += counted.taken
	}
	t.Logf("%d convolutions without padding", taken)
}

// countingConvolver counts the convolutions that its Convolver takes.
type countingConvolver struct {
	driver.Backend
	driver.Convolver
	taken int
}

func (c *countingConvolver) Convolve(p driver.Window, dst, w, x driver.View, bias *driver.View) bool {
	ok := c.Convolver.Convolve(p, dst, w, x, bias)
	if ok {
		c.taken++
	}
	return ok
}

package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// TestConvolver checks that convolutions and their gradients have the bits of products of padded images on a backend
// that computes some without padding.
func TestConvolver(t *testing.T) {
	convolver := CPU.backend().(driver.Convolver)
	r := rand.New(rand.NewPCG(1, 2))
	filled := func(shape []int, tiny bool) *Tensor {
		list := make([]float32, size(shape))
		for i := range list {
			list[i] = float32(r.NormFloat64())
			if tiny { // products are near the smallest normal float32
				list[i] *= float32(math.Pow(2, -60-10*r.Float64()))
			}
		}
		return FromFloat32s(list, shape...).BFloat16()
	}
	taken := 0
	for i := range 40 {
		dims := 1 + r.IntN(3)
		n, c, o := []int{16, 15, 32, 47, 31}[r.IntN(5)], 32*(1+r.IntN(3)), []int{7, 32, 45, 64}[r.IntN(4)]
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
		transposed := []func(t, w, b *Tensor, o ConvTransposeOptions) *Tensor{ConvTranspose1d, ConvTranspose2d, ConvTranspose3d}[dims-1]
		other := filled([]int{c}, false) // bias of the transposed convolution
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
			z := transposed(copied(b, dy), w.Detach(), copied(b, other), ConvTransposeOptions{Stride: opt.Stride, Dilation: opt.Dilation})
			return append(GradWith(y, in, BackwardOptions{Gradient: copied(b, dy)}), y, z)
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
	if tier := convolver.(interface{ Tier() string }).Tier(); taken == 0 && tier == "avx512bf16" {
		t.Errorf("%s: none of the convolutions was computed without padding", tier)
	}
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

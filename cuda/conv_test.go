//go:build cuda && linux && cgo

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/cuda"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
)

// TestConvolutions compares convolutions of -1, 0 and 1, whose sums are exact, and their gradients
// with the CPU's. In cases marked fast, all three products read 16 bytes at a time.
func TestConvolutions(t *testing.T) {
	options := func(stride, padding, dilation, groups int) tensor.ConvOptions {
		return tensor.ConvOptions{Stride: []int{stride}, Padding: []int{padding}, Dilation: []int{dilation}, Groups: groups}
	}
	for _, test := range []struct {
		name string
		x, w []int
		o    tensor.ConvOptions
		fast bool
	}{
		{"3x3", []int{2, 16, 8, 8}, []int{8, 16, 3, 3}, options(1, 1, 1, 1), true},
		{"3 channels", []int{3, 3, 9, 7}, []int{16, 3, 3, 3}, options(1, 1, 1, 1), true},
		{"12 channels", []int{2, 12, 6, 5}, []int{20, 12, 3, 3}, options(1, 1, 1, 1), true},
		{"20 channels, stride", []int{2, 20, 9, 8}, []int{12, 20, 3, 3}, options(2, 1, 1, 1), true},
		{"few images with many channels", []int{2, 80, 4, 4}, []int{72, 80, 3, 3}, options(1, 1, 1, 1), true},
		{"64 channels", []int{1, 64, 4, 4}, []int{8, 64, 3, 2}, options(1, 1, 1, 1), true},
		{"long rows", []int{2, 8, 4, 40}, []int{8, 8, 2, 3}, options(1, 0, 1, 1), true},
		{"dilation", []int{2, 8, 9, 9}, []int{8, 8, 3, 2}, options(1, 2, 2, 1), true},
		{"same", []int{2, 8, 5, 6}, []int{8, 8, 2, 4}, tensor.ConvOptions{Same: true}, true},
		{"groups", []int{2, 16, 6, 6}, []int{16, 8, 3, 3}, options(1, 1, 1, 2), true},
		{"groups of 2", []int{2, 8, 6, 6}, []int{12, 2, 3, 3}, options(1, 1, 1, 4), false},
		{"depthwise", []int{2, 8, 6, 6}, []int{8, 1, 3, 3}, options(2, 1, 1, 8), false},
		{"1x1", []int{2, 16, 4, 4}, []int{8, 16, 1, 1}, options(1, 0, 1, 1), true},
		{"1x1, 9 positions", []int{2, 16, 3, 3}, []int{8, 16, 1, 1}, options(1, 0, 1, 1), true},
		{"1x1, stride", []int{2, 8, 8, 8}, []int{16, 8, 1, 1}, options(2, 0, 1, 1), true},
		{"1x1, stride, 12 positions", []int{2, 8, 5, 7}, []int{16, 8, 1, 1}, options(2, 0, 1, 1), true},
		{"1x1, padding", []int{2, 8, 3, 3}, []int{8, 8, 1, 1}, options(1, 1, 1, 1), true},
		{"1d", []int{2, 8, 21}, []int{8, 8, 5}, options(1, 2, 1, 1), true},
		{"3d", []int{2, 8, 4, 3, 4}, []int{8, 8, 2, 3, 3}, options(1, 1, 1, 1), true},
		{"no images", []int{0, 8, 6, 6}, []int{8, 8, 3, 3}, options(1, 1, 1, 1), false},
	} {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32} {
			t.Run(fmt.Sprintf("%s/%v", test.name, d), func(t *testing.T) {
				cuda.AllowTF32(d == tensor.Float32)
				defer cuda.AllowTF32(false)
				r := rand.New(rand.NewPCG(1, 2))
				x, w, b := units(r, test.x...), units(r, test.w...), units(r, test.w[0])
				var g *tensor.Tensor
				run := func(device tensor.Device) (results [][]float64) {
					leaf := func(t *tensor.Tensor) *tensor.Tensor { return t.To(d).ToDevice(device).Detach().RequireGrad() }
					x, w, b := leaf(x), leaf(w), leaf(b)
					y := convolve(x, w, b, test.o)
					if g == nil {
						g = units(r, y.Shape()...)
					}
					list := append(tensor.GradWith(y, []*tensor.Tensor{x, w, b}, tensor.BackwardOptions{Gradient: g.To(d).ToDevice(device)}), y)
					for _, z := range list {
						results = append(results, z.Float64s())
					}
					return results
				}
				want := run(tensor.CPU)
				before := []int{fake.Launched("gathered_"), fake.Launched("gemm_"), fake.Launched("pipelined_") + fake.Launched("windowed_")}
				got := run(tensor.CUDA)
				slow, simt, fast := fake.Launched("gathered_")-before[0], fake.Launched("gemm_")-before[1], fake.Launched("pipelined_")+fake.Launched("windowed_")-before[2]
				for i, name := range []string{"dx", "dw", "db", "y"} {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%s: got %v, want %v", name, got[i], want[i])
					}
				}
				if !fake.Real() && test.fast && (slow+simt > 0 || fast < 3) {
					t.Errorf("got %d products that read 16 bytes at a time and %d others, want 3 or more and 0", fast, slow+simt)
				}
			})
		}
	}
}

// units returns a tensor of random -1, 0 and 1.
func units(r *rand.Rand, shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(r.IntN(3) - 1)
	}
	return tensor.FromFloat32s(all, shape...)
}

func convolve(x, w, b *tensor.Tensor, o tensor.ConvOptions) *tensor.Tensor {
	switch len(x.Shape()) {
	case 3:
		return tensor.Conv1d(x, w, b, o)
	case 4:
		return tensor.Conv2d(x, w, b, o)
	}
	return tensor.Conv3d(x, w, b, o)
}

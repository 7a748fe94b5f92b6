package tensor

import (
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// packer is a backend whose products read four neighbours at once.
type packer struct {
	driver.Backend
	room int
	pads *int
}

func (p packer) VectorWidth(driver.DType) int { return 4 }
func (p packer) ScratchLimit() int            { return p.room }

func (p packer) Pad(dst, src driver.View, before []int) {
	*p.pads++
	p.Run(driver.Kernel{Code: driver.Fill}, dst)
	for a, n := range before {
		dst.Offset += n * dst.Stride[a]
	}
	dst.Shape = src.Shape
	p.Run(driver.Kernel{Code: driver.Copy}, dst, src)
}

// TestChannelsLast compares convolutions of channels-last images, in one batch and in several,
// with those of unpacked images.
func TestChannelsLast(t *testing.T) {
	for _, test := range []struct {
		x, w []int
		o    ConvOptions
		room int
		pads int // layouts of images, weights and gradients
	}{
		{[]int{3, 8, 6, 6}, []int{4, 8, 3, 3}, ConvOptions{Padding: []int{1}}, 1 << 20, 5},
		{[]int{5, 3, 5, 6}, []int{6, 3, 3, 3}, ConvOptions{Padding: []int{1}, Stride: []int{2}}, 1 << 10, 20},
		{[]int{5, 32, 4, 4}, []int{3, 32, 2, 3}, ConvOptions{Dilation: []int{2}, Padding: []int{2}}, 1 << 14, 9},
		{[]int{2, 8, 4, 4}, []int{4, 8, 1, 1}, ConvOptions{}, 1 << 20, 0},
		{[]int{2, 8, 6, 6}, []int{4, 8, 1, 1}, ConvOptions{Stride: []int{2}}, 1 << 20, 6},
		{[]int{2, 8, 7}, []int{8, 4, 3}, ConvOptions{Groups: 2}, 1 << 20, 6},
		{[]int{2, 6, 7}, []int{4, 3, 3}, ConvOptions{Groups: 2, Padding: []int{1}}, 1 << 20, 3},
		{[]int{2, 20, 3, 3, 4}, []int{4, 20, 2, 2, 2}, ConvOptions{Padding: []int{1}}, 1 << 20, 5},
	} {
		for _, d := range []DType{Float32, Float16} {
			x, w := whole(d, test.x...), whole(d, test.w...)
			var dy *Tensor
			results := func(b driver.Backend) []*Tensor {
				x, w := copied(b, x).RequireGrad(), copied(b, w).RequireGrad()
				y := x.convolve(len(test.x)-2, w, nil, test.o)
				if dy == nil {
					dy = whole(d, y.shape...)
				}
				return append(GradWith(y, []*Tensor{x, w}, BackwardOptions{Gradient: copied(b, dy)}), y)
			}
			want, pads := results(CPU.backend()), 0
			for i, got := range results(packer{CPU.backend(), test.room, &pads}) {
				if !slices.Equal(got.Float64s(), want[i].Float64s()) {
					t.Errorf("%v by %v %v of %v: result %d: got %v, want %v", test.x, test.w, test.o, d, i, got, want[i])
				}
			}
			if d == Float32 && pads != test.pads {
				t.Errorf("%v by %v %v: got %d copies, want %d", test.x, test.w, test.o, pads, test.pads)
			}
		}
	}
}

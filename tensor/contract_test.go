package tensor

import (
	"fmt"
	"testing"

	"halfnote/tensor/driver"
)

// basic is a backend without optional interfaces. It is not registered, because other tests
// list the devices.
type basic struct{ driver.Backend }

func (b basic) Offers(c driver.Code, dst driver.DType, src ...driver.DType) bool {
	return c < driver.Optional && b.Backend.Offers(c, dst, src...)
}

// TestConvolutionByMatrixProducts checks that a backend that offers only matrix products gives the same
// bits for convolutions.
func TestConvolutionByMatrixProducts(t *testing.T) {
	cpu := CPU.backend()
	for _, o := range []ConvOptions{
		{},
		{Padding: []int{1}, Stride: []int{2}},
		{Padding: []int{2}, Dilation: []int{2}, Groups: 2},
		{Stride: []int{4}}, // some elements of x are in no window
		{Groups: 4, Padding: []int{1}},
	} {
		for _, d := range []DType{Float64, Float32, Float16, BFloat16} {
			x, w, bias := Randn(3, 4, 11, 13).To(d), Randn(8, 4/max(1, o.Groups), 3, 3).To(d), Randn(8).To(d)
			var dy *Tensor
			results := func(b driver.Backend) []*Tensor {
				x, w, bias := copied(b, x).RequireGrad(), copied(b, w).RequireGrad(), copied(b, bias).RequireGrad()
				y := Conv2d(x, w, bias, o)
				if dy == nil {
					dy = Randn(y.shape...).To(d)
				}
				return append(GradWith(y, []*Tensor{x, w, bias}, BackwardOptions{Gradient: copied(b, dy)}), y)
			}
			want := results(cpu)
			for i, got := range results(basic{cpu}) {
				if !Equal(copied(cpu, got), want[i].Detach()) {
					t.Errorf("%s of %v: result %d differs from a contraction's", fmt.Sprint(o), d, i)
				}
			}
		}
	}
}

// copied returns a copy of x on a backend.
func copied(b driver.Backend, x *Tensor) *Tensor {
	y := newTensor(b, x.dtype, x.shape)
	b.Write(y.mem.buffer, 0, compact(x.Detach()).bytes())
	return y
}

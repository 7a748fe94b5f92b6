package tensor

import (
	"fmt"
	"testing"

	"halfnote/tensor/driver"
)

// basic is a backend that offers nothing optional.
type basic struct{ driver.Backend }

func (basic) Name() string { return "basic" }
func (b basic) Offers(c driver.Code, dst driver.DType, src ...driver.DType) bool {
	return c < driver.Optional && b.Backend.Offers(c, dst, src...)
}

// TestContractCopies compares convolutions where a backend multiplies matrices only, bit
// for bit.
func TestContractCopies(t *testing.T) {
	if !Device("basic").Available() {
		driver.Register(basic{CPU.backend()})
	}
	for _, o := range []ConvOptions{
		{},
		{Padding: []int{1}, Stride: []int{2}},
		{Padding: []int{2}, Dilation: []int{2}, Groups: 2},
		{Stride: []int{4}}, // some elements of x are not seen
		{Groups: 4, Padding: []int{1}},
	} {
		for _, d := range []DType{Float64, Float32, Float16, BFloat16} {
			x, w, b := Randn(3, 4, 11, 13).To(d), Randn(8, 4/max(1, o.Groups), 3, 3).To(d), Randn(8).To(d)
			var dy *Tensor
			results := func(at Device) []*Tensor {
				x, w, b := x.ToDevice(at).Detach().RequireGrad(), w.ToDevice(at).Detach().RequireGrad(), b.ToDevice(at).Detach().RequireGrad()
				y := x.Conv2d(w, b, o)
				if dy == nil {
					dy = Randn(y.shape...).To(d)
				}
				return append(GradWith(y, []*Tensor{x, w, b}, BackwardOptions{Gradient: dy.ToDevice(at)}), y)
			}
			want := results(CPU)
			for i, got := range results("basic") {
				if !Equal(got.Detach().ToDevice(CPU), want[i].Detach()) {
					t.Errorf("%s of %v: result %d differs from a contraction's", fmt.Sprint(o), d, i)
				}
			}
		}
	}
}

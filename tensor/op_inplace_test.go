package tensor

import (
	"strings"
	"testing"
)

// TestPositionsInPlace compares in-place operations with those that return a new tensor, on a view. The
// elements around the view must not change.
func TestPositionsInPlace(t *testing.T) {
	index, src := FromInts([]int{2, 0}), Arange(1, 9).Reshape(2, 4)
	places := FromInts([]int{2, 0, 1, 1, 0, 0, 2, 1}, 2, 4)
	mask := FromBools([]bool{true, false, false, true})
	for name, f := range map[string][2]func(x *Tensor) *Tensor{
		"scatter_":        {func(x *Tensor) *Tensor { return x.ScatterAssign(0, places, src) }, func(x *Tensor) *Tensor { return x.Scatter(0, places, src) }},
		"scatter_add_":    {func(x *Tensor) *Tensor { return x.ScatterAddAssign(0, places, src) }, func(x *Tensor) *Tensor { return x.ScatterAdd(0, places, src) }},
		"index_add_":      {func(x *Tensor) *Tensor { return x.IndexAddAssign(0, index, src, 2) }, func(x *Tensor) *Tensor { return x.IndexAdd(0, index, src, 2) }},
		"index_copy_":     {func(x *Tensor) *Tensor { return x.IndexCopyAssign(0, index, src) }, func(x *Tensor) *Tensor { return x.IndexCopy(0, index, src) }},
		"index_fill_":     {func(x *Tensor) *Tensor { return x.IndexFillAssign(0, index, 7) }, func(x *Tensor) *Tensor { return x.IndexFill(0, index, 7) }},
		"masked_fill_":    {func(x *Tensor) *Tensor { return x.MaskedFillAssign(mask, 7) }, func(x *Tensor) *Tensor { return x.MaskedFill(mask, 7) }},
		"masked_scatter_": {func(x *Tensor) *Tensor { return x.MaskedScatterAssign(mask, src) }, func(x *Tensor) *Tensor { return x.MaskedScatter(mask, src) }},
	} {
		room := Arange(0, 24).Reshape(4, 6)
		x := room.Slice(0, 1, 4).Slice(1, 1, 5)
		want, frame := f[1](x.Clone()), room.Clone()
		version, events := x.Version(), []string{}
		stop := Observe(func(e Event) { events = append(events, e.Op.Name) })
		y := f[0](x)
		stop()
		if y != x || !Equal(x, want) || x.Version() == version {
			t.Errorf("%s: got %v, want %v, and a new version", name, x, want)
		}
		frame.Slice(0, 1, 4).Slice(1, 1, 5).Assign(want)
		if !Equal(room, frame) {
			t.Errorf("%s: elements outside the view have changed", name)
		}
		if got := strings.Join(events, " "); got != name {
			t.Errorf("%s: observed with the name %q", name, got)
		}
	}
	err := Try(func() { Ones(4).MaskedFillAssign(FromBools(make([]bool, 8), 2, 4), 1) })
	if want := "tensor: masked_fill_: shapes (4,) and (2, 4): cannot broadcast the operands to the shape of the tensor changed in place"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := Try(func() { Ones(3, 4).RequireGrad().IndexFillAssign(0, index, 1) }); err == nil {
		t.Error("in place on a leaf that requires a gradient: got no error")
	}
}

func TestOut(t *testing.T) {
	x := New([]float64{1.0001, 0, 0, 1.0001}, 2, 2)
	for _, d := range []DType{Float32, Float16, Float64} {
		z := ZerosAs(d, 2, 2)
		var y *Tensor
		casting{}.With(toHalf{}, func() { y = Out(z, func() *Tensor { return x.MatMul(x) }) })
		if want := x.MatMul(x).To(d); y != z || y.DType() != d || !Equal(y, want) {
			t.Errorf("%v: got %v, want %v", d, y, want)
		}
	}
	w := x.Clone().RequireGrad()
	z := Zeros(2, 2)
	NoGrad(func() { Out(z, func() *Tensor { return w.Mul(x) }) })
	Out(z, func() *Tensor {
		var y *Tensor
		NoGrad(func() { y = w.Mul(x) })
		return y
	})
	if z.RequiresGrad() || z.At(0, 0) == 0 {
		t.Errorf("under NoGrad: got %v", z)
	}
	for want, f := range map[string]func(){
		"mul: shapes (2, 2) and (2, 2): an operand requires a gradient, but tensor.Out does not record": func() { Out(z, func() *Tensor { return w.Mul(x) }) },
		"the tensor requires a gradient, which a change in place would make wrong":                      func() { Out(w, func() *Tensor { return x.Mul(x) }) },
		"out: shapes (3,) and (2, 2): the result and the output tensor must have the same shape":        func() { Out(Zeros(3), func() *Tensor { return x.Mul(x) }) },
		"the result is float32, which the tensor changed in place cannot hold":                          func() { Out(Zeros(2, 2).Long(), func() *Tensor { return x.Mul(x) }) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}

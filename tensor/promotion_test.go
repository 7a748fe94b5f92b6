package tensor

import "testing"

func TestPromotion(t *testing.T) {
	vector := func(d DType) *Tensor { return NewAs(d, []float64{1, 2, 3}) }
	scalar := func(d DType) *Tensor { return NewAs(d, []float64{1}).Reshape() }
	for _, c := range []struct {
		number int
		x, y   *Tensor
		want   DType
	}{
		{97, vector(Float16), scalar(Float32), Float16},
		{98, vector(Float16), vector(Float32), Float32},
		{99, vector(Float16), vector(BFloat16), Float32},
		{101, vector(Float16), scalar(Float64), Float16},
		{0, scalar(Float16), scalar(Float32), Float32},
		{0, scalar(BFloat16), vector(Float16), Float16},
		{0, vector(Float32), vector(Float64), Float64},
		{0, vector(BFloat16), vector(BFloat16), BFloat16},
	} {
		for _, f := range []func(x, y *Tensor) *Tensor{(*Tensor).Add, (*Tensor).Mul, (*Tensor).Maximum} {
			if got := f(c.x, c.y).DType(); got != c.want {
				t.Errorf("row %d: %v%v with %v%v: got %v, want %v", c.number, c.x.DType(), c.x.Shape(), c.y.DType(), c.y.Shape(), got, c.want)
			}
			if got := f(c.y, c.x).DType(); got != c.want {
				t.Errorf("row %d, exchanged: got %v, want %v", c.number, got, c.want)
			}
		}
	}
	// The gradient of a promoted operand has the operand's dtype.
	x, y := vector(Float16).RequireGrad(), vector(Float32).RequireGrad()
	x.Mul(y).Sum().Backward()
	if x.Grad().DType() != Float16 || y.Grad().DType() != Float32 {
		t.Errorf("got gradients in %v and %v, want float16 and float32", x.Grad().DType(), y.Grad().DType())
	}
}

package tensor

import (
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
)

// TestResultType compares with torch.result_type.
func TestResultType(t *testing.T) {
	one := func(d DType, dims bool) *Tensor {
		x := Ones(2).To(d)
		if !dims {
			x = x.Select(0, 0)
		}
		return x
	}
	for _, c := range []struct {
		a     DType
		aDims bool
		b     DType
		bDims bool
		want  DType
	}{
		{Bool, true, Int64, true, Int64},
		{Uint8, true, Int32, true, Int32},
		{Uint8, true, Int64, false, Uint8},
		{Int32, true, Int64, false, Int32},
		{Int64, true, Float16, false, Float16},
		{Int32, true, Float64, false, Float64},
		{Bool, true, Float64, false, Float64},
		{Bool, true, Uint8, false, Uint8},
		{Float16, true, Int64, true, Float16},
		{Float16, true, Float64, false, Float16},
		{Float16, true, Float32, true, Float32},
		{Float16, true, BFloat16, true, Float32},
		{Float16, true, BFloat16, false, Float16},
		{Float16, false, Float32, false, Float32},
		{Int64, false, Float16, true, Float16},
	} {
		if got := ResultType(one(c.a, c.aDims), one(c.b, c.bDims)); got != c.want {
			t.Errorf("%v (dimensions: %v) and %v (%v): got %v, want %v", c.a, c.aDims, c.b, c.bDims, got, c.want)
		}
		if got := one(c.a, c.aDims).Mul(one(c.b, c.bDims)).DType(); got != c.want {
			t.Errorf("mul of %v and %v: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
	ints := FromInts([]int{1, 2})
	for _, c := range []struct {
		name string
		got  *Tensor
		want DType
	}{
		{"integers and 2", ints.AddScalar(2), Int64},
		{"integers and 0.5", ints.AddScalar(0.5), Float32},
		{"bool and 1", FromBools([]bool{true}).MulScalar(1), Int64},
		{"bool and bool", FromBools([]bool{true}).Add(FromBools([]bool{true})), Bool},
		{"integers by integers", ints.Div(ints), Float32},
		{"exp of integers", ints.Exp(), Float32},
		{"sum of int32", ints.To(Int32).Sum(), Int64},
		{"sum of bool", FromBools([]bool{true, true}).Sum(), Int64},
	} {
		if c.got.DType() != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got.DType(), c.want)
		}
	}
}

// TestDTypeTablesAreComplete checks that every table has an entry for every dtype.
func TestDTypeTablesAreComplete(t *testing.T) {
	for _, d := range DTypes() {
		if colours[d] == "" || int(d) >= len(rank) || rank[d] == 0 || d.Short() == "" || d.Size() == 0 {
			t.Errorf("%v: colour %q, short name %q, %d bytes, or no rank among dtypes", d, colours[d], d.Short(), d.Size())
		}
		bits := 1
		switch d.Kind() {
		case driver.Floating:
			bits = FInfo(d).Bits
		case driver.Integer:
			bits = IInfo(d).Bits
		}
		if bits != 8*d.Size() && d != Bool {
			t.Errorf("%v: got %d bits, want %d", d, bits, 8*d.Size())
		}
	}
	for _, c := range []struct {
		got       IntInfo
		low, high int64
	}{{IInfo(Int8), -128, 127}, {IInfo(Int16), -32768, 32767}, {IInfo(Uint8), 0, 255}, {IInfo(Int32), -2147483648, 2147483647}} {
		if c.got.Min != c.low || c.got.Max != c.high {
			t.Errorf("got %v, want %d to %d", c.got, c.low, c.high)
		}
	}
}

func TestIntegers(t *testing.T) {
	large := FromInt64s([]int64{1<<62 + 1, -7})
	if got := large.AddScalar(1).Int64s(); !slices.Equal(got, []int64{1<<62 + 2, -6}) {
		t.Errorf("got %v", got)
	}
	if got := New([]float64{0, 2.9, -2.9, 300}).To(Uint8).Ints(); !slices.Equal(got, []int{0, 2, 254, 44}) {
		t.Errorf("to uint8: got %v", got)
	}
	if got := New([]float64{0, 0.1, math.Copysign(0, -1)}).Bools(); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("to bool: got %v", got)
	}
	x := Ones(3).RequireGrad()
	if y := x.Long(); y.RequiresGrad() {
		t.Error("integers require a gradient")
	}
	for _, c := range []struct {
		x    *Tensor
		want string
	}{
		{FromInts([]int{0, 1, 2}), "tensor([0, 1, 2])"},
		{FromBools([]bool{true, false}), "tensor([ True, False])"},
		{FromInts([]int{1, -20, 300, 4}, 2, 2).To(Int32), "tensor([[  1, -20],\n        [300,   4]], dtype=int32)"},
		{FromInts(nil), "tensor([], dtype=int64)"},
		{New([]float64{1, 448}).To(Float8E4M3), "tensor([  1., 448.], dtype=float8_e4m3fn)"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if low := testenv.LowContrast(c.x.HTML()); len(low) > 0 {
			t.Errorf("%v: low contrast: %q", c.x.DType(), low)
		}
		if !strings.Contains(c.x.HTML(), c.x.DType().String()) {
			t.Errorf("%s: the HTML table lacks the dtype", c.x)
		}
	}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { FromInts([]int{1}).RequireGrad() }, "only floating-point tensors have gradients"},
		{func() { FromInts([]int{1, 2}).Mean() }, "convert with To to a floating-point dtype"},
		{func() { FromBools([]bool{true}).Neg() }, "not defined for bool"},
		{func() { Ones(2).To(Float8E4M3).Add(Ones(2)) }, "convert it, for example with x.Half()"},
		{func() { FInfo(Int64) }, "IInfo"},
		{func() { IInfo(Float32) }, "FInfo"},
		{func() { PromoteTypes(Float8E4M3, Float32) }, "do not promote"},
	} {
		if err := Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that contains %q", err, c.want)
		}
	}
}

// composite is a function composed of operations: x y / (|x| + 2).
type composite struct{}

func (composite) Info() Info { return info("composite", "torch.composite", SavesOperands) }
func (composite) promotes()  {}
func (composite) f(in []*Tensor) *Tensor {
	return in[0].Mul(in[1]).Div(in[0].Abs().AddScalar(2))
}
func (c composite) Forward(in []*Tensor) *Tensor { return compose(c.f, in) }
func (c composite) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(c.f, dy, in)
}

// TestCompose compares a composed operation with the same function written out: values rounded
// once, gradients, second gradients, and a single event.
func TestCompose(t *testing.T) {
	for _, d := range []DType{Float16, BFloat16, Float32, Float64} {
		x, y := NewAs(d, []float64{1, -2, 0.3}).RequireGrad(), NewAs(d, []float64{0.7, 3, -1}).RequireGrad()
		wx, wy := x.To(d.Wide()).Detach().RequireGrad(), y.To(d.Wide()).Detach().RequireGrad()
		// x and y are results of operations.
		a, b := x.MulScalar(2), y.MulScalar(2)
		wa, wb := wx.MulScalar(2), wy.MulScalar(2)
		var names []string
		stop := Observe(func(e Event) { names = append(names, e.Op.Name) })
		got := apply(composite{}, a, b)
		stop()
		if !slices.Equal(names, []string{"composite"}) {
			t.Errorf("%v: got events %v", d, names)
		}
		want := composite{}.f([]*Tensor{wa, wb})
		if !Equal(got, want.To(d)) {
			t.Errorf("%v: got %v, want %v", d, got, want)
		}
		first, wantFirst := GradGraph(got.Sum(), x, y), GradGraph(want.Sum(), wx, wy)
		for i, g := range first {
			if !AllClose(g, wantFirst[i].To(d), 2*FInfo(d).Eps, 2*FInfo(d).Eps) {
				t.Errorf("%v: gradient %d: got %v, want %v", d, i, g, wantFirst[i])
			}
		}
		second := Grad(first[0].Mul(first[0]).Sum().Add(first[1].Sum()), x, y)
		wantSecond := Grad(wantFirst[0].Mul(wantFirst[0]).Sum().Add(wantFirst[1].Sum()), wx, wy)
		for i, g := range second {
			if !AllClose(g, wantSecond[i].To(d), 8*FInfo(d).Eps, 8*FInfo(d).Eps) {
				t.Errorf("%v: second gradient %d: got %v, want %v", d, i, g, wantSecond[i])
			}
		}
		// One of the operands does not require a gradient.
		if g := Grad(apply(composite{}, a.Detach(), y).Sum(), y)[0]; !AllClose(g, wa.Div(wa.Abs().AddScalar(2)).To(d), FInfo(d).Eps, 0) {
			t.Errorf("%v: gradient of the second operand only: got %v", d, g)
		}
	}
}

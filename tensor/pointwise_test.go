package tensor

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestPointwiseErrors checks that errors name the operation, the values given and the values expected.
func TestPointwiseErrors(t *testing.T) {
	x, ints, truths := Ones(2, 3), FromInts([]int{1, 0, 3}), FromBools([]bool{true, false, true})
	for _, c := range []struct {
		f    func()
		want []string
	}{
		{func() { x.Atan2(Ones(4)) }, []string{"atan2", "(2, 3)", "(4,)"}},
		{func() { x.Eq(Ones(2, 4)) }, []string{"eq", "(2, 3)", "(2, 4)"}},
		{func() { x.And(Ones(5)) }, []string{"logical_and", "(2, 3)", "(5,)"}},
		{func() { x.Fmax(Ones(5)) }, []string{"(2, 3)", "(5,)"}},
		{func() { x.BitwiseAnd(x) }, []string{"bitwise_and", "float32", "integers"}},
		{func() { truths.LeftShift(truths) }, []string{"bitwise_left_shift", "bool"}},
		{func() { FromInts([]int{1, 2, 3}).FloorDivide(ints) }, []string{"floor_divide", "integer division by 0"}},
		{func() { ints.Remainder(ints) }, []string{"remainder", "integer division by 0"}},
		{func() { ints.Pow(-1) }, []string{"pow", "int64", "-1", "at least 0"}},
		{func() { ints.PowTensor(ints.Neg()) }, []string{"pow", "negative", "at least 0"}},
		{func() { truths.Sub(truths) }, []string{"sub", "bool"}},
		{func() { truths.Abs() }, []string{"abs", "bool"}},
		{func() { truths.Floor() }, []string{"floor", "bool"}},
		{func() { ints.RoundTo(1) }, []string{"round", "int64", "1 decimals", "floating-point"}},
		{func() { ints.Lerp(ints, 0.5) }, []string{"lerp", "int64", "floating-point"}},
		{func() { x.Lerp(x.Half(), 0.5) }, []string{"lerp", "float16", "one dtype"}},
		{func() { ints.Addcdiv(ints, ints, 1) }, []string{"addcdiv", "int64", "floating-point"}},
		{func() { ints.AddScaled(ints, 0.5) }, []string{"add", "0.5", "whole number"}},
		{func() { ints.Hypot(ints) }, []string{"hypot", "floating-point"}},
		{func() { x.Hardtanh(1, -1) }, []string{"hardtanh", "1 and -1"}},
		{func() { x.Softshrink(-1) }, []string{"softshrink", "-1", "at least 0"}},
		{func() { x.GLU(-1) }, []string{"glu", "(2, 3)", "size 3", "even"}},
		{func() { x.GLU(2) }, []string{"glu", "2"}},
		{func() { x.PReLU(Ones(2)) }, []string{"prelu", "2 elements", "3"}},
		{func() { x.PReLU(Ones(1).Half()) }, []string{"prelu", "float16", "one dtype"}},
		{func() { x.Cumsum(2) }, []string{"cumsum", "(2, 3)", "2"}},
		{func() { x.Prod(0, 0) }, []string{"prod", "contain a duplicate"}},
		{func() { ints.Var() }, []string{"var", "floating-point"}},
		{func() { x.Bincount(0) }, []string{"bincount", "float32", "vector of integers"}},
		{func() { FromInts([]int{1, -2}).Bincount(0) }, []string{"bincount", "element 1", "-2", "0 or more"}},
		{func() { x.Histc(0, 0, 1) }, []string{"histc", "0 bins"}},
		{func() { x.Quantile(1.5, 0) }, []string{"quantile", "1.5", "0 to 1"}},
		{func() { ints.Quantile(0.5, 0) }, []string{"quantile", "int64", "float32"}},
		{func() { x.Diff(-1, 0) }, []string{"diff", "-1"}},
		{func() { x.Rows()[0] = nil; Ones(2).Rows() }, []string{"rows", "the tensor is 1-dimensional", "want 2"}},
		{func() { ArangeAs(Float32, 0, 1, -1) }, []string{"arange", "-1"}},
		{func() { ArangeAs(Float32, 0, 1, 0) }, []string{"arange", "0"}},
		{func() { FullAs(Float16, 1e6) }, []string{"full", "float16", "1e+06", "65504"}},
		{func() { EyeAs(Float32, -1, 2) }, []string{"eye", "negative"}},

		{func() { FromInts([]int{1}).AddAssign(Ones(1)) }, []string{"add_", "int64", "float32", "cannot hold"}},
		{func() { FromInts([]int{1}).MulScalarAssign(0.5) }, []string{"mul_", "int64", "float32"}},
		{func() { FromInts([]int{1}).DivAssign(FromInts([]int{1})) }, []string{"div_", "float32", "cannot hold"}},
		{func() { FromInts([]int{1}).ExpAssign() }, []string{"exp_", "float32", "cannot hold"}},
		{func() { FromBools([]bool{true}).AddAssign(FromInts([]int{1})) }, []string{"add_", "bool", "int64"}},
		{func() { Ones(2).AddAssign(Ones(3, 2)) }, []string{"add_", "(2,)", "(3, 2)"}},
		{func() { Ones(2).AddcmulAssign(Ones(3, 1), Ones(2), 1) }, []string{"addcmul_", "(2,)", "(3, 1)"}},
		{func() { Ones(2).RequireGrad().ExpAssign() }, []string{"exp_", "requires a gradient"}},
		{func() { Ones(2).AddAssign(Ones(2).RequireGrad()) }, []string{"add_", "are not recorded", "Detach"}},
		{func() { Ones(1).Expand(3).NegAssign() }, []string{"neg_", "expanded"}},
	} {
		err := Try(c.f)
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("got %v, want an error that contains %q", err, part)
			}
		}
	}
}

// TestAssign compares in-place operations with those that return new tensors.
func TestAssign(t *testing.T) {
	numbers, other := []float64{0.5, -1.25, 2, 3, 0.1, -0.7}, []float64{1, 2, -0.5, 0.3, 4, 1.5}
	for _, d := range dtypes {
		for _, c := range []struct {
			name       string
			assign, to func(x, y *Tensor) *Tensor
		}{
			{"add", (*Tensor).AddAssign, (*Tensor).Add},
			{"sub", (*Tensor).SubAssign, (*Tensor).Sub},
			{"mul", (*Tensor).MulAssign, (*Tensor).Mul},
			{"div", (*Tensor).DivAssign, (*Tensor).Div},
			{"remainder", (*Tensor).RemainderAssign, (*Tensor).Remainder},
			{"floor_divide", (*Tensor).FloorDivideAssign, (*Tensor).FloorDivide},
			{"logical_and", (*Tensor).AndAssign, func(x, y *Tensor) *Tensor { return x.And(y).To(x.dtype) }},
			{"logical_or", (*Tensor).OrAssign, func(x, y *Tensor) *Tensor { return x.Or(y).To(x.dtype) }},
			{"abs", one((*Tensor).AbsAssign), one((*Tensor).Abs)},
			{"ceil", one((*Tensor).CeilAssign), one((*Tensor).Ceil)},
			{"cos", one((*Tensor).CosAssign), one((*Tensor).Cos)},
			{"exp", one((*Tensor).ExpAssign), one((*Tensor).Exp)},
			{"floor", one((*Tensor).FloorAssign), one((*Tensor).Floor)},
			{"log", one((*Tensor).LogAssign), one((*Tensor).Log)},
			{"nan_to_num", one((*Tensor).NanToNumAssign), one((*Tensor).NanToNum)},
			{"neg", one((*Tensor).NegAssign), one((*Tensor).Neg)},
			{"reciprocal", one((*Tensor).ReciprocalAssign), one((*Tensor).Reciprocal)},
			{"relu", one((*Tensor).ReLUAssign), one((*Tensor).ReLU)},
			{"round", one((*Tensor).RoundAssign), one((*Tensor).Round)},
			{"rsqrt", one((*Tensor).RsqrtAssign), one((*Tensor).Rsqrt)},
			{"sigmoid", one((*Tensor).SigmoidAssign), one((*Tensor).Sigmoid)},
			{"sign", one((*Tensor).SignAssign), one((*Tensor).Sign)},
			{"sin", one((*Tensor).SinAssign), one((*Tensor).Sin)},
			{"sqrt", one((*Tensor).SqrtAssign), one((*Tensor).Sqrt)},
			{"square", one((*Tensor).SquareAssign), one((*Tensor).Square)},
			{"tanh", one((*Tensor).TanhAssign), one((*Tensor).Tanh)},
			{"trunc", one((*Tensor).TruncAssign), one((*Tensor).Trunc)},
			{"zero", one((*Tensor).Zero), one(ZerosLike)},
			{"clamp", func(x, _ *Tensor) *Tensor { return x.ClampAssign(-0.3, 1.7) }, func(x, _ *Tensor) *Tensor { return x.Clamp(-0.3, 1.7) }},
			{"pow", func(x, _ *Tensor) *Tensor { return x.PowAssign(3) }, func(x, _ *Tensor) *Tensor { return x.Pow(3) }},
			{"add number", func(x, _ *Tensor) *Tensor { return x.AddScalarAssign(0.1) }, func(x, _ *Tensor) *Tensor { return x.AddScalar(0.1) }},
			{"sub number", func(x, _ *Tensor) *Tensor { return x.SubScalarAssign(0.1) }, func(x, _ *Tensor) *Tensor { return x.SubScalar(0.1) }},
			{"mul number", func(x, _ *Tensor) *Tensor { return x.MulScalarAssign(0.1) }, func(x, _ *Tensor) *Tensor { return x.MulScalar(0.1) }},
			{"div number", func(x, _ *Tensor) *Tensor { return x.DivScalarAssign(3) }, func(x, _ *Tensor) *Tensor { return x.DivScalar(3) }},
			{"addcmul", func(x, y *Tensor) *Tensor { return x.AddcmulAssign(y, y, 0.3) }, func(x, y *Tensor) *Tensor { return x.Addcmul(y, y, 0.3) }},
			{"addcdiv", func(x, y *Tensor) *Tensor { return x.AddcdivAssign(y, y, 0.3) }, func(x, y *Tensor) *Tensor { return x.Addcdiv(y, y, 0.3) }},
			{"lerp", func(x, y *Tensor) *Tensor { return x.LerpAssign(y, 0.3) }, func(x, y *Tensor) *Tensor { return x.Lerp(y, 0.3) }},
		} {
			// A view of a larger tensor changes, and the rest of the larger tensor does not.
			base := FullAs(d, 7, 4, 5)
			x, y := base.Slice(0, 1, 3).Slice(1, 1, 4), NewAs(d, other, 2, 3)
			x.Assign(NewAs(d, numbers, 2, 3))
			want := c.to(x.Clone(), y)
			version := base.Version()
			got := c.assign(x, y)
			if got != x || !sameBits(x, want) || base.Version() != version+1 {
				t.Errorf("%s, %v: got %v, version %d, want %v, %d", c.name, d, x, base.Version(), want, version+1)
			}
			if rest := base.Sum().Sub(x.Sum()).Double().Item(); math.Abs(rest-7*14) > 0.5 {
				t.Errorf("%s, %v: elements outside the view have changed: %v", c.name, d, base)
			}
		}
	}
	// The other operand may have a higher rank, and may share memory.
	h := NewAs(Float16, []float64{1, 2})
	if h.AddAssign(New([]float64{0x1p-11 + 0x1p-20, 0})); h.At(0) != 1+0x1p-10 {
		t.Errorf("float16 plus float32 is rounded twice: got %v", h)
	}
	m := New([]float64{1, 2, 3, 4}, 2, 2)
	if m.AddAssign(m.T()); !slices.Equal(m.Float64s(), []float64{2, 5, 5, 8}) {
		t.Errorf("a matrix plus its transpose: got %v", m)
	}
	i := FromInts([]int{5, -7})
	if i.AddAssign(FromInts([]int{1})).MulScalarAssign(3).FloorDivideAssign(FromInts([]int{4})); !slices.Equal(i.Ints(), []int{4, -5}) {
		t.Errorf("integers: got %v", i)
	}
}

func one(f func(*Tensor) *Tensor) func(x, _ *Tensor) *Tensor {
	return func(x, _ *Tensor) *Tensor { return f(x) }
}

// sameBits reports whether x and y have equal elements, where NaN equals NaN.
func sameBits(x, y *Tensor) bool { return x.dtype == y.dtype && slices.Equal(x.Bits(), y.Bits()) }

func TestCreate(t *testing.T) {
	for _, c := range []struct {
		name string
		got  *Tensor
		d    DType
		want []float64
	}{
		{"arange", Arange(1, 4), Float32, []float64{1, 2, 3}},
		{"arange by steps", ArangeAs(Float64, 0, 1, 0.3), Float64, []float64{0, 0.3, 0.6, 0.8999999999999999}},
		{"arange down", ArangeAs(Int64, 5, -2, -3), Int64, []float64{5, 2, -1}},
		{"empty arange", ArangeAs(Int32, 3, 3, 1), Int32, nil},
		{"check 96", ArangeAs(Float16, 2046, 2052, 1), Float16, []float64{2046, 2047, 2048, 2048, 2050, 2052}},
		{"linspace", Linspace(0, 1, 5), Float32, []float64{0, 0.25, 0.5, 0.75, 1}},
		{"logspace", Logspace(0, 3, 4, 2), Float32, []float64{1, 2, 4, 8}},
		{"eye", EyeAs(Bool, 2, 3), Bool, []float64{1, 0, 0, 0, 1, 0}},
		{"eye", Eye(2), Float32, []float64{1, 0, 0, 1}},
		{"full", FullAs(Int32, -3, 2), Int32, []float64{-3, -3}},
		{"ones", OnesAs(BFloat16, 1, 2), BFloat16, []float64{1, 1}},
		{"zeros", ZerosAs(Uint8, 2), Uint8, []float64{0, 0}},
		{"full_like", FullLike(FromInts([]int{1, 2}), 9), Int64, []float64{9, 9}},
	} {
		if got := c.got.Float64s(); c.got.dtype != c.d || !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("%s: got %v, want %v %v", c.name, c.got, c.want, c.d)
		}
	}
	ManualSeed(1)
	first := RandnLike(ZerosAs(Float16, 3))
	ManualSeed(1)
	if again := Randn(3).Half(); !Equal(first, again) {
		t.Errorf("randn_like: got %v, want %v", first, again)
	}
	if rows := New([]float64{1, 2, 3, 4, 5, 6}, 2, 3).T().Rows(); len(rows) != 3 || !slices.Equal(rows[1], []float64{2, 5}) {
		t.Errorf("rows: got %v", rows)
	}
}

// TestNumbers checks operations with Go numbers, which are not rounded to the tensor's dtype.
func TestNumbers(t *testing.T) {
	h := NewAs(Float16, []float64{0.1, 1e-3, 1})
	for _, c := range []struct {
		name string
		got  *Tensor
		want []float64
	}{
		{"float16 0.1 is not 0.1", h.EqScalar(0.1), []float64{0, 0, 0}},
		{"float16 0.1 is below 0.1", h.LtScalar(0.1), []float64{1, 1, 0}},
		{"times 70000", h.MulScalar(70000), []float64{7000, 70, math.Inf(1)}},
		{"clamped by 1e6", h.Clamp(-1e6, 1e6), h.Float64s()},
		{"integers and a fraction", FromInts([]int{0, 1, 2}).GtScalar(0.5), []float64{0, 1, 1}},
		{"integers and infinity", FromInts([]int{0, 1}).LtScalar(math.Inf(1)), []float64{1, 1}},
		{"large integers", FromInt64s([]int64{1 << 60, 1<<60 + 1}).EqScalar(1 << 60), []float64{1, 0}},
		{"uint8 below -1", FromInts([]int{0, 255}).To(Uint8).LtScalar(-1), []float64{0, 0}},
		{"uint8 between -1 and 300", FromInts([]int{0, 255}).To(Uint8).Clamp(-1, 300), []float64{0, 255}},
		{"uint8 above 300", FromInts([]int{0, 255}).To(Uint8).Clamp(300, 400), []float64{255, 255}},
		{"int64 below 1e30", FromInts([]int{-5, 7}).Clamp(-1e30, 1e30), []float64{-5, 7}},
		{"bool and a number", FromBools([]bool{true, false}).Clamp(2, 5), []float64{2, 2}},
	} {
		if got := c.got.Float64s(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRReLU compares with torch.nn.functional.rrelu in torch 2.15 after torch.manual_seed(1).
func TestRReLU(t *testing.T) {
	x := New([]float64{-1, 2, -3, 0.5, -0.25, 0}).RequireGrad()
	ManualSeed(1)
	y := RReLU(x, 0.125, 1.0/3, true)
	if want := New([]float64{-0.13771943747997284, 2, -0.5153465867042542, 0.5, -0.04345065355300903, 0}); !Equal(y, want) {
		t.Errorf("got %v, want %v", y, want)
	}
	if g := Grad(y.Sum(), x)[0]; !AllClose(g.Mul(x), y, 1e-6, 0) {
		t.Errorf("its gradient: got %v", g)
	}
	if y, want := RReLU(x, 0.125, 1.0/3, false), New([]float64{-0.2291666716337204, 2, -0.6875, 0.5, -0.0572916679084301, 0}); !Equal(y, want) {
		t.Errorf("outside training: got %v, want %v", y, want)
	}
}

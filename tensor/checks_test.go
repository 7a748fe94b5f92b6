package tensor

import (
	"fmt"
	"math"
	"testing"
)

// TestNumericChecks are the rows of the project's numeric specification that
// tensors alone can answer, by their numbers there. Expected values are derived
// from float32 arithmetic with one rounding to nearest even.
func TestNumericChecks(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	half := func(x ...float64) *Tensor { return NewAs(Float16, x) }
	half0 := func(x float64) *Tensor { return half(x).Reshape() }
	bf16 := func(x ...float64) *Tensor { return NewAs(BFloat16, x) }
	halfMatrix := func(rows, columns int, x ...float64) *Tensor { return NewAs(Float16, x, rows, columns) }
	ones := func(n int) *Tensor { return Ones(n).Half() }
	loop := func(n int, x *Tensor, f func(*Tensor) *Tensor) *Tensor {
		for range n {
			x = f(x)
		}
		return x
	}

	type row struct {
		number int
		name   string
		got    *Tensor
		want   []float64
	}
	var rows []row
	add := func(number int, name string, got *Tensor, want ...float64) {
		rows = append(rows, row{number, name, got, want})
	}
	for i, c := range []struct{ in, want float64 }{
		{65504, 65504}, {65519.99609375, 65504}, {65520, inf}, {-70000, -inf}, {655504, inf},
		{0x1p-14, 0x1p-14}, {0x1p-24, 0x1p-24}, {0x1p-25, 0}, {2.980235080940474e-08, 0x1p-24},
		{0x1.8p-24, 0x1p-23}, {1e-8, 0}, {3e-8, 0x1p-24}, {1e-7, 0x1p-23}, {6.097555160522461e-05, 0x3ff * 0x1p-24},
		{2049, 2048}, {2051, 2052}, {4098, 4096}, {4102, 4104}, {0.1, 0.0999755859375}, {1. / 3, 0.333251953125},
		{1.00048828125, 1}, {1.00146484375, 1.001953125}, {1.0004892349243164, 1.0009765625}, {math.Copysign(0, -1), math.Copysign(0, -1)},
		{math.Pi, 3.140625}, {nan, nan}, {0.001, 0.00100040435791015625}, {0.0001, 0.00010001659393310547},
		{1 + 0x1p-11 + 0x1p-40, 1}, {70000, inf},
	} {
		add(1+i, fmt.Sprintf("fp16(%v)", c.in), half(c.in), c.want)
	}
	for i, c := range []struct{ in, want float64 }{
		{257, 256}, {259, 260}, {65536, 65536}, {3.39e38, 3.3895313892515355e38}, {3.4e38, inf},
		{1.00390625, 1}, {1.01171875, 1.015625}, {0.1, 0.10009765625}, {1e-40, 0x1p-133},
	} {
		add(32+i, fmt.Sprintf("bf16(%v)", c.in), bf16(c.in), c.want)
	}
	add(41, "1 + 0.0001", half(1).AddScalar(0.0001), 1)
	add(42, "1 + 0.0005", half(1).AddScalar(0.0005), 1.0009765625)
	add(43, "1 + 2^-11", half(1).AddScalar(0x1p-11), 1)
	add(44, "1 - 0.0003", half(1).AddScalar(-0.0003), 0.99951171875)
	add(45, "float32 1 + 0.0001", New([]float64{1}).AddScalar(0.0001), float64(float32(1.0001)))
	add(46, "2048 + 1", half(2048).Add(half(1)), 2048)
	add(47, "2050 + 1", half(2050).Add(half(1)), 2052)
	add(48, "60000 + 60000", half(60000).Add(half(60000)), inf)
	add(49, "(60000 + 60000) / 2", half(60000).Add(half(60000)).Scale(0.5), inf)
	add(50, "256 * 256", half(256).Mul(half(256)), inf)
	add(51, "2^-14 * 2^-10", half(0x1p-14).Mul(half(0x1p-10)), 0x1p-24)
	add(52, "2^-14 * 2^-11", half(0x1p-14).Mul(half(0x1p-11)), 0)
	add(53, "[1e-3, 1] * 70000, a number", half(1e-3, 1).Scale(70000), 70, inf)
	add(54, "[1e-3, 1] * 0-dim float32 65536", half(1e-3, 1).Mul(Full(65536)), inf, inf)
	add(55, "0-dim 1e-3 * 0-dim float32 65536", half0(1e-3).Mul(Full(65536)), 65.5625)
	add(56, "1 / 3", half(1).Div(half(3)), 0.333251953125)
	add(57, "inf - inf", half(inf).Sub(half(inf)), nan)
	add(58, "0 * inf", half(0).Mul(half(inf)), nan)
	add(59, "300²", half(300).Pow(2), inf)
	add(60, "√2 by pow", half(2).Pow(0.5), 1.4140625)
	add(61, "2049 ones", ones(2049).Sum(), 2048)
	add(62, "4097 ones", ones(4097).Sum(), 4096)
	add(63, "65519 ones", ones(65519).Sum(), 65504)
	add(64, "65520 ones", ones(65520).Sum(), inf)
	add(65, "65536 ones", ones(65536).Sum(), inf)
	add(66, "65536 ones as float32", ones(65536).SumAs(Float32), 65536)
	add(68, "65536 float32 ones", Ones(65536).Sum(), 65536)
	add(69, "257 bfloat16 ones", Ones(257).BFloat16().Sum(), 256)
	add(70, "60000 + 60000 - 60000", half(60000, 60000, -60000).Sum(), 60000)
	add(71, "mean of 65536 ones", ones(65536).Mean(), 1)
	add(72, "mean of 4096 hundreds", Full(100, 4096).Half().Mean(), 100)
	add(73, "norm of [300, 400]", half(300, 400).Norm(), 500)
	add(74, "norm of [60000, 60000]", half(60000, 60000).Norm(), inf)
	add(75, "mse_loss of 300 and 0", half(300).MSELoss(half(0)), inf)
	add(76, "ones (1, 4097) @ (4097, 1)", Ones(1, 4097).Half().MatMul(Ones(4097, 1).Half()), 4096)
	add(77, "256 @ 256", halfMatrix(1, 1, 256).MatMul(halfMatrix(1, 1, 256)), inf)
	add(78, "[60000, 60000] @ [1, -1]", halfMatrix(1, 2, 60000, 60000).MatMul(halfMatrix(2, 1, 1, -1)), 0)
	add(79, "[2048, 1] @ [1, 1]", halfMatrix(1, 2, 2048, 1).MatMul(halfMatrix(2, 1, 1, 1)), 2048)
	add(80, "bias 1 with product 2048", halfMatrix(1, 1, 2048).Linear(halfMatrix(1, 1, 1), half(1)), 2048)
	add(80, "bias 1 with product 2050, by way of float32 2051", halfMatrix(1, 1, 2050).Linear(halfMatrix(1, 1, 1), half(1)), 2052)
	add(81, "bfloat16 ones (1, 300) @ (300, 1)", Ones(1, 300).BFloat16().MatMul(Ones(300, 1).BFloat16()), 300)
	add(82, "softmax of [1, 2, 3]", half(1, 2, 3).Softmax(0), 0.09002685546875, 0.2447509765625, 0.6650390625)
	add(83, "softmax of [60000, 0]", half(60000, 0).Softmax(0), 1, 0)
	add(84, "softmax of [0, -20]", half(0, -20).Softmax(0), 1, 0)
	add(85, "exp 11", half(11).Exp(), 59872)
	add(86, "exp 11.09375", half(11.09375).Exp(), inf)
	add(87, "exp -17", half(-17).Exp(), 0x1p-24)
	add(88, "exp -18", half(-18).Exp(), 0)
	add(89, "sigmoid 8", half(8).Sigmoid(), 0.99951171875)
	add(90, "sigmoid 8.4", half(8.4).Sigmoid(), 1)
	add(91, "counter of 5000 ones", loop(5000, half0(0), func(x *Tensor) *Tensor { return x.AddScalar(1) }), 2048)
	add(92, "sum of 10000 x 0.1", loop(10000, half0(0), func(x *Tensor) *Tensor { return x.Add(half0(0.1)) }), 256)
	add(93, "1 + 10000 x 1e-4", loop(10000, half0(1), func(x *Tensor) *Tensor { return x.AddScalar(1e-4) }), 1)
	add(96, "arange", Arange(2046, 2052).Half(), 2046, 2047, 2048, 2048, 2050, 2052)
	add(104, "1 / 3 in float32", Full(3).Reciprocal(), float64(float32(1./3)))

	for _, r := range rows {
		t.Run(fmt.Sprintf("%d %s", r.number, r.name), func(t *testing.T) {
			if got := r.got.Float64s(); !equalFloats(got, r.want) {
				t.Errorf("got %v, want %v", got, r.want)
			}
		})
	}
	t.Run("26 bits of NaN", func(t *testing.T) {
		if got := half(nan).Bits()[0]; got != 0x7e00 {
			t.Errorf("got %#x, want 0x7e00", got)
		}
	})
	t.Run("31 fill with 1e6", func(t *testing.T) {
		x := half(1)
		if err := Try(func() { x.Fill(1e6) }); err == nil || x.Item() != 1 {
			t.Errorf("got error %v and %v, want an error and 1", err, x)
		}
	})
}

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
	// The gradient of a promoted operand comes back in its own dtype.
	x, y := vector(Float16).RequireGrad(), vector(Float32).RequireGrad()
	x.Mul(y).Sum().Backward()
	if x.Grad().DType() != Float16 || y.Grad().DType() != Float32 {
		t.Errorf("gradients are %v and %v, want float16 and float32", x.Grad().DType(), y.Grad().DType())
	}
}

package amp_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// checks runs the numbered checks of numerics, 1 to 107. Expected values follow from float32 arithmetic with
// one rounding to nearest even. Each check includes the dtype of the result.
type checks struct {
	t    *testing.T
	rows map[int]int
}

// row checks values and dtype.
func (c checks) row(d tensor.DType, number int, name string, got *tensor.Tensor, want ...float64) {
	c.run(number, name, func(t *testing.T) {
		if got.DType() != d || !sameFloats(got.Float64s(), want) {
			t.Errorf("got %v %v, want %v %v", got.DType(), got.Float64s(), d, want)
		}
	})
}

func (c checks) half(number int, name string, got *tensor.Tensor, want ...float64) {
	c.row(tensor.Float16, number, name, got, want...)
}

func (c checks) bf16(number int, name string, got *tensor.Tensor, want ...float64) {
	c.row(tensor.BFloat16, number, name, got, want...)
}

func (c checks) single(number int, name string, got *tensor.Tensor, want ...float64) {
	c.row(tensor.Float32, number, name, got, want...)
}

// dtype checks only a dtype.
func (c checks) dtype(number int, name string, got *tensor.Tensor, want tensor.DType) {
	c.run(number, name, func(t *testing.T) {
		if got.DType() != want {
			t.Errorf("got %v, want %v", got.DType(), want)
		}
	})
}

func (c checks) run(number int, name string, f func(*testing.T)) {
	c.rows[number]++
	c.t.Run(fmt.Sprintf("%03d %s", number, strings.ReplaceAll(name, "/", "÷")), f)
}

// sameFloats reports whether a and b are equal, where +0 and -0 differ and all NaN are equal.
func sameFloats(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && (a[i] == a[i] || b[i] == b[i]) {
			return false
		}
	}
	return true
}

func halves(x ...float64) *tensor.Tensor     { return tensor.NewAs(tensor.Float16, x) }
func half0(x float64) *tensor.Tensor         { return halves(x).Reshape() }
func bfloats(x ...float64) *tensor.Tensor    { return tensor.NewAs(tensor.BFloat16, x) }
func halfOnes(shape ...int) *tensor.Tensor   { return tensor.Ones(shape...).Half() }
func halfRow(x ...float64) *tensor.Tensor    { return halves(x...).Unsqueeze(0) }
func halfColumn(x ...float64) *tensor.Tensor { return halves(x...).Unsqueeze(1) }

func TestChecks(t *testing.T) {
	c := checks{t, map[int]int{}}
	c.conversions()
	c.arithmetic()
	c.reductions()
	c.products()
	c.functions()
	c.promotions()
	c.scaling()
	for n := 1; n <= 107; n++ {
		if c.rows[n] == 0 {
			t.Errorf("row %d is missing", n)
		}
	}
}

func (c checks) conversions() {
	nan := math.NaN()
	for i, x := range []struct{ in, want float64 }{
		{65504, 65504}, {65519.99609375, 65504}, {65520, inf}, {-70000, -inf}, {655504, inf},
		{0x1p-14, 0x1p-14}, {0x1p-24, 0x1p-24}, {0x1p-25, 0}, {2.980235080940474e-08, 0x1p-24},
		{0x1.8p-24, 0x1p-23}, {1e-8, 0}, {3e-8, 0x1p-24}, {1e-7, 0x1p-23}, {6.097555160522461e-05, 0x3ff * 0x1p-24},
		{2049, 2048}, {2051, 2052}, {4098, 4096}, {4102, 4104}, {0.1, 0.0999755859375}, {1. / 3, 0.333251953125},
		{1.00048828125, 1}, {1.00146484375, 1.001953125}, {1.0004892349243164, 1.0009765625}, {math.Copysign(0, -1), math.Copysign(0, -1)},
		{math.Pi, 3.140625}, {nan, nan}, {0.001, 0.00100040435791015625}, {0.0001, 0.00010001659393310547},
	} {
		c.half(1+i, fmt.Sprintf("fp16(%v)", x.in), tensor.New([]float64{x.in}).Half(), x.want)
	}
	c.run(26, "bits of NaN", func(t *testing.T) {
		if got := tensor.New([]float64{nan}).Half().Bits()[0]; got != 0x7e00 {
			t.Errorf("got %#x, want 0x7e00", got)
		}
	})
	c.half(29, "float64 1+2^-11+2^-40, by way of float32", tensor.NewAs(tensor.Float64, []float64{1 + 0x1p-11 + 0x1p-40}).Half(), 1)
	c.half(30, "int64 70000", tensor.FromInts([]int{70000}).Half(), inf)
	c.run(31, "full and fill with 1e6", func(t *testing.T) {
		x := halves(1)
		if err := try(func() { x.Fill(1e6) }); err == nil || x.Item() != 1 {
			t.Errorf("got error %v and %v, want an error and 1", err, x)
		}
		if err := try(func() { tensor.FullAs(tensor.Float16, 1e6) }); err == nil {
			t.Error("Full with 1e6 in float16: got no error")
		}
		if got := halves(1e6).Item(); got != inf {
			t.Errorf("a tensor of 1e6: got %v, want +Inf", got)
		}
	})
	for i, x := range []struct{ in, want float64 }{
		{257, 256}, {259, 260}, {65536, 65536}, {3.39e38, 3.3895313892515355e38}, {3.4e38, inf},
		{1.00390625, 1}, {1.01171875, 1.015625}, {0.1, 0.10009765625}, {1e-40, 0x1p-133},
	} {
		c.bf16(32+i, fmt.Sprintf("bf16(%v)", x.in), tensor.New([]float64{x.in}).BFloat16(), x.want)
	}
	c.half(96, "arange", tensor.ArangeAs(tensor.Float16, 2046, 2052, 1), 2046, 2047, 2048, 2048, 2050, 2052)
}

func (c checks) arithmetic() {
	c.half(41, "1 + 0.0001", halves(1).AddScalar(0.0001), 1)
	c.half(42, "1 + 0.0005", halves(1).AddScalar(0.0005), 1.0009765625)
	c.half(43, "1 + 2^-11", halves(1).AddScalar(0x1p-11), 1)
	c.half(44, "1 - 0.0003", halves(1).AddScalar(-0.0003), 0.99951171875)
	c.single(45, "int64 1 + 0.0001", tensor.FromInts([]int{1}).AddScalar(0.0001), float64(float32(1.0001)))
	c.half(46, "2048 + 1", halves(2048).Add(halves(1)), 2048)
	c.half(47, "2050 + 1", halves(2050).Add(halves(1)), 2052)
	c.half(48, "60000 + 60000", halves(60000).Add(halves(60000)), inf)
	c.half(49, "(60000 + 60000) / 2", halves(60000).Add(halves(60000)).MulScalar(0.5), inf)
	c.half(50, "256 * 256", halves(256).Mul(halves(256)), inf)
	c.half(51, "2^-14 * 2^-10", halves(0x1p-14).Mul(halves(0x1p-10)), 0x1p-24)
	c.half(52, "2^-14 * 2^-11", halves(0x1p-14).Mul(halves(0x1p-11)), 0)
	c.half(53, "[1e-3, 1] * 70000, a number", halves(1e-3, 1).MulScalar(70000), 70, inf)
	c.half(54, "[1e-3, 1] * 0-dim float32 65536", halves(1e-3, 1).Mul(tensor.Full(65536)), inf, inf)
	c.single(55, "0-dim 1e-3 * 0-dim float32 65536", half0(1e-3).Mul(tensor.Full(65536)), 65.5625)
	c.half(56, "1 / 3", halves(1).Div(halves(3)), 0.333251953125)
	c.half(57, "inf - inf", halves(inf).Sub(halves(inf)), math.NaN())
	c.half(58, "0 * inf", halves(0).Mul(halves(inf)), math.NaN())
	c.half(59, "300²", halves(300).Pow(2), inf)
	c.half(60, "2 to the power 0.5", halves(2).Pow(0.5), 1.4140625)

	running := func(n int, x *tensor.Tensor, f func(*tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
		for range n {
			x = f(x)
		}
		return x
	}
	tenth := half0(0.1)
	c.half(91, "counter of 5000 ones", running(5000, half0(0), func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(1) }), 2048)
	c.half(92, "sum of 10000 x 0.1", running(10000, half0(0), func(x *tensor.Tensor) *tensor.Tensor { return x.Add(tenth) }), 256)
	c.half(93, "1 + 10000 x 1e-4", running(10000, half0(1), func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(1e-4) }), 1)
}

func (c checks) reductions() {
	c.half(61, "2049 ones", halfOnes(2049).Sum(), 2048)
	c.half(62, "4097 ones", halfOnes(4097).Sum(), 4096)
	c.half(63, "65519 ones", halfOnes(65519).Sum(), 65504)
	c.half(64, "65520 ones", halfOnes(65520).Sum(), inf)
	c.half(65, "65536 ones", halfOnes(65536).Sum(), inf)
	c.single(66, "65536 ones as float32", halfOnes(65536).SumAs(tensor.Float32), 65536)
	amp.Autocast(amp.Float16, func() { c.single(67, "65536 ones under autocast", halfOnes(65536).Sum(), 65536) })
	c.single(68, "65536 float32 ones", tensor.Ones(65536).Sum(), 65536)
	c.bf16(69, "257 bfloat16 ones", tensor.Ones(257).BFloat16().Sum(), 256)
	c.half(70, "60000 + 60000 - 60000", halves(60000, 60000, -60000).Sum(), 60000)
	c.half(71, "mean of 65536 ones", halfOnes(65536).Mean(), 1)
	c.half(72, "mean of 4096 hundreds", tensor.Full(100, 4096).Half().Mean(), 100)
	c.half(73, "norm of [300, 400]", halves(300, 400).Norm(), 500)
	c.half(74, "norm of [60000, 60000]", halves(60000, 60000).Norm(), inf)
	c.half(94, "cumsum of 3000 ones, the last", halfOnes(3000).Cumsum(0).Slice(0, 2999, 3000), 3000)
	c.half(75, "mse_loss of 300 and 0", nn.MSELoss(halves(300), halves(0)), inf)
	amp.Autocast(amp.Float16, func() { c.single(75, "the same under autocast", nn.MSELoss(halves(300), halves(0)), 90000) })
}

func (c checks) products() {
	c.half(76, "ones (1, 4097) @ (4097, 1)", halfOnes(1, 4097).MatMul(halfOnes(4097, 1)), 4096)
	c.half(77, "256 @ 256", halfRow(256).MatMul(halfRow(256)), inf)
	c.half(78, "[60000, 60000] @ [1, -1]", halfRow(60000, 60000).MatMul(halfColumn(1, -1)), 0)
	c.half(79, "[2048, 1] @ [1, 1]", halfRow(2048, 1).MatMul(halfColumn(1, 1)), 2048)
	c.half(80, "linear, bias 1 and product 2050: 2051 rounds once", tensor.Linear(halfRow(2050), halfRow(1), halves(1)), 2052)
	c.half(80, "addmm, bias 1 and product 2048", halfRow(1).AddMM(halfRow(2048), halfRow(1), tensor.AddMMOptions{}), 2048)
	c.half(80, "addmm, bias 1 and product 2050", halfRow(1).AddMM(halfRow(2050), halfRow(1), tensor.AddMMOptions{}), 2052)
	c.bf16(81, "bfloat16 ones (1, 300) @ (300, 1)", tensor.Ones(1, 300).BFloat16().MatMul(tensor.Ones(300, 1).BFloat16()), 300)
}

func (c checks) functions() {
	c.half(82, "softmax of [1, 2, 3]", halves(1, 2, 3).Softmax(0), 0.09002685546875, 0.2447509765625, 0.6650390625)
	c.half(83, "softmax of [60000, 0]", halves(60000, 0).Softmax(0), 1, 0)
	c.half(84, "softmax of [0, -20]", halves(0, -20).Softmax(0), 1, 0)
	c.half(85, "exp 11", halves(11).Exp(), 59872)
	c.half(86, "exp 11.09375", halves(11.09375).Exp(), inf)
	c.half(87, "exp -17", halves(-17).Exp(), 0x1p-24)
	c.half(88, "exp -18", halves(-18).Exp(), 0)
	c.half(89, "sigmoid 8", halves(8).Sigmoid(), 0.99951171875)
	c.half(90, "sigmoid 8.4", halves(8.4).Sigmoid(), 1)
}

func (c checks) promotions() {
	three, one := halves(1, 2, 3), halves(1)
	c.row(tensor.Bool, 95, "half 0.1 == float32 [0.1]", halves(0.1).Eq(tensor.New([]float64{0.1})), 0)
	c.row(tensor.Bool, 95, "half 0.1 == 0.1, a number", halves(0.1).EqScalar(0.1), 0)
	c.dtype(97, "half[3] * float32 0-dim", three.Mul(tensor.Scalar(1)), tensor.Float16)
	c.dtype(98, "half[3] * float32[1]", three.Mul(tensor.Ones(1)), tensor.Float32)
	c.dtype(99, "half[1] + bfloat16[1]", one.Add(bfloats(1)), tensor.Float32)
	c.dtype(100, "half[1] + int64[1]", one.Add(tensor.FromInts([]int{1})), tensor.Float16)
	c.dtype(101, "half[1] + float64 0-dim", one.Add(tensor.Scalar(1).Double()), tensor.Float16)
	c.dtype(102, "int64[1] + 0.5", tensor.FromInts([]int{1}).AddScalar(0.5), tensor.Float32)
}

func (c checks) scaling() {
	// Unscaling a gradient of 1 shows the inverse of the scale.
	unscaled := func(scale float64) (*params, *amp.GradScaler) {
		s, opt := amp.NewGradScaler(amp.InitScale(scale), amp.GrowthInterval(1)), &params{list: []*tensor.Tensor{weight(1)}}
		s.Scale(tensor.Ones(1))
		s.Unscale(opt)
		return opt, s
	}
	for _, r := range []struct {
		number      int
		scale, want float64
	}{{103, 65536, 0x1p-16}, {104, 3, float64(float32(1. / 3))}, {107, 0x1p-130, inf}} {
		c.run(r.number, fmt.Sprintf("inverse of scale %v", r.scale), func(t *testing.T) {
			opt, s := unscaled(r.scale)
			if got := opt.list[0].Grad().Item(); got != r.want {
				t.Errorf("got %v, want %v", got, r.want)
			}
			if res := s.Step(opt); res.Skipped { // the step is taken even if the inverse is infinite
				t.Errorf("the step was skipped")
			}
		})
	}
	c.run(105, "growth from 2^127 by 2", func(t *testing.T) {
		opt, s := unscaled(0x1p127)
		s.Step(opt)
		s.Update()
		if s.CurrentScale() != 0x1p127 || s.GrowthTracker() != 0 {
			t.Errorf("got scale %v and tracker %d, want 2^127 and 0", s.CurrentScale(), s.GrowthTracker())
		}
	})
	c.run(106, "65536 after 165 backoffs in a row", func(t *testing.T) {
		s := amp.NewGradScaler()
		backoff := func() float64 {
			opt := &params{list: []*tensor.Tensor{weight(inf)}}
			s.Scale(tensor.Ones(1))
			s.Step(opt)
			s.Update()
			return s.CurrentScale()
		}
		for range 164 {
			backoff()
		}
		if got := backoff(); got != 0x1p-149 {
			t.Errorf("got %v, want 2^-149", got)
		}
		if got := backoff(); got != 0 {
			t.Errorf("after one more step: got %v, want 0", got)
		}
	})
}

package tensor

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/x448/float16"
)

// nearest returns x rounded to float32 and then to d, to nearest even, with independent code:
// x448/float16, and integer arithmetic for bfloat16.
func nearest(d DType, x float64) uint64 {
	f := float32(x)
	if d == Float16 {
		return uint64(float16.Fromfloat32(f).Bits())
	}
	bits := math.Float32bits(f)
	low := bits & 0xffff
	bits >>= 16
	if f != f {
		return 0x7fc0
	}
	if low > 0x8000 || low == 0x8000 && bits&1 == 1 {
		bits++
	}
	return uint64(bits)
}

// value returns the number of d with these bits.
func value(d DType, bits uint64) float64 {
	if d == Float16 {
		return float64(float16.Frombits(uint16(bits)).Float32())
	}
	return float64(math.Float32frombits(uint32(bits) << 16))
}

// steps returns the number of half-precision values from a to b. NaN is far from all numbers and next
// to NaN, and zeros are equal.
func steps(d DType, a, b uint64) int {
	x, y := value(d, a), value(d, b)
	switch {
	case x != x && y != y:
		return 0
	case x != x || y != y:
		return 1 << 16
	}
	place := func(bits uint64) int {
		if bits>>15 != 0 {
			return -int(bits & 0x7fff)
		}
		return int(bits)
	}
	n := place(a) - place(b)
	return max(n, -n)
}

// exactness measures the distance of results from the nearest half-precision numbers.
type exactness struct{ results, exact, worst, at int }

func (e *exactness) add(i, distance int) {
	e.results++
	if distance == 0 {
		e.exact++
	} else if distance > e.worst {
		e.worst, e.at = distance, i
	}
}

func (e exactness) String() string {
	return fmt.Sprintf("%6d of %6d exact (%8.4f %%), at most %d ulp off", e.exact, e.results, 100*float64(e.exact)/float64(e.results), e.worst)
}

var halves = sync.OnceValue(func() map[DType]*Tensor {
	all := map[DType]*Tensor{}
	for _, d := range []DType{Float16, BFloat16} {
		data := make([]float64, 1<<16)
		for i := range data {
			data[i] = value(d, uint64(i))
		}
		all[d] = NewAs(d, data)
	}
	return all
})

// scalarFunctions are the unary functions, with their float64 definitions, written to avoid
// cancellation.
var scalarFunctions = []struct {
	name string
	f    func(x *Tensor) *Tensor
	want func(x float64) float64
}{
	{"abs", (*Tensor).Abs, math.Abs},
	{"acos", (*Tensor).Acos, math.Acos},
	{"acosh", (*Tensor).Acosh, math.Acosh},
	{"add 0.1", func(x *Tensor) *Tensor { return x.AddScalar(0.1) }, func(x float64) float64 { return x + float64(float32(0.1)) }},
	{"asin", (*Tensor).Asin, math.Asin},
	{"asinh", (*Tensor).Asinh, math.Asinh},
	{"atan", (*Tensor).Atan, math.Atan},
	{"atanh", (*Tensor).Atanh, math.Atanh},
	{"ceil", (*Tensor).Ceil, math.Ceil},
	{"celu 1.3", func(x *Tensor) *Tensor { return x.CELU(1.3) }, func(x float64) float64 { return math.Max(x, 0) + 1.3*math.Expm1(math.Min(x, 0)/1.3) }},
	{"clamp", func(x *Tensor) *Tensor { return x.Clamp(-0.7, 300.3) }, func(x float64) float64 { return math.Min(math.Max(x, -0.7), 300.3) }},
	{"cos", (*Tensor).Cos, math.Cos},
	{"cosh", (*Tensor).Cosh, math.Cosh},
	{"deg2rad", (*Tensor).Deg2rad, func(x float64) float64 { return x * (math.Pi / 180) }},
	{"div by 3", func(x *Tensor) *Tensor { return x.DivScalar(3) }, func(x float64) float64 { return x / 3 }},
	{"elu", func(x *Tensor) *Tensor { return x.ELU(1) }, func(x float64) float64 { return math.Max(x, 0) + math.Expm1(math.Min(x, 0)) }},
	{"entr", (*Tensor).Entr, func(x float64) float64 {
		switch {
		case x < 0:
			return math.Inf(-1)
		case x == 0:
			return 0
		}
		return -x * math.Log(x)
	}},
	{"erf", (*Tensor).Erf, math.Erf},
	{"erfc", (*Tensor).Erfc, math.Erfc},
	{"erfinv", (*Tensor).Erfinv, math.Erfinv},
	{"exp", (*Tensor).Exp, math.Exp},
	{"exp2", (*Tensor).Exp2, math.Exp2},
	{"expm1", (*Tensor).Expm1, math.Expm1},
	{"floor", (*Tensor).Floor, math.Floor},
	{"frac", (*Tensor).Frac, func(x float64) float64 { return x - math.Trunc(x) }},
	{"gelu", (*Tensor).GELU, func(x float64) float64 { return x * 0.5 * math.Erfc(-x*math.Sqrt2/2) }},
	{"gelu tanh", (*Tensor).GELUTanh, func(x float64) float64 {
		return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}},
	{"hardshrink", func(x *Tensor) *Tensor { return x.Hardshrink(0.3) }, func(x float64) float64 {
		if math.Abs(x) <= float64(float32(0.3)) {
			return 0
		}
		return x
	}},
	{"hardsigmoid", (*Tensor).Hardsigmoid, func(x float64) float64 { return math.Min(math.Max(x+3, 0), 6) / 6 }},
	{"hardswish", (*Tensor).Hardswish, func(x float64) float64 { return x * math.Min(math.Max(x+3, 0), 6) / 6 }},
	{"hardtanh", func(x *Tensor) *Tensor { return x.Hardtanh(-1, 1) }, func(x float64) float64 { return math.Min(math.Max(x, -1), 1) }},
	{"leaky_relu", func(x *Tensor) *Tensor { return x.LeakyReLU(0.01) }, func(x float64) float64 {
		if x > 0 {
			return x
		}
		return x * 0.01
	}},
	{"log", (*Tensor).Log, math.Log},
	{"log10", (*Tensor).Log10, func(x float64) float64 { return math.Log(x) / math.Ln10 }},
	{"log1p", (*Tensor).Log1p, math.Log1p},
	{"log2", (*Tensor).Log2, func(x float64) float64 { return math.Log(x) / math.Ln2 }},
	{"log_sigmoid", (*Tensor).LogSigmoid, func(x float64) float64 { return math.Min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }},
	{"logit", func(x *Tensor) *Tensor { return x.Logit(0) }, func(x float64) float64 { return math.Log(x / (1 - x)) }},
	{"mish", (*Tensor).Mish, func(x float64) float64 { return x * math.Tanh(math.Max(x, 0)+math.Log1p(math.Exp(-math.Abs(x)))) }},
	{"mul 0.1", func(x *Tensor) *Tensor { return x.MulScalar(0.1) }, func(x float64) float64 { return x * float64(float32(0.1)) }},
	{"ndtr", (*Tensor).Ndtr, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }},
	{"neg", (*Tensor).Neg, func(x float64) float64 { return -x }},
	{"pow -2", func(x *Tensor) *Tensor { return x.Pow(-2) }, func(x float64) float64 { return 1 / (x * x) }},
	{"pow 0.5", func(x *Tensor) *Tensor { return x.Pow(0.5) }, math.Sqrt},
	{"pow 1.7", func(x *Tensor) *Tensor { return x.Pow(1.7) }, func(x float64) float64 { return math.Pow(x, float64(float32(1.7))) }},
	{"pow 2", func(x *Tensor) *Tensor { return x.Pow(2) }, func(x float64) float64 { return x * x }},
	{"pow 3", func(x *Tensor) *Tensor { return x.Pow(3) }, func(x float64) float64 { return x * x * x }},
	{"pow of 1.7", func(x *Tensor) *Tensor { return x.RPow(1.7) }, func(x float64) float64 { return math.Pow(float64(float32(1.7)), x) }},
	{"rad2deg", (*Tensor).Rad2deg, func(x float64) float64 { return x * (180 / math.Pi) }},
	{"reciprocal", (*Tensor).Reciprocal, func(x float64) float64 { return 1 / x }},
	{"relu", (*Tensor).ReLU, func(x float64) float64 { return math.Max(x, 0) }},
	{"relu6", (*Tensor).ReLU6, func(x float64) float64 { return math.Min(math.Max(x, 0), 6) }},
	{"round", (*Tensor).Round, math.RoundToEven},
	{"rsqrt", (*Tensor).Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }},
	{"rsub", func(x *Tensor) *Tensor { return x.RSubScalar(3) }, func(x float64) float64 { return 3 - x }},
	{"selu", (*Tensor).SELU, func(x float64) float64 {
		return 1.0507009873554804934193349852946 * (math.Max(x, 0) + 1.6732632423543772848170429916717*math.Expm1(math.Min(x, 0)))
	}},
	{"sigmoid", (*Tensor).Sigmoid, func(x float64) float64 {
		if x < -700 {
			return math.Exp(x)
		}
		return 1 / (1 + math.Exp(-x))
	}},
	{"sign", (*Tensor).Sign, func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return 0
	}},
	{"silu", (*Tensor).SiLU, func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
	{"sin", (*Tensor).Sin, math.Sin},
	{"sinc", (*Tensor).Sinc, func(x float64) float64 {
		if x == 0 {
			return 1
		}
		n := math.Round(x) // sin(pi x) from the distance to a whole number
		s := math.Sin(math.Pi*(x-n)) / (math.Pi * x)
		if math.Mod(n, 2) != 0 {
			return -s
		}
		return s
	}},
	{"sinh", (*Tensor).Sinh, math.Sinh},
	{"softplus", (*Tensor).Softplus, func(x float64) float64 {
		if x > 20 {
			return x
		}
		return math.Log1p(math.Exp(x))
	}},
	{"softshrink", func(x *Tensor) *Tensor { return x.Softshrink(0.5) }, func(x float64) float64 {
		switch {
		case x > 0.5:
			return x - 0.5
		case x < -0.5:
			return x + 0.5
		}
		return 0 * x
	}},
	{"softsign", (*Tensor).Softsign, func(x float64) float64 { return x / (1 + math.Abs(x)) }},
	{"sqrt", (*Tensor).Sqrt, math.Sqrt},
	{"square", (*Tensor).Square, func(x float64) float64 { return x * x }},
	{"step", (*Tensor).Step, func(x float64) float64 {
		if x > 0 {
			return 1
		}
		return 0
	}},
	{"tan", (*Tensor).Tan, math.Tan},
	{"tanh", (*Tensor).Tanh, math.Tanh},
	{"tanhshrink", (*Tensor).Tanhshrink, func(x float64) float64 {
		if q := x * x; q < 1e-3 { // the series of tanh
			return x * q * (1.0/3 - q*(2.0/15-q*(17.0/315-q*(62.0/2835))))
		}
		return x - math.Tanh(x)
	}},
	{"threshold", func(x *Tensor) *Tensor { return x.Threshold(0.1, 20) }, func(x float64) float64 {
		if x <= float64(float32(0.1)) {
			return 20
		}
		return x
	}},
	{"trunc", (*Tensor).Trunc, math.Trunc},
}

// exact lists the functions whose result is always the nearest number: the rounded exact result, or a
// float32 result whose own rounding does not matter.
var exact = map[string]bool{
	"abs": true, "ceil": true, "clamp": true, "div by 3": true, "floor": true, "frac": true, "hardshrink": true, "hardtanh": true, "neg": true,
	"pow 0.5": true, "pow 2": true, "reciprocal": true, "relu": true, "relu6": true, "round": true, "rsub": true, "sign": true, "sqrt": true, "square": true,
	"step": true, "threshold": true, "trunc": true, "add 0.1": true, "mul 0.1": true, "softshrink": true,
}

// TestUnaryFunctionsOfAllHalves applies every unary function to all 65536 numbers of float16 and of bfloat16.
// -v prints the number of exact results.
func TestUnaryFunctionsOfAllHalves(t *testing.T) {
	for _, c := range scalarFunctions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for d, x := range halves() {
				got := c.f(x).Bits()
				var e exactness
				for i, bits := range got {
					e.add(i, steps(d, bits, nearest(d, c.want(value(d, uint64(i))))))
				}
				t.Logf("%v: %v", d, e)
				if e.worst > 1 || e.exact < 65471 || exact[c.name] && e.worst > 0 { // 99.9 %
					x := value(d, uint64(e.at))
					t.Errorf("%v: %v; of %v: got %v, want %v", d, e, x, value(d, got[e.at]), value(d, nearest(d, c.want(x))))
				}
			}
		})
	}
}

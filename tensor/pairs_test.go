package tensor

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"halfnote/internal/testenv"
)

// pairsOf returns 200000 pairs of random bits, and the pairs of special values.
var pairsOf = sync.OnceValue(func() map[DType][2]*Tensor {
	all := map[DType][2]*Tensor{}
	for _, d := range []DType{Float16, BFloat16} {
		f := FInfo(d)
		special := []float64{
			0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, 3, -3, 10, 0.1, -0.7, 1 + f.Eps, 1 - f.Eps, f.Max, -f.Max, f.Tiny, -f.Tiny,
			f.Subnormal, -f.Subnormal, f.Tiny - f.Subnormal, 2047, 2048, 256, 257, 60000, -60000, 300, 1e-4, 11, -17, math.Inf(1), math.Inf(-1), math.NaN(),
		}
		r := rand.New(rand.NewPCG(1, uint64(d)))
		const n = 200000
		x, y := make([]float64, 0, n+len(special)*len(special)), []float64(nil)
		for range n {
			bits := r.Uint32()
			x, y = append(x, value(d, uint64(bits&0xffff))), append(y, value(d, uint64(bits>>16)))
		}
		for _, a := range special {
			for _, b := range special {
				x, y = append(x, a), append(y, b)
			}
		}
		all[d] = [2]*Tensor{NewAs(d, x), NewAs(d, y)}
	}
	return all
})

func f32(x float64) float64 { return float64(float32(x)) }

// pairFunctions are the functions of two operands with their definitions. Exact functions always give
// the nearest number.
var pairFunctions = []struct {
	name  string
	f     func(x, y *Tensor) *Tensor
	want  func(x, y float64) float64
	exact bool
}{
	{"add", (*Tensor).Add, func(x, y float64) float64 { return x + y }, true},
	{"sub", (*Tensor).Sub, func(x, y float64) float64 { return x - y }, true},
	{"mul", (*Tensor).Mul, func(x, y float64) float64 { return x * y }, true},
	{"div", (*Tensor).Div, func(x, y float64) float64 { return x / y }, true},
	{"maximum", (*Tensor).Maximum, func(x, y float64) float64 { return max(x, y) }, true},
	{"minimum", (*Tensor).Minimum, func(x, y float64) float64 { return min(x, y) }, true},
	{"fmax", (*Tensor).Fmax, func(x, y float64) float64 { return unlessNaN(x, y, max(x, y)) }, true},
	{"fmin", (*Tensor).Fmin, func(x, y float64) float64 { return unlessNaN(x, y, min(x, y)) }, true},
	{"eq", (*Tensor).Eq, func(x, y float64) float64 { return truth(x == y) }, true},
	{"ne", (*Tensor).Ne, func(x, y float64) float64 { return truth(x != y) }, true},
	{"lt", (*Tensor).Lt, func(x, y float64) float64 { return truth(x < y) }, true},
	{"le", (*Tensor).Le, func(x, y float64) float64 { return truth(x <= y) }, true},
	{"gt", (*Tensor).Gt, func(x, y float64) float64 { return truth(x > y) }, true},
	{"ge", (*Tensor).Ge, func(x, y float64) float64 { return truth(x >= y) }, true},
	{"copysign", (*Tensor).Copysign, math.Copysign, true},
	{"fmod", (*Tensor).Fmod, math.Mod, true},
	{"remainder", (*Tensor).Remainder, func(x, y float64) float64 {
		r := math.Mod(x, y)
		if r != 0 && (r < 0) != (y < 0) {
			return r + y
		}
		return r
	}, true},
	{"floor_divide", (*Tensor).FloorDivide, func(x, y float64) float64 {
		switch {
		case y != 0 && math.IsInf(x, 0) || x != x:
			return math.NaN()
		case math.IsInf(y, 0) && x != 0 && (x < 0) != (y < 0):
			return -1
		}
		return math.Floor(x / y)
	}, true},
	{"trunc_divide", (*Tensor).DivTrunc, func(x, y float64) float64 { return math.Trunc(f32(x / y)) }, true},
	{"heaviside", (*Tensor).Heaviside, func(x, y float64) float64 {
		if x == 0 {
			return y
		}
		return truth(x > 0)
	}, true},
	{"atan2", (*Tensor).Atan2, math.Atan2, false},
	{"hypot", (*Tensor).Hypot, math.Hypot, false},
	{"pow", (*Tensor).PowTensor, math.Pow, false},
	{"xlogy", (*Tensor).Xlogy, func(x, y float64) float64 {
		if x == 0 && y == y {
			return 0
		}
		return x * math.Log(y)
	}, false},
	{"logaddexp", (*Tensor).LogAddExp, func(x, y float64) float64 {
		if x == y {
			return x + math.Ln2
		}
		return max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))
	}, false},
	{"logaddexp2", (*Tensor).LogAddExp2, func(x, y float64) float64 {
		if x == y {
			return x + 1
		}
		return max(x, y) + math.Log1p(math.Exp2(-math.Abs(x-y)))/math.Ln2
	}, false},
	// By definition, these functions round each step to float32.
	{"add scaled", func(x, y *Tensor) *Tensor { return x.AddScaled(y, 0.3) }, func(x, y float64) float64 { return f32(x + f32(f32(0.3)*y)) }, true},
	{"lerp", func(x, y *Tensor) *Tensor { return x.Lerp(y, 0.3) }, func(x, y float64) float64 { return f32(x + f32(f32(0.3)*f32(y-x))) }, true},
	{"lerp from the end", func(x, y *Tensor) *Tensor { return x.Lerp(y, 0.9) }, func(x, y float64) float64 { return f32(y - f32(f32(1-f32(0.9))*f32(y-x))) }, true},
	{"addcmul", func(x, y *Tensor) *Tensor { return x.Addcmul(x, y, 0.3) }, func(x, y float64) float64 { return f32(x + f32(f32(f32(0.3)*x)*y)) }, true},
	{"addcdiv", func(x, y *Tensor) *Tensor { return x.Addcdiv(x, y, 0.3) }, func(x, y float64) float64 { return f32(x + f32(f32(f32(0.3)*x)/y)) }, true},
}

// unlessNaN returns z, or the other operand if one of x and y is NaN.
func unlessNaN(x, y, z float64) float64 {
	switch {
	case x != x:
		return y
	case y != y:
		return x
	}
	return z
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestPairsOfHalves applies every function of two operands to 200000 random pairs of float16 and bfloat16,
// and to pairs of special values. -v prints the number of results that are the nearest number.
func TestPairsOfHalves(t *testing.T) {
	share := testenv.Share(t, 2)
	for i, c := range pairFunctions {
		if i%share != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for d, in := range pairsOf() {
				got := c.f(in[0], in[1]).To(d).Bits()
				var e exactness
				a, b := in[0].Float64s(), in[1].Float64s()
				for i, bits := range got {
					e.add(i, steps(d, bits, nearest(d, c.want(a[i], b[i]))))
				}
				t.Logf("%v: %v", d, e)
				if e.worst > 1 || float64(e.exact) < 0.999*float64(e.results) || c.exact && e.worst > 0 {
					t.Errorf("%v: %v; of %v and %v: got %v, want %v", d, e, a[e.at], b[e.at], value(d, got[e.at]), value(d, nearest(d, c.want(a[e.at], b[e.at]))))
				}
			}
		})
	}
}

package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
	"halfnote/tensor/internal/elementary"
)

// loop sets dst[i] from x[i], y[i] and z[i], or from the first of these if its code has
// fewer operands. All have the same length, and dst may be one of them.
type loop[T number] func(dst, x, y, z []T, alpha, beta T)

type pointwise struct {
	operands int
	cost     int
	f32      loop[float32]
	f64      loop[float64]
	i64      loop[int64] // nil if the code is not for integers; f32 and f64 are nil if it is only for integers
}

// pointwises holds the elementwise codes, in the order of package driver. The entries
// of other codes have 0 operands.
var pointwises = [...]pointwise{
	driver.Affine:       {1, 1, affine[float32], affine[float64], affine[int64]},
	driver.Neg:          {1, 1, neg[float32], neg[float64], neg[int64]},
	driver.Abs:          {1, 1, abs[float32], abs[float64], abs[int64]},
	driver.Exp:          elementaryOf(8, asm.Exp, elementary.Exp),
	driver.Log:          elementaryOf(8, asm.Log, elementary.Log),
	driver.Log1p:        elementaryOf(16, asm.Log1p, elementary.Log1p),
	driver.Sqrt:         {1, 4, sqrt[float32], sqrt[float64], nil},
	driver.Tanh:         elementaryOf(16, asm.Tanh, elementary.Tanh),
	driver.Erf:          elementaryOf(16, asm.Erf, elementary.Erf),
	driver.Sigmoid:      elementaryOf(8, asm.Sigmoid, sigmoid),
	driver.Relu:         {1, 1, relu[float32], relu[float64], relu[int64]},
	driver.Step:         {1, 1, step[float32], step[float64], step[int64]},
	driver.Reciprocal:   {1, 4, reciprocal[float32], reciprocal[float64], nil},
	driver.Pow:          {1, 32, pow[float32], pow[float64], nil},
	driver.Rsqrt:        elementaryOf(8, asm.Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }),
	driver.Exp2:         elementaryOf(8, asm.Exp2, elementary.Exp2),
	driver.Expm1:        elementaryOf(16, asm.Expm1, elementary.Expm1),
	driver.Log2:         elementaryOf(16, asm.Log2, elementary.Log2),
	driver.Log10:        elementaryOf(16, asm.Log10, elementary.Log10),
	driver.Sin:          sineOf(asm.Sin, asm.SinFar, elementary.Sin),
	driver.Cos:          sineOf(asm.Cos, asm.CosFar, elementary.Cos),
	driver.Tan:          function(16, elementary.Tan),
	driver.Asin:         function(16, elementary.Asin),
	driver.Acos:         function(16, elementary.Acos),
	driver.Atan:         function(16, elementary.Atan),
	driver.Sinh:         function(16, elementary.Sinh),
	driver.Cosh:         function(16, elementary.Cosh),
	driver.Asinh:        function(32, elementary.Asinh),
	driver.Acosh:        function(32, elementary.Acosh),
	driver.Atanh:        function(16, elementary.Atanh),
	driver.Erfc:         function(16, elementary.Erfc),
	driver.Erfinv:       function(32, elementary.Erfinv),
	driver.Floor:        function(2, math.Floor),
	driver.Ceil:         function(2, math.Ceil),
	driver.Trunc:        function(2, math.Trunc),
	driver.Round:        function(2, math.RoundToEven),
	driver.Sign:         {1, 1, sign[float32], sign[float64], sign[int64]},
	driver.Add:          {2, 1, add[float32], add[float64], add[int64]},
	driver.AddScaled:    {2, 1, addScaled[float32], addScaled[float64], addScaled[int64]},
	driver.Sub:          {2, 1, sub[float32], sub[float64], sub[int64]},
	driver.Mul:          {2, 1, mul[float32], mul[float64], mul[int64]},
	driver.Div:          {2, 4, div[float32], div[float64], nil},
	driver.Max:          {2, 2, maximum[float32], maximum[float64], maximum[int64]},
	driver.Min:          {2, 2, minimum[float32], minimum[float64], minimum[int64]},
	driver.Equal:        {2, 1, equal[float32], equal[float64], equal[int64]},
	driver.Less:         {2, 1, less[float32], less[float64], less[int64]},
	driver.LessEqual:    {2, 1, lessEqual[float32], lessEqual[float64], lessEqual[int64]},
	driver.ReluGrad:     {2, 1, reluGrad[float32], reluGrad[float64], nil},
	driver.TanhGrad:     {2, 1, tanhGrad[float32], tanhGrad[float64], nil},
	driver.SigmoidGrad:  {2, 1, sigmoidGrad[float32], sigmoidGrad[float64], nil},
	driver.Power:        {2, 32, function2[float32](elementary.Pow), function2[float64](elementary.Pow), powerInt},
	driver.Atan2:        {2, 32, function2[float32](elementary.Atan2), function2[float64](elementary.Atan2), nil},
	driver.Hypot:        {2, 8, function2[float32](elementary.Hypot), function2[float64](elementary.Hypot), nil},
	driver.Copysign:     {2, 2, function2[float32](math.Copysign), function2[float64](math.Copysign), nil},
	driver.Fmod:         {2, 16, function2[float32](math.Mod), function2[float64](math.Mod), functionInt(fmodInt)},
	driver.Remainder:    {2, 16, function2[float32](remainder), function2[float64](remainder), functionInt(remainderInt)},
	driver.FloorDiv:     {2, 16, function2[float32](floorDiv), function2[float64](floorDiv), functionInt(floorDivInt)},
	driver.TruncDiv:     {2, 4, truncDiv[float32], truncDiv[float64], functionInt(truncDivInt)},
	driver.And:          {2, 1, nil, nil, functionInt(func(x, y int64) int64 { return x & y })},
	driver.Or:           {2, 1, nil, nil, functionInt(func(x, y int64) int64 { return x | y })},
	driver.Xor:          {2, 1, nil, nil, functionInt(func(x, y int64) int64 { return x ^ y })},
	driver.ShiftLeft:    {2, 1, nil, nil, functionInt(func(x, y int64) int64 { return x << uint64(y) })},
	driver.ShiftRight:   {2, 1, nil, nil, functionInt(func(x, y int64) int64 { return x >> uint64(y) })},
	driver.Where:        {3, 1, where[float32], where[float64], where[int64]},
	driver.Gelu:         {1, 8, loopOf(asm.Gelu), nil, nil},
	driver.GeluGrad:     {2, 8, limitedLoop(asm.GeluGrad, function2[float32](geluGradOf)), nil, nil},
	driver.Silu:         {1, 8, loopOf(asm.Silu), nil, nil},
	driver.SiluGrad:     {2, 8, loopOf(asm.SiluGrad), nil, nil},
	driver.GeluTanh:     {1, 8, loopOf(asm.GeluTanh), nil, nil},
	driver.GeluTanhGrad: {2, 8, loopOf(asm.GeluTanhGrad), nil, nil},
}

// In the loops below, T(a*b) + c keeps the compiler from fusing multiplication and
// addition, which it does on some processors.

func affine[T number](dst, x, _, _ []T, alpha, beta T) {
	dst = dst[:len(x)]
	if beta == 0 {
		if pass(loops.Scale, dst, x, nil, alpha, 0) {
			return
		}
		for i, v := range x {
			dst[i] = alpha * v
		}
		return
	}
	if pass(loops.Affine, dst, x, nil, alpha, beta) {
		return
	}
	for i, v := range x {
		dst[i] = T(alpha*v) + beta
	}
}

func neg[T number](dst, x, _, _ []T, _, _ T) {
	if pass(loops.Neg, dst, x, nil, T(math.Copysign(0, -1)), 0) {
		return
	}
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = -v
	}
}

func abs[T number](dst, x, _, _ []T, _, _ T) {
	if pass(loops.Abs, dst, x, nil, 0, 0) {
		return
	}
	dst = dst[:len(x)]
	for i, v := range x {
		if !(v > 0) {
			v = 0 - v // 0, not -0, and a quiet NaN
		}
		dst[i] = v
	}
}

func sqrt[T real](dst, x, _, _ []T, _, _ T) {
	if pass(loops.Sqrt, dst, x, nil, 0, 0) {
		return
	}
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Sqrt(float64(v)))
	}
}

func relu[T number](dst, x, _, _ []T, _, _ T) {
	if pass(loops.Relu, dst, x, nil, 0, 0) {
		return
	}
	dst = dst[:len(x)]
	for i, v := range x {
		if v <= 0 {
			v = 0
		}
		dst[i] = v
	}
}

func step[T number](dst, x, _, _ []T, _, _ T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = truth[T](v > 0)
	}
}

func reciprocal[T real](dst, x, _, _ []T, _, _ T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = 1 / v
	}
}

func pow[T real](dst, x, _, _ []T, alpha, _ T) {
	dst = dst[:len(x)]
	switch alpha {
	case -1:
		reciprocal(dst, x, nil, nil, 0, 0)
	case 0.5:
		sqrt(dst, x, nil, nil, 0, 0)
	case 2:
		mul(dst, x, x, nil, 0, 0)
	case 3:
		for i, v := range x {
			dst[i] = v * v * v
		}
	default:
		for i, v := range x {
			dst[i] = T(elementary.Pow(float64(v), float64(alpha)))
		}
	}
}

func add[T number](dst, x, y, _ []T, _, _ T) {
	if pass(loops.Add, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

func addScaled[T number](dst, x, y, _ []T, alpha, _ T) {
	if pass(loops.AddScaled, dst, x, y, alpha, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v + T(alpha*y[i])
	}
}

func sub[T number](dst, x, y, _ []T, _, _ T) {
	if pass(loops.Sub, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

func mul[T number](dst, x, y, _ []T, _, _ T) {
	if pass(loops.Mul, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func div[T real](dst, x, y, _ []T, _, _ T) {
	if pass(loops.Div, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v / y[i]
	}
}

func maximum[T number](dst, x, y, _ []T, _, _ T) {
	if pass(selects.Max, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = larger(v, y[i])
	}
}

func minimum[T number](dst, x, y, _ []T, _, _ T) {
	if pass(selects.Min, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = smaller(v, y[i])
	}
}

func equal[T number](dst, x, y, _ []T, _, _ T) {
	if pass(selects.Equal, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = truth[T](v == y[i])
	}
}

func less[T number](dst, x, y, _ []T, _, _ T) {
	if pass(selects.Less, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = truth[T](v < y[i])
	}
}

func lessEqual[T number](dst, x, y, _ []T, _, _ T) {
	if pass(selects.LessEqual, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = truth[T](v <= y[i])
	}
}

func reluGrad[T real](dst, x, y, _ []T, _, _ T) {
	if pass(loops.ReluGrad, dst, x, y, 0, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		g := y[i]
		if v <= 0 {
			g = 0
		}
		dst[i] = g
	}
}

func tanhGrad[T real](dst, x, y, _ []T, _, _ T) {
	if pass(loops.TanhGrad, dst, x, y, 1, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = y[i] * (1 - T(v*v))
	}
}

func sigmoidGrad[T real](dst, x, y, _ []T, _, _ T) {
	if pass(loops.SigmoidGrad, dst, x, y, 1, 0) {
		return
	}
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = y[i] * ((1 - v) * v)
	}
}

func where[T number](dst, x, y, z []T, _, _ T) {
	if f, ok := any(dst).([]float32); ok && selects.Where != nil && len(x) >= fast {
		selects.Where(unsafe.Pointer(&f[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), unsafe.Pointer(&z[0]), len(x))
		return
	}
	dst, y, z = dst[:len(x)], y[:len(x)], z[:len(x)]
	for i, v := range x {
		r := y[i]
		if v == 0 {
			r = z[i]
		}
		dst[i] = r
	}
}

func truth[T number | uint8](b bool) T {
	if b {
		return 1
	}
	return 0
}

package drivertest

import (
	"maps"
	"math"
	"math/big"

	"halfnote/tensor/driver"
)

// pointwises are the definitions of all elementwise codes on real numbers.
var pointwises = func() map[driver.Code]pointwise {
	all := maps.Clone(arithmetic)
	maps.Copy(all, functions)
	return all
}()

// functions are the definitions of elementwise codes that are known by their mathematical name.
var functions = map[driver.Code]pointwise{
	driver.Rsqrt:     {1, 4, one(func(x float64) float64 { return 1 / math.Sqrt(x) })},
	driver.Exp2:      {1, 4, one(math.Exp2)},
	driver.Expm1:     {1, 4, one(math.Expm1)},
	driver.Log2:      {1, 4, one(func(x float64) float64 { return log(x) / math.Ln2 })},
	driver.Log10:     {1, 4, one(func(x float64) float64 { return log(x) / math.Ln10 })},
	driver.Sin:       {1, 4, one(math.Sin)},
	driver.Cos:       {1, 4, one(math.Cos)},
	driver.Tan:       {1, 4, one(func(x float64) float64 { return math.Sin(x) / math.Cos(x) })},
	driver.Asin:      {1, 4, one(math.Asin)},
	driver.Acos:      {1, 4, one(math.Acos)},
	driver.Atan:      {1, 4, one(math.Atan)},
	driver.Sinh:      {1, 4, one(math.Sinh)},
	driver.Cosh:      {1, 4, one(math.Cosh)},
	driver.Asinh:     {1, 4, one(math.Asinh)},
	driver.Acosh:     {1, 4, one(math.Acosh)},
	driver.Atanh:     {1, 4, one(math.Atanh)},
	driver.Erfc:      {1, 4, one(math.Erfc)},
	driver.Erfinv:    {1, 4, one(math.Erfinv)},
	driver.Floor:     {1, 0, one(math.Floor)},
	driver.Ceil:      {1, 0, one(math.Ceil)},
	driver.Trunc:     {1, 0, one(math.Trunc)},
	driver.Round:     {1, 0, one(math.RoundToEven)},
	driver.Sign:      {1, 0, one(func(x float64) float64 { return truth(x > 0) - truth(x < 0) })},
	driver.Power:     {2, 4, two(power)},
	driver.Atan2:     {2, 4, two(math.Atan2)},
	driver.Hypot:     {2, 4, two(math.Hypot)},
	driver.Copysign:  {2, 0, two(math.Copysign)},
	driver.Fmod:      {2, 0, two(func(x, y float64) float64 { return math.Mod(x, y) })},
	driver.Remainder: {2, 1, two(remainder)},
	driver.FloorDiv:  {2, 1, two(floorDiv)},
	driver.Gelu:      {1, 4, one(func(x float64) float64 { return 0.5 * math.Erfc(-x*math.Sqrt2/2) * x })},
	driver.GeluGrad: {2, 4, two(func(x, y float64) float64 {
		return y * (0.5*math.Erfc(-x*math.Sqrt2/2) + x*math.Exp(-0.5*x*x)/math.Sqrt(2*math.Pi))
	})},
	driver.TruncDiv: {2, 0, func(a args) float64 { return math.Trunc(a.round(a.x / a.y)) }},
}

// bitwises are the elementwise codes that accept only integers.
var bitwises = map[driver.Code]pointwise{
	driver.And:        {2, 0, ints(func(x, y int64) int64 { return x & y })},
	driver.Or:         {2, 0, ints(func(x, y int64) int64 { return x | y })},
	driver.Xor:        {2, 0, ints(func(x, y int64) int64 { return x ^ y })},
	driver.ShiftLeft:  {2, 0, ints(func(x, y int64) int64 { return x << uint64(y) })},
	driver.ShiftRight: {2, 0, ints(func(x, y int64) int64 { return x >> uint64(y) })},
}

func one(f func(float64) float64) func(args) float64 {
	return func(a args) float64 { return f(a.x) }
}

func two(f func(x, y float64) float64) func(args) float64 {
	return func(a args) float64 { return f(a.x, a.y) }
}

func ints(f func(x, y int64) int64) func(args) float64 {
	return func(a args) float64 { return float64(f(int64(a.x), int64(a.y))) }
}

func remainder(x, y float64) float64 {
	r := math.Mod(x, y)
	if r != 0 && math.Signbit(r) != math.Signbit(y) {
		return r + y
	}
	return r
}

// floorDiv returns the floor of the exact quotient, computed with fractions.
func floorDiv(x, y float64) float64 {
	switch {
	case y == 0:
		return x / y
	case math.IsInf(x, 0) || math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case x == 0:
		return x / y
	case math.IsInf(y, 0):
		return math.Copysign(truth(math.Signbit(x) != math.Signbit(y)), x/y)
	}
	q := new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
	n, _ := new(big.Float).SetInt(new(big.Int).Div(q.Num(), q.Denom())).Float64() // Div rounds down
	return math.Copysign(n, x/y)
}

// power is pow with more digits for the whole part of y, because math.Pow loses digits for large y.
func power(x, y float64) float64 {
	n, rest := math.Modf(y)
	if !(x > 0 || x < 0 && rest == 0) || math.IsInf(x, 0) || !(math.Abs(y) < 1e4) || n == 0 {
		return pow(x, y)
	}
	p, square := big.NewFloat(1).SetPrec(120), new(big.Float).SetPrec(120).SetFloat64(x)
	for i := int(math.Abs(n)); i > 0; i >>= 1 {
		if i&1 == 1 {
			p.Mul(p, square)
		}
		square.Mul(square, square)
	}
	if n < 0 {
		p.Quo(big.NewFloat(1), p)
	}
	z, _ := p.Mul(p, big.NewFloat(pow(x, rest))).Float64()
	return z
}

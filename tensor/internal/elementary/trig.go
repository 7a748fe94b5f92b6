package elementary

import (
	"math"
	"math/big"
	"sync"
)

// Sin returns the sine of x, in radians.
func Sin(x float64) float64 {
	if x == 0 {
		return x
	}
	quadrant, r, c := reduce(x)
	switch quadrant {
	case 0:
		return sine(r, c)
	case 1:
		return cosine(r, c)
	case 2:
		return -sine(r, c)
	}
	return -cosine(r, c)
}

// Cos returns the cosine of x, in radians.
func Cos(x float64) float64 {
	quadrant, r, c := reduce(x)
	switch quadrant {
	case 0:
		return cosine(r, c)
	case 1:
		return -sine(r, c)
	case 2:
		return -cosine(r, c)
	}
	return sine(r, c)
}

// Tan returns the tangent of x, in radians.
func Tan(x float64) float64 {
	if x == 0 {
		return x
	}
	quadrant, r, c := reduce(x)
	if quadrant&1 == 1 {
		return -cosine(r, c) / sine(r, c)
	}
	return sine(r, c) / cosine(r, c)
}

// sine and cosine return the sine and cosine of r+c for |r| of at most π/4 and the rounding
// error c of r.

func sine(r, c float64) float64 {
	z := float64(r * r)
	// c contributes by way of the derivative.
	return r + (float64(float64(r*z)*polynomial(sinTail[:], z)) + float64(c*(1-float64(0.5*z))))
}

func cosine(r, c float64) float64 {
	z := float64(r * r)
	h := float64(0.5 * z)
	w := 1 - h
	return w + ((1 - w) - h + (float64(float64(z*z)*polynomial(cosTail[:], z)) - float64(r*c)))
}

// reduce returns x modulo 2π as a quadrant and r+c between -π/4 and π/4. NaN and
// infinities give NaN.
func reduce(x float64) (quadrant int, r, c float64) {
	switch a := math.Abs(x); {
	case !(a <= math.MaxFloat64):
		return 0, math.NaN(), 0
	case a <= 0.785:
		return 0, x, 0
	case a > 0x1p19:
		return reduceLarge(x)
	}
	// Cody and Waite: π/2 in three parts, products with the first two exact.
	k := math.RoundToEven(x * twoOverPi)
	a := x - float64(k*halfPi1)
	b, e := twoSum(a, -float64(k*halfPi2))
	p, q := twoProduct(k, halfPi3)
	r, f := twoSum(b, -p)
	return int(int64(k) & 3), r, e + f - q
}

// halfPi is π/2 to the 1200 bits that the largest float64 needs.
var halfPi = sync.OnceValue(func() *big.Float {
	// π/2 = 8 atan(1/5) - 2 atan(1/239), by J. Machin, 1706.
	const bits = 1300
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	atan := func(n int64) *big.Int {
		sum, term := new(big.Int), new(big.Int).Quo(one, big.NewInt(n))
		for i := int64(1); term.Sign() != 0; i += 2 {
			t := new(big.Int).Quo(term, big.NewInt(i))
			if i&2 == 0 {
				sum.Add(sum, t)
			} else {
				sum.Sub(sum, t)
			}
			term.Quo(term, big.NewInt(n*n))
		}
		return sum
	}
	p := new(big.Int).Mul(atan(5), big.NewInt(8))
	p.Sub(p, new(big.Int).Mul(atan(239), big.NewInt(2)))
	f := new(big.Float).SetPrec(1200).SetInt(p)
	return f.SetMantExp(f, -bits)
})

func reduceLarge(x float64) (quadrant int, r, c float64) {
	wide := func() *big.Float { return new(big.Float).SetPrec(1200) }
	v := wide().SetFloat64(x)
	n, _ := wide().Quo(v, halfPi()).Int(nil)
	rest := wide().Sub(v, wide().Mul(wide().SetInt(n), halfPi()))
	// Towards the nearest multiple instead of towards 0.
	quarter := wide().Quo(halfPi(), wide().SetInt64(2))
	if new(big.Float).Abs(rest).Cmp(quarter) > 0 {
		step := int64(rest.Sign())
		n.Add(n, big.NewInt(step))
		rest.Sub(rest, wide().Mul(halfPi(), wide().SetInt64(step)))
	}
	r, _ = rest.Float64()
	c, _ = rest.Sub(rest, wide().SetFloat64(r)).Float64()
	return int(n.And(n, big.NewInt(3)).Int64()), r, c
}

// Atan returns the arc tangent of x.
func Atan(x float64) float64 {
	if x != x || x == 0 {
		return x
	}
	hi, lo := atanRatio(math.Abs(x), 1)
	return math.Copysign(hi+lo, x)
}

// Atan2 returns the angle of the point (x, y).
func Atan2(y, x float64) float64 {
	switch {
	case x != x || y != y:
		return math.NaN()
	case y == 0 || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Atan2(y, x) // multiples of π/4
	}
	hi, lo := atanRatio(math.Abs(y), math.Abs(x))
	if x < 0 {
		h, l := quickSum(2*halfPiHi, -hi)
		hi, lo = h, l-lo+2*halfPiLo
	}
	return math.Copysign(hi+lo, y)
}

// atanRatio returns the arc tangent of y/x, both above 0, as a sum.
func atanRatio(y, x float64) (hi, lo float64) {
	if y > x {
		hi, lo = atanRatio(x, y)
		h, l := quickSum(halfPiHi, -hi)
		return h, l - lo + halfPiLo
	}
	t := y / x
	if x == math.Inf(1) {
		t = 0
	}
	// The remainder of the quotient, because the division rounds.
	rest := math.FMA(-t, x, y) / x
	if !(math.Abs(rest) < 1) {
		rest = 0
	}
	k := math.RoundToEven(16 * t)
	a := &atans[int(k)]
	c := k / 16
	p, q := twoProduct(t, c)
	w := 1 + p
	d := (t - c) / w
	// The difference is exact; e is the rounding error of the quotient.
	e := (math.FMA(-d, w, t-c)-float64(d*(p-(w-1)))-float64(d*q))/w + float64(rest/(1+float64(t*t)))
	z := float64(d * d)
	s := float64(float64(d*z) * (-1./3 + float64(z*(1./5+float64(z*(-1./7+float64(z*(1./9+float64(z*(-1./11+float64(z*(1./13))))))))))))
	hi, l := twoSum(a.hi, d)
	return quickSum(hi, l+(s+e+a.lo))
}

// Asin returns the arc sine of x.
func Asin(x float64) float64 {
	switch a := math.Abs(x); {
	case x != x || a > 1:
		return math.NaN()
	case x == 0 || a < 0x1p-27:
		return x
	case a == 1:
		return math.Copysign(halfPiHi, x)
	}
	a := math.Abs(x)
	hi, lo := atanRatio(a, math.Sqrt(float64((1-a)*(1+a))))
	return math.Copysign(hi+lo, x)
}

// Acos returns the arc cosine of x.
func Acos(x float64) float64 {
	switch {
	case x != x || math.Abs(x) > 1:
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return 2 * halfPiHi
	}
	hi, lo := atanRatio(math.Sqrt(1-x), math.Sqrt(1+x))
	return 2 * (hi + lo)
}

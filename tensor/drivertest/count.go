package drivertest

import (
	"math"
	"testing"

	"halfnote/tensor/driver"
)

// testCount counts elements of every dtype in views of every layout.
func testCount(t *testing.T, b driver.Backend) {
	c, ok := b.(driver.Counter)
	if !ok {
		t.Skip("the backend does not count elements")
	}
	odd := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 3e38, 1e-320, 448, 65504}
	for e := -150; e < 20; e++ {
		odd = append(odd, math.Ldexp(-1, e), math.Ldexp(1.75, e))
	}
	turn := 0
	for _, d := range driver.DTypes() {
		for _, shape := range shapes {
			for _, s := range layoutsOf(shape) {
				for _, x := range [][]float64{random(100003), odd, odd[len(odd)-40:], odd[:1]} {
					if turn++; slow(b) && turn%5 > 0 {
						continue
					}
					v := place(t, b, d, shape, s, x)
					if got, want := c.Count(v), countsOf(d, values(b, v)); !sameCounts(got, want) {
						t.Fatalf("%s: got %+v, want %+v", name(d, s, shape), got, want)
					}
				}
			}
		}
	}
}

func countsOf(d driver.DType, x []float64) driver.Counts {
	c := driver.Counts{Count: len(x), AbsMin: math.NaN(), AbsMax: math.NaN()}
	normal := map[driver.DType]float64{
		driver.Float16: 0x1p-14, driver.BFloat16: 0x1p-126, driver.Float32: 0x1p-126, driver.Float64: 0x1p-1022,
		driver.Float8E4M3: 0x1p-6, driver.Float8E5M2: 0x1p-14,
	}[d]
	for _, x := range x {
		switch a := math.Abs(x); {
		case a == 0:
			c.Zeros++
		case !d.IsFloat():
		case a != a:
			c.NaNs++
		case math.IsInf(a, 0):
			c.Infs++
		default:
			if a < normal {
				c.Subnormals++
			}
			c.AbsMin, c.AbsMax = fmin(c.AbsMin, a), -fmin(-c.AbsMax, -a)
		}
	}
	return c
}

// fmin is the smaller of a and b, or b if a is NaN.
func fmin(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func sameCounts(a, b driver.Counts) bool {
	same := equal(a.AbsMin, b.AbsMin) && equal(a.AbsMax, b.AbsMax)
	a.AbsMin, a.AbsMax, b.AbsMin, b.AbsMax = 0, 0, 0, 0
	return same && a == b
}

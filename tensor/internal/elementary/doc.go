// Package elementary provides the elementary functions of float64. Results have the
// same bits on every processor, and most are within one unit in the last place.
//
// The results of package math differ between processors: some functions are in assembly
// only on some processors, and the compiler may fuse a product and a sum if the processor
// has such an instruction. Here every product that is added to something is converted to
// float64 explicitly, which forbids fusing. [math.FMA], which is exact everywhere, gives
// the rounding error of a product where it is needed.
//
// Special values are those of package math.
package elementary

import "math"

// twoSum returns a + b rounded, and its rounding error: D. Knuth, The Art of
// Computer Programming, volume 2, 4.2.2, theorem B.
func twoSum(a, b float64) (hi, lo float64) {
	hi = a + b
	t := hi - a
	return hi, (a - (hi - t)) + (b - t)
}

// quickSum is twoSum for |a| >= |b|: T. Dekker, Numerische Mathematik 18 (1971).
func quickSum(a, b float64) (hi, lo float64) {
	hi = a + b
	return hi, b - (hi - a)
}

// twoProduct returns a * b rounded, and its rounding error.
func twoProduct(a, b float64) (hi, lo float64) {
	hi = float64(a * b)
	return hi, math.FMA(a, b, -hi)
}

// polynomial returns c[0] + c[1] x + c[2] x² + … by Horner's scheme.
func polynomial(c []float64, x float64) float64 {
	y := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		y = float64(y*x) + c[i]
	}
	return y
}

// ldexp returns y times 2^k for y between 0.5 and 2, rounded once.
func ldexp(y float64, k int) float64 {
	switch {
	case k >= -1021 && k <= 1022:
		return float64(y * power2(k))
	case k > 1022:
		if k > 1100 {
			return math.Inf(1)
		}
		return y * power2(k-100) * 0x1p100
	case k < -1200:
		return 0
	}
	return y * power2(k+600) * 0x1p-600
}

// power2 returns 2^k for the exponents of normal numbers.
func power2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

package linalg

import "math"

// Exp returns the exponential of the n by n matrix a, which it overwrites: Padé's approximation of degree 13
// for a divided by a power of 2, then repeated squaring: N. Higham, "The Scaling and
// Squaring Method for the Matrix Exponential Revisited", 2005.
func Exp(a []float64, n int) []float64 {
	const within = 5.371920351148152 // Higham's θ of degree 13
	norm := 0.0
	for j := range n {
		sum := 0.0
		for i := range n {
			sum += math.Abs(a[i*n+j])
		}
		norm = max(norm, sum)
	}
	squarings := 0
	for ; norm > within; norm /= 2 {
		squarings++
	}
	for i := range a {
		a[i] = math.Ldexp(a[i], -squarings)
	}
	b := [...]float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}
	a2 := Product(a, n, n, a, n)
	a4 := Product(a2, n, n, a2, n)
	a6 := Product(a4, n, n, a2, n)
	// sum is c[0] + c[1] a² + c[2] a⁴ + c[3] a⁶.
	sum := func(c ...float64) []float64 {
		out := zeros(n * n)
		for i := range n {
			out[i*n+i] = c[0]
		}
		for k, m := range [][]float64{a2, a4, a6} {
			subtract(out, m, -c[k+1])
		}
		return out
	}
	half := func(k int) []float64 { // odd degrees divided by a for k = 1, even degrees for k = 0
		out := Product(a6, n, n, sum(0, b[8+k], b[10+k], b[12+k]), n)
		subtract(out, sum(b[k], b[2+k], b[4+k], b[6+k]), -1)
		return out
	}
	u, v := Product(a, n, n, half(1), n), half(0)
	below := zeros(n * n)
	for i := range u {
		below[i] = v[i] - u[i]
		v[i] += u[i]
	}
	e := LU(below, n).Solve(v, n)
	for range squarings {
		e = Product(e, n, n, e, n)
	}
	return e
}

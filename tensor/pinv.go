package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// inversion is the pseudoinverse of a matrix, with the values it was computed from.
type inversion struct {
	p      []float64 // pseudoinverse (n, m)
	values []float64 // singular values in descending order
	rank   int       // number of singular values that are not taken as 0
}

// pseudoInvert returns the pseudoinverse of the m by n matrix a, which it overwrites. Singular
// values up to cut times the largest one are taken as 0. A QR decomposition first reduces the
// longer side, so that the singular value decomposition is of a small square matrix.
func pseudoInvert(a []float64, m, n int, cut func(largest float64) float64) inversion {
	if m < n {
		i := pseudoInvert(transposed(a, m, n), n, m, cut)
		i.p = transposed(i.p, m, n)
		return i
	}
	f := householder(a, m, n)
	u, s, v := jacobi(f.r(n), n, n)
	i := inversion{values: s}
	if n > 0 {
		limit := cut(s[0])
		for i.rank < n && s[i.rank] > limit {
			i.rank++
		}
	}
	for j := range n {
		scale := 0.0
		if j < i.rank {
			scale = 1 / s[j]
		}
		for row := range n {
			v[row*n+j] *= scale
		}
	}
	inner := product(v, n, n, transposed(u, n, n), n)
	i.p = product(inner, n, n, transposed(f.q(n), m, n), m)
	return i
}

// invertSymmetric is pseudoInvert for the symmetric n by n matrix a, whose singular values are
// its eigenvalues' magnitudes. It reports whether the eigenvalues converged.
func invertSymmetric(a []float64, n int, cut func(largest float64) float64) ([]float64, bool) {
	w, v, ok := eigen(a, n)
	if !ok {
		return nil, false
	}
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	scaled := hostSlice[float64]("linalg_pinv", n*n)
	for j, x := range w {
		if math.Abs(x) > cut(largest) {
			for i := range n {
				scaled[i*n+j] = v[i*n+j] / x
			}
		}
	}
	return product(scaled, n, n, transposed(v, n, n), n), true
}

// product returns the product of a (m, k) and b (k, n).
func product(a []float64, m, k int, b []float64, n int) []float64 {
	out := hostSlice[float64]("linalg_pinv", m*n)
	for i := range m {
		driver.Poll()
		row := out[i*n : (i+1)*n]
		for j := range k {
			subtract(row, b[j*n:], -a[i*k+j])
		}
	}
	return out
}

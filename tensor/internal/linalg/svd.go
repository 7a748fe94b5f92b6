package linalg

import (
	"cmp"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// SVD returns the singular value decomposition a = u diag(s) vᵀ of the m by n matrix a, m >=
// n, in row-major order: u (m, n), s in descending order, v (n, n). It is the one-sided Jacobi
// method (M. R. Hestenes, "Inversion of Matrices by Biorthogonalization and Related Results",
// 1958; J. Demmel and K. Veselić, "Jacobi's Method is More Accurate than QR", 1992).
func SVD(a []float64, m, n int) (u, s, v []float64) {
	columnsOfU := Transpose(a, m, n) // contiguous columns
	columnsOfV := zeros(n * n)
	for i := range n {
		columnsOfV[i*n+i] = 1
	}
	for range 60 {
		rotated := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				driver.Poll()
				rotated = orthogonalize(columnsOfU, columnsOfV, m, n, p, q) || rotated
			}
		}
		if !rotated {
			break
		}
	}
	u, v = Transpose(columnsOfU, n, m), Transpose(columnsOfV, n, n)
	s = make([]float64, n)
	for j := range n {
		s[j] = columnLength(u, m, n, j)
	}
	order := seq(n)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(s[j], s[i]) })
	u, s, v = columns(u, order, n), columns(s, order, n), columns(v, order, n)
	normalize(u, s, m, n)
	return u, s, v
}

// orthogonalize rotates columns p and q of u, of m elements, and of v, of n, to make them
// orthogonal in u. It reports whether they were not.
func orthogonalize(u, v []float64, m, n, p, q int) bool {
	x, y := u[p*m:(p+1)*m], u[q*m:(q+1)*m]
	var pp, qq, pq float64
	for i, a := range x {
		b := y[i]
		pp, qq, pq = pp+float64(a*a), qq+float64(b*b), pq+float64(a*b)
	}
	if !(math.Abs(pq) > 1e-16*math.Sqrt(pp*qq)) {
		return false
	}
	zeta := (qq - pp) / (2 * pq)
	t := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Sqrt(1+float64(zeta*zeta)))
	cos := 1 / math.Sqrt(1+float64(t*t))
	sin := cos * t
	rotate(x, y, cos, -sin)
	rotate(v[p*n:(p+1)*n], v[q*n:(q+1)*n], cos, -sin)
	return true
}

// columns returns the columns of x, with n per row, in another order.
func columns(x []float64, order []int, n int) []float64 {
	out := zeros(len(x))
	for i := range x {
		if i&(1<<16-1) == 0 {
			driver.Poll()
		}
		out[i] = x[i/n*n+order[i%n]]
	}
	return out
}

// normalize divides the columns of u by s. Where s is 0 it sets the column to a unit vector
// that is orthogonal to the columns before it.
func normalize(u, s []float64, m, n int) {
	for j := range n {
		driver.Poll()
		if s[j] > s[0]*1e-300 {
			for i := range m {
				u[i*n+j] /= s[j]
			}
			continue
		}
		for axis := range m {
			for i := range m {
				u[i*n+j] = 0
			}
			u[axis*n+j] = 1
			for range 2 { // twice is enough
				for k := range j {
					pollEach(k)
					dot := 0.0
					for i := range m {
						dot += float64(u[i*n+k] * u[i*n+j])
					}
					for i := range m {
						u[i*n+j] -= float64(dot * u[i*n+k])
					}
				}
			}
			length := columnLength(u, m, n, j)
			if length > 0.5/math.Sqrt(float64(m)) {
				for i := range m {
					u[i*n+j] /= length
				}
				break
			}
		}
	}
}

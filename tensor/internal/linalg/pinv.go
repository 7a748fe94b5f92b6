package linalg

import "math"

// Inverse is the pseudoinverse of a matrix, with the values it was computed from.
type Inverse struct {
	P      []float64 // pseudoinverse (n, m)
	Values []float64 // singular values in descending order
	Rank   int       // number of singular values that are not taken as 0
}

// PseudoInverse returns the pseudoinverse of the m by n matrix a, which it overwrites. Singular
// values up to cut times the largest one are taken as 0. A QR decomposition first reduces the
// longer side, so that the singular value decomposition is of a small square matrix.
func PseudoInverse(a []float64, m, n int, cut func(largest float64) float64) Inverse {
	if m < n {
		i := PseudoInverse(Transpose(a, m, n), n, m, cut)
		i.P = Transpose(i.P, m, n)
		return i
	}
	f := QR(a, m, n)
	u, s, v := SVD(f.R(n), n, n)
	i := Inverse{Values: s}
	if n > 0 {
		limit := cut(s[0])
		for i.Rank < n && s[i.Rank] > limit {
			i.Rank++
		}
	}
	for j := range n {
		scale := 0.0
		if j < i.Rank {
			scale = 1 / s[j]
		}
		for row := range n {
			v[row*n+j] *= scale
		}
	}
	inner := Product(v, n, n, Transpose(u, n, n), n)
	i.P = Product(inner, n, n, Transpose(f.Q(n), m, n), m)
	return i
}

// PseudoInverseSymmetric is PseudoInverse for the symmetric n by n matrix a, whose singular values are
// its eigenvalues' magnitudes. It reports whether the eigenvalues converged.
func PseudoInverseSymmetric(a []float64, n int, cut func(largest float64) float64) ([]float64, bool) {
	w, v, ok := Eigh(a, n)
	if !ok {
		return nil, false
	}
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	scaled := zeros(n * n)
	for j, x := range w {
		if math.Abs(x) > cut(largest) {
			for i := range n {
				scaled[i*n+j] = v[i*n+j] / x
			}
		}
	}
	return Product(scaled, n, n, Transpose(v, n, n), n), true
}

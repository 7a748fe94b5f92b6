package linalg

import (
	"math"

	"halfnote/tensor/driver"
)

// Reflections is the QR decomposition of an m by n matrix by Householder's method, with
// LAPACK's signs: r's diagonal is negative where its column's first element is not (E. Anderson
// and others, "LAPACK Users' Guide", dgeqr2 and dlarfg).
type Reflections struct {
	m, n int
	a    []float64 // r and, below its diagonal, the reflections' vectors, whose first element is 1
	tau  []float64 // factors of the reflections 1 - tau v vᵀ
}

// QR returns the decomposition of a, which it overwrites.
func QR(a []float64, m, n int) *Reflections {
	f := &Reflections{m, n, a, make([]float64, min(m, n))}
	sums := make([]float64, n)
	for j := range f.tau {
		driver.Poll()
		below := columnLength(a[(j+1)*n:], m-j-1, n, j)
		if below == 0 {
			continue // the column is already reduced
		}
		alpha := a[j*n+j]
		beta := -math.Copysign(length(alpha, below), alpha)
		f.tau[j] = (beta - alpha) / beta
		for i := j + 1; i < m; i++ {
			a[i*n+j] /= alpha - beta
		}
		a[j*n+j] = beta
		f.apply(j, a[j+1:], n, n-j-1, sums)
	}
	return f
}

// apply applies reflection j to the columns of x, a matrix of f.m rows that are stride apart.
func (f *Reflections) apply(j int, x []float64, stride, columns int, sums []float64) {
	if f.tau[j] == 0 || columns == 0 {
		return
	}
	sums = sums[:columns]
	copy(sums, x[j*stride:])
	for i := j + 1; i < f.m; i++ {
		subtract(sums, x[i*stride:], -f.a[i*f.n+j])
	}
	for i := range sums {
		sums[i] = float64(sums[i] * f.tau[j])
	}
	subtract(x[j*stride:j*stride+columns], sums, 1)
	for i := j + 1; i < f.m; i++ {
		subtract(x[i*stride:i*stride+columns], sums, f.a[i*f.n+j])
	}
}

// Q returns the first k columns of q, (m, k).
func (f *Reflections) Q(k int) []float64 {
	q := zeros(f.m * k)
	for i := range min(f.m, k) {
		q[i*k+i] = 1
	}
	sums := make([]float64, k)
	for j := len(f.tau) - 1; j >= 0; j-- {
		driver.Poll()
		f.apply(j, q, k, k, sums)
	}
	return q
}

// R returns the first k rows of r, (k, n).
func (f *Reflections) R(k int) []float64 {
	r := zeros(k * f.n)
	for i := range min(k, f.n) {
		copy(r[i*f.n+i:(i+1)*f.n], f.a[i*f.n+i:])
	}
	return r
}

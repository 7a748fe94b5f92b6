package linalg

import (
	"math"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

// Factors is the LU decomposition, with row exchanges, of an n by n matrix: Doolittle's method
// with partial pivoting (G. Golub and C. Van Loan, "Matrix Computations", section 3.4).
type Factors struct {
	n   int
	LU  []float64 // L below the diagonal, with an implicit unit diagonal, and U
	row []int     // original row of each row
	odd bool      // odd number of exchanges
}

// LU returns the decomposition of a, which it overwrites.
func LU(a []float64, n int) *Factors {
	f := &Factors{n: n, LU: a, row: seq(n)}
	for j := range n {
		driver.Poll()
		p := j
		for i := j + 1; i < n; i++ {
			if math.Abs(a[i*n+j]) > math.Abs(a[p*n+j]) {
				p = i
			}
		}
		if p != j {
			for k := range n {
				a[p*n+k], a[j*n+k] = a[j*n+k], a[p*n+k]
			}
			f.row[p], f.row[j] = f.row[j], f.row[p]
			f.odd = !f.odd
		}
		if a[j*n+j] == 0 {
			continue // singular
		}
		for i := j + 1; i < n; i++ {
			driver.Poll()
			a[i*n+j] /= a[j*n+j]
			for k := j + 1; k < n; k++ {
				a[i*n+k] -= float64(a[i*n+j] * a[j*n+k])
			}
		}
	}
	return f
}

// Det returns the determinant.
func (f *Factors) Det() float64 {
	d := 1.0
	if f.odd {
		d = -1
	}
	for i := range f.n {
		d *= f.LU[i*f.n+i]
	}
	return d
}

// LogDet returns the sign of the determinant and the logarithm of its magnitude.
func (f *Factors) LogDet() []float64 {
	sign, sum := 1.0, 0.0
	if f.odd {
		sign = -1
	}
	for i := range f.n {
		d := f.LU[i*f.n+i]
		switch {
		case d != d:
			return []float64{d, d}
		case d == 0:
			return []float64{0, math.Inf(-1)}
		case d < 0:
			sign = -sign
		}
		sum += elementary.Log(math.Abs(d))
	}
	return []float64{sign, sum}
}

// Pivots returns, for each row, the 1-based number of the row that it was exchanged with.
func (f *Factors) Pivots() []float64 {
	out := make([]float64, f.n)
	at, here := seq(f.n), seq(f.n) // current place of each row, and the row at each place
	for i, row := range f.row {
		p, other := at[row], here[i]
		out[i] = float64(p + 1)
		at[other], here[p] = p, other
		at[row], here[i] = i, row
	}
	return out
}

// Exchanges returns the order of rows after the exchanges of pivots, or after they have been
// undone.
func Exchanges(pivots []int64, undo bool) []int64 {
	order := make([]int64, len(pivots))
	for i := range order {
		order[i] = int64(i)
	}
	for i := range pivots {
		if undo {
			i = len(pivots) - 1 - i
		}
		p := pivots[i] - 1
		order[i], order[p] = order[p], order[i]
	}
	return order
}

// Singular reports whether a pivot is 0.
func (f *Factors) Singular() bool {
	for i := range f.n {
		if f.LU[i*f.n+i] == 0 {
			return true
		}
	}
	return false
}

// Solve returns x with a x = b for b (n, k).
func (f *Factors) Solve(b []float64, k int) []float64 {
	n := f.n
	x := zeros(n * k)
	for i := range n {
		copy(x[i*k:(i+1)*k], b[f.row[i]*k:])
		for j := range i {
			pollEach(j)
			subtract(x[i*k:(i+1)*k], x[j*k:], f.LU[i*n+j])
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			pollEach(j)
			subtract(x[i*k:(i+1)*k], x[j*k:], f.LU[i*n+j])
		}
		for c := range k {
			x[i*k+c] /= f.LU[i*n+i]
		}
	}
	return x
}

package linalg

import (
	"cmp"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// Eigh returns the eigenvalues w of the symmetric n by n matrix a, in ascending order, and the
// eigenvectors, as columns of v (n, n). It reads the lower triangle and overwrites a. Reflections reduce the
// matrix to tridiagonal form, which rotations with Wilkinson's shift diagonalise: G. Golub and
// C. Van Loan, "Matrix Computations", sections 8.3.1 to 8.3.3. ok reports whether the rotations
// converged.
func Eigh(a []float64, n int) (w, v []float64, ok bool) {
	most := 0.0
	for i := range a {
		if i%n <= i/n {
			most = max(most, math.Abs(a[i]))
		}
	}
	if math.IsInf(most, 0) || most != most {
		return nil, nil, false
	}
	_, exponent := math.Frexp(most)
	for i := range a {
		a[i] = math.Ldexp(a[i], -exponent) // squares neither overflow nor underflow
	}
	d, e, q := tridiagonal(a, n)
	if !diagonalize(d, e, q, n) {
		return nil, nil, false
	}
	order := seq(n)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d[i], d[j]) })
	w, v = make([]float64, n), make([]float64, n*n)
	for j, k := range order {
		w[j] = math.Ldexp(d[k], exponent)
		for i := range n {
			v[i*n+j] = q[k*n+i]
		}
	}
	return w, v, true
}

// tridiagonal returns the diagonal d and the off-diagonal e of q a qᵀ, for a symmetric a, whose
// lower triangle it overwrites, and an orthogonal q.
func tridiagonal(a []float64, n int) (d, e, q []float64) {
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
	d, e = make([]float64, n), make([]float64, max(n-1, 0))
	tau := make([]float64, n)
	v, p := make([]float64, n), make([]float64, n)
	for k := range max(n-2, 0) {
		driver.Poll()
		below := columnLength(a[(k+2)*n:], n-k-2, n, k)
		if below == 0 {
			continue
		}
		alpha := a[(k+1)*n+k]
		beta := -math.Copysign(length(alpha, below), alpha)
		tau[k] = (beta - alpha) / beta
		a[(k+1)*n+k] = beta
		v[k+1] = 1
		for i := k + 2; i < n; i++ {
			a[i*n+k] /= alpha - beta
			v[i] = a[i*n+k]
		}
		reflectBothSides(a, n, k+1, v, p, tau[k])
	}
	for i := range n {
		d[i] = a[i*n+i]
		if i > 0 {
			e[i-1] = a[i*n+i-1]
		}
	}
	return d, e, accumulated(a, tau, n)
}

// reflectBothSides replaces the rows and columns of a from first on by h a h, h = 1 - tau v vᵀ.
// p is scratch memory.
func reflectBothSides(a []float64, n, first int, v, p []float64, tau float64) {
	dot := 0.0
	for i := first; i < n; i++ {
		sum := 0.0
		for j := first; j < n; j++ {
			sum += float64(a[i*n+j] * v[j])
		}
		p[i] = float64(tau * sum)
		dot += float64(p[i] * v[i])
	}
	for i := first; i < n; i++ {
		p[i] -= float64(float64(tau/2*dot) * v[i])
	}
	for i := first; i < n; i++ {
		row := a[i*n : (i+1)*n]
		subtract(row[first:], p[first:n], v[i])
		subtract(row[first:], v[first:n], p[i])
	}
}

// accumulated returns the product q of the reflections whose vectors are stored below a's
// subdiagonal, last first.
func accumulated(a, tau []float64, n int) []float64 {
	q := make([]float64, n*n)
	for i := range n {
		q[i*n+i] = 1
	}
	v := make([]float64, n)
	for k := n - 3; k >= 0; k-- {
		driver.Poll()
		if tau[k] == 0 {
			continue
		}
		v[k+1] = 1
		for i := k + 2; i < n; i++ {
			v[i] = a[i*n+k]
		}
		for i := k + 1; i < n; i++ { // q was 1 before
			row := q[i*n : (i+1)*n]
			sum := 0.0
			for j := k + 1; j < n; j++ {
				sum += float64(row[j] * v[j])
			}
			subtract(row[k+1:], v[k+1:n], float64(tau[k]*sum))
		}
	}
	return q
}

// diagonalize rotates neighbours until the off-diagonal e of the diagonal d is 0, and rotates
// the rows of q with them. It reports whether that took fewer than 30 rounds per element.
func diagonalize(d, e, q []float64, n int) bool {
	for end, rounds := n-1, 0; end > 0; rounds++ {
		driver.Poll()
		if rounds > 30*n {
			return false
		}
		small := func(i int) bool { return math.Abs(e[i]) <= 0x1p-53*(math.Abs(d[i])+math.Abs(d[i+1])) }
		if small(end - 1) {
			e[end-1] = 0
			end--
			continue
		}
		first := end - 1
		for first > 0 && !small(first-1) {
			first--
		}
		if first > 0 {
			e[first-1] = 0
		}
		shrink(d, e, q, n, first, end)
	}
	return true
}

// shrink performs one round of rotations from first to end.
func shrink(d, e, q []float64, n, first, end int) {
	half := float64((d[end-1] - d[end]) / 2)
	root := length(half, e[end-1])
	shift := d[end] - float64(e[end-1]/(half+math.Copysign(root, half))*e[end-1])
	x, z := d[first]-shift, e[first]
	for k := first; k < end; k++ {
		r := length(x, z)
		cos, sin := 1.0, 0.0
		if r != 0 {
			cos, sin = x/r, z/r
		}
		if k > first {
			e[k-1] = r
		}
		// The rotated block of d[k], e[k], d[k+1].
		a, b, c := d[k], e[k], d[k+1]
		t := float64((float64(sin*(c-a)) + float64(2*cos*b)) * sin)
		d[k], d[k+1] = a+t, c-t
		e[k] = float64(float64(cos*sin)*(c-a)) + float64(float64(float64(cos*cos)-float64(sin*sin))*b)
		if k+1 < end {
			x, z = e[k], float64(sin*e[k+1])
			e[k+1] = float64(e[k+1] * cos)
		}
		rotate(q[k*n:(k+1)*n], q[(k+1)*n:(k+2)*n], cos, sin)
	}
}

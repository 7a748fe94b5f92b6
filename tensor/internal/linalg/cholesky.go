package linalg

import (
	"math"

	"halfnote/tensor/driver"
)

// Cholesky returns the lower triangular l with a = l lᵀ, and whether it exists.
func Cholesky(a []float64, n int) (l []float64, ok bool) {
	l = zeros(n * n)
	for j := range n {
		driver.Poll()
		for i := j; i < n; i++ {
			pollEach(i)
			s := a[i*n+j]
			for k := range j {
				s -= float64(l[i*n+k] * l[j*n+k])
			}
			switch {
			case i > j:
				l[i*n+j] = s / l[j*n+j]
			case !(s > 0):
				return nil, false
			default:
				l[i*n+i] = math.Sqrt(s)
			}
		}
	}
	return l, true
}

package linalg

import "halfnote/tensor/driver"

// Substitute solves a x = b for x (n, k), by substitution. x holds b on entry, which it overwrites. It reads one
// triangle of the n by n matrix a: the upper one if upper is set, and no diagonal if unit is
// set, where it is 1.
func Substitute(a []float64, n int, x []float64, k int, upper, unit bool) {
	for step := range n {
		driver.Poll()
		i, from, to := step, 0, step
		if upper {
			i = n - 1 - step
			from, to = i+1, n
		}
		row := x[i*k : (i+1)*k]
		for j := from; j < to; j++ {
			subtract(row, x[j*k:], a[i*n+j])
		}
		for c := range row {
			if !unit {
				row[c] /= a[i*n+i]
			}
		}
	}
}

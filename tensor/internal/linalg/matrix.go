package linalg

import (
	"math"

	"halfnote/tensor/driver"
)

// Product returns the product of a (m, k) and b (k, n).
func Product(a []float64, m, k int, b []float64, n int) []float64 {
	out := zeros(m * n)
	for i := range m {
		driver.Poll()
		row := out[i*n : (i+1)*n]
		for j := range k {
			subtract(row, b[j*n:], -a[i*k+j])
		}
	}
	return out
}

// Transpose returns the transpose (n, m) of a (m, n).
func Transpose(a []float64, m, n int) []float64 {
	out := zeros(len(a))
	for i := range a {
		if i&(1<<16-1) == 0 {
			driver.Poll()
		}
		out[i%n*m+i/n] = a[i]
	}
	return out
}

// subtract subtracts c y from x.
func subtract(x, y []float64, c float64) {
	for i := range x {
		x[i] -= float64(c * y[i])
	}
}

// rotate replaces x by cos x + sin y, and y by cos y - sin x.
func rotate(x, y []float64, cos, sin float64) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		x[i], y[i] = float64(cos*a)+float64(sin*b), float64(cos*b)-float64(sin*a)
	}
}

// columnLength returns the length of column j. The bits of math.Hypot depend on the processor.
func columnLength(u []float64, m, n, j int) float64 {
	most, sum := 0.0, 0.0
	for i := range m {
		most = max(most, math.Abs(u[i*n+j]))
	}
	if most == 0 || math.IsInf(most, 1) {
		return most
	}
	for i := range m {
		x := u[i*n+j] / most
		sum += float64(x * x)
	}
	return most * math.Sqrt(sum)
}

// length returns √(x² + y²). The bits of math.Hypot depend on the processor.
func length(x, y float64) float64 { return float64(columnLength([]float64{x, y}, 2, 1, 0)) }

// seq returns 0, 1, … n-1.
func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// pollEach polls for an interrupt every few rows.
func pollEach(row int) {
	if row&31 == 0 {
		driver.Poll()
	}
}

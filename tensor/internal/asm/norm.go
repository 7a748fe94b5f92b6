package asm

import "unsafe"

// Norms are a tier's passes of normalisations and reductions, on float32, each operation
// rounded; those that it has not got are nil. Sums are in 16 lanes, as [Loops].Sum
// has them. Each kernel's comment is the Go loop of the same name in package cpu. A
// name with Row takes a weight (and a bias) for each element, one without the same for
// all.
type Norms struct {
	Normalize, NormalizeRow func(dst, x, w, b unsafe.Pointer, n int, c *[2]float32)
	Grad, GradRow           func(dst, dy, x, w unsafe.Pointer, n int, c *[4]float32)
	Sums, SumsRow           func(sums *[2]float32, dy, x, w unsafe.Pointer, n int, c *[2]float32)
	Columns                 func(first, second, dy, x unsafe.Pointer, n int, c *[2]float32)
	CentredSquares          func(x unsafe.Pointer, n int, mean float32) float32
	SumRows                 func(dst, x unsafe.Pointer, rows, n, stride int)
}

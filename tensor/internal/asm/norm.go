package asm

import "unsafe"

// Norms are a tier's passes of normalisations, reductions and copies of rows, on float32,
// each operation rounded; those that it has not got are nil. Sums are in 16 lanes, as [Loops].Sum
// has them. Each kernel's comment is the Go loop of the same name in package cpu. A
// name with Row takes a weight (and a bias) for each element, one without the same for
// all.
type Norms struct {
	Normalize, NormalizeRow func(dst, x unsafe.Pointer, rows, n int, f *Factors)
	Grad, GradRow           func(dst, dy, x unsafe.Pointer, rows, n int, f *Factors)
	Sums, SumsRow           func(first, second, dy, x unsafe.Pointer, rows, n int, f *Factors)
	Columns                 func(first, second, dy, x unsafe.Pointer, rows, n, stride, lane, apart int, f *Factors)
	SumColumns              func(sums, x unsafe.Pointer, rows, n, stride, lane, apart int)
	CopyRows                func(dst, src unsafe.Pointer, rows, n, dstride, sstride int)
	CentredSquares          func(x unsafe.Pointer, n int, mean float32) float32
	SumRows                 func(dst, x unsafe.Pointer, rows, n, stride int)
}

// Factors are where the operands of a row lie that repeat along it, and how many bytes
// further those of the next row.
type Factors struct {
	At   [5]unsafe.Pointer
	Step [5]int
}

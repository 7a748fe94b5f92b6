package asm

import "unsafe"

// Norms holds a tier's float32 kernels of normalisations, reductions and copies of rows. Those that
// the tier lacks are nil. Each operation is rounded, and sums are in 16 lanes like [Loops].Sum. The
// definition of each kernel is the Go loop of the same name in package cpu. Kernels named Row take a
// weight (and a bias) for each element; the others take one for all elements.
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

// Factors holds the addresses of the first row's factors, and their distances from row to row in
// bytes.
type Factors struct {
	At   [5]unsafe.Pointer
	Step [5]int
}

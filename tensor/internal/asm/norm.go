package asm

import "unsafe"

// Norms holds a tier's kernels of normalisations, reductions and copies of rows. Those that the tier
// lacks are nil.
type Norms struct {
	RowKernels                   // of float32
	Float16, BFloat16 RowKernels // Columns and statistics are float32
	CopyRows          func(dst, src unsafe.Pointer, rows, n, dstride, sstride int)
	SpreadRows        func(dst, src unsafe.Pointer, rows, n, dstride, sstride int) // n elements of two bytes
}

// RowKernels holds kernels that read and write rows of one dtype. Halves are widened in registers and
// rounded once. Factors, sums and the rows called room are float32. Each operation is rounded, and sums
// are in 16 lanes like [Loops].Sum. The definition of each kernel is the Go loop of the same name in
// package cpu. Kernels named Row take a weight (and a bias) for each element; the others take one for
// all elements.
type RowKernels struct {
	Normalize, NormalizeRow func(dst, x unsafe.Pointer, rows, n int, f *Factors)
	NormGrad, NormGradRow   func(dst, dy, x unsafe.Pointer, rows, n int, f *Factors)
	NormSums, NormSumsRow   func(first, second, dy, x unsafe.Pointer, rows, n int, f *Factors)
	NormColumns             func(first, second, dy, x unsafe.Pointer, rows, n, stride, lane, apart int, f *Factors)
	SumColumns              func(sums, x unsafe.Pointer, rows, n, stride, lane, apart int)
	SumRows                 func(dst, x unsafe.Pointer, rows, n, stride int)
	CentredRows             func(dst, x, means unsafe.Pointer, rows, n, stride int)

	// Softmax is ExpRows and QuotientRows, and its logarithm is ShiftRows and LowerRows, with the
	// logarithms of the sums between the two. The rows of room are adjacent. Rows have at least one
	// element.
	ExpRows, ShiftRows                  func(room, sums, x unsafe.Pointer, rows, n int)
	QuotientRows, LowerRows             func(dst, room, by unsafe.Pointer, rows, n int)
	SoftmaxGradRows, LogSoftmaxGradRows func(dst, dy, y unsafe.Pointer, rows, n int)
}

// Factors holds the addresses of the first row's factors, and their distances from row to row in
// bytes.
type Factors struct {
	At   [5]unsafe.Pointer
	Step [5]int
}

// Package linalg computes decompositions of dense matrices: LU, Cholesky, QR, singular values,
// eigenvalues of symmetric matrices; and what follows from them: solutions, determinants,
// pseudoinverses, exponentials.
//
// A matrix (m, n) is a slice of m n float64 values in row-major order. Functions check no sizes.
// Results are new slices, unless the comment says that an operand is overwritten.
//
// Results have the same bits on every processor: sums run in the order of the indices, and every
// product that is added to something is converted to float64 explicitly, which forbids the
// compiler to fuse the two. Other libraries give up one of these for speed.
//
// Long loops poll for interrupts. What does not fit into memory panics with [NoRoom]. The
// package knows nothing of tensors, batches, dtypes and derivatives, which are package tensor's.
package linalg

import "halfnote/tensor/driver"

// NoRoom is the panic of a function whose result does not fit into memory.
type NoRoom struct{ Why error }

// zeros returns n zeros. It panics with NoRoom if memory is short.
func zeros(n int) []float64 {
	if err := driver.Room(n, 8); err != nil {
		panic(NoRoom{err})
	}
	return make([]float64, n)
}

// Package linalg computes decompositions of dense matrices: LU, Cholesky, QR, singular values,
// eigenvalues of symmetric matrices; and what follows from them: solutions, determinants,
// pseudoinverses, exponentials.
//
// A matrix (m, n) is a slice of m n float64 values in row-major order. Functions check no sizes.
// They change an operand only where their comment has the word "overwrites".
//
// Results have the same bits on every processor: sums run in the order of the indices, and every
// product that is added to something is converted to float64 explicitly, which forbids the
// compiler to fuse the two. Other libraries give up one of these for speed.
//
// Long loops poll for interrupts. A result that does not fit into memory is a panic with [NoRoom].
// Tensors, batches, dtypes and derivatives are the subject of package tensor.
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

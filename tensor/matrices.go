package tensor

import (
	"slices"

	"halfnote/tensor/internal/linalg"
)

// A decomposition has several results, but an operation has one. The results for each matrix
// are packed one after another along the last dimension.

// bundle is the list of shapes of the results packed for one matrix.
type bundle [][]int

// shape returns the shape of the packed tensor for the given batch dimensions.
func (p bundle) shape(leading []int) []int {
	total := 0
	for _, s := range p {
		total += size(s)
	}
	return append(slices.Clone(leading), total)
}

// parts unpacks y.
func (p bundle) parts(y *Tensor) []*Tensor {
	leading := y.shape[:len(y.shape)-1]
	out, from := make([]*Tensor, len(p)), 0
	for i, s := range p {
		out[i] = y.Slice(-1, from, from+size(s)).Reshape(slices.Concat(leading, s)...)
		from += size(s)
	}
	return out
}

// floatMatrices returns the numbers of rows and columns of the matrices t (…, m, n). It panics
// unless t has at least 2 dimensions and a floating-point dtype.
func floatMatrices(op string, t *Tensor) (m, n int) {
	matrices(op, t, 0)
	if !t.dtype.IsFloat() {
		failDType(op, []*Tensor{t}, "want a floating-point dtype")
	}
	return t.shape[len(t.shape)-2], t.shape[len(t.shape)-1]
}

// matrices returns k. It panics if t has fewer than 2 dimensions.
func matrices(op string, t *Tensor, k int) int {
	given(op, t)
	if len(t.shape) < 2 {
		fail(op, []*Tensor{t}, "t is %d-D; want at least 2-D, (…, m, n)", len(t.shape))
	}
	return k
}

// checkSquare panics unless t is a batch of square floating-point matrices.
func checkSquare(op string, t *Tensor) {
	given(op, t)
	r := len(t.shape)
	if r < 2 || t.shape[r-2] != t.shape[r-1] {
		fail(op, []*Tensor{t}, "t is not a batch of square matrices; want (…, n, n)")
	}
	if !t.dtype.IsFloat() {
		failDType(op, []*Tensor{t}, "want a floating-point dtype")
	}
}

// regular returns the LU decomposition of matrix b of a batch. It panics if the matrix is
// singular.
func regular(op string, in []*Tensor, b int, a []float64, n int) *linalg.Factors {
	f := linalg.LU(a, n)
	if f.Singular() {
		fail(op, in, "matrix %d is singular; want an invertible matrix, or use Pinv or Lstsq", b)
	}
	return f
}

// eachMatrix calls f of op with each matrix of x: its number b, its elements a and its row length
// n. It returns the results in a tensor of the given shape and x's dtype.
func eachMatrix(op string, x *Tensor, shape []int, f func(b int, a []float64, n int) []float64) *Tensor {
	defer noRoom(op)
	r := len(x.shape)
	m, n := x.shape[r-2], x.shape[r-1]
	y := newTensor(x.mem.backend, Float64, slices.Clone(shape)) // panics if it does not fit into memory
	values := convert(x, Float64).Float64s()
	out := hostSlice[float64](op, size(shape))[:0]
	for b := range size(x.shape[:r-2]) {
		out = append(out, f(b, values[b*m*n:(b+1)*m*n], n)...)
	}
	return narrow(y.setFloat64s(out), x.dtype)
}

// systems returns a (…, n, n) and b (…, n, k) with their leading dimensions broadcast. It
// panics if they do not match.
func systems(op string, a, b *Tensor) (_, _ *Tensor) {
	given(op, a, b)
	in := []*Tensor{a, b}
	ra, rb := len(a.shape), len(b.shape)
	if rb < 2 || a.shape[ra-2] != b.shape[rb-2] {
		fail(op, in, "matrix and right-hand side do not match; want the same number of rows, (…, m, n) and (…, m, k)")
	}
	leading, ok := broadcastShapes(a.shape[:ra-2], b.shape[:rb-2])
	if !ok {
		fail(op, in, "the leading dimensions do not broadcast; want (…, n, n) and (…, n, k)")
	}
	return a.expandTo(slices.Concat(leading, a.shape[ra-2:])), b.expandTo(slices.Concat(leading, b.shape[rb-2:]))
}

// finite panics unless all elements of x are finite.
func finite(op string, x *Tensor) {
	s, all := current(), true
	s.hidden, s.caster = true, nil
	s.do(func() { all = x.Detach().IsFinite().All().Item() != 0 })
	if !all {
		fail(op, []*Tensor{x}, "an element is not finite; want finite elements")
	}
}

// mT returns the transposes of matrices.
func (t *Tensor) mT() *Tensor { return t.Transpose(-1, -2) }

// noRoom makes a panic of package linalg for want of memory an Error of op. It is deferred.
func noRoom(op string) {
	v := recover()
	if short, ok := v.(linalg.NoRoom); ok {
		panic(named(&Error{Op: op, Why: short.Why.Error()}))
	}
	if v != nil {
		panic(v)
	}
}

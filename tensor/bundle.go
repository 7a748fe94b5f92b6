package tensor

import "slices"

// A decomposition has several results, and an operation has one: it packs the results for a
// matrix one after another in its last dimension.

// bundle is the shapes of the results that are packed for one matrix.
type bundle [][]int

// shape returns the shape of the packed tensor, for the leading sizes of a batch of matrices.
func (p bundle) shape(leading []int) []int {
	total := 0
	for _, s := range p {
		total += size(s)
	}
	return append(slices.Clone(leading), total)
}

// parts returns the results that y packs.
func (p bundle) parts(y *Tensor) []*Tensor {
	leading := y.shape[:len(y.shape)-1]
	out, from := make([]*Tensor, len(p)), 0
	for i, s := range p {
		out[i] = y.Slice(-1, from, from+size(s)).Reshape(slices.Concat(leading, s)...)
		from += size(s)
	}
	return out
}

// floatMatrices returns the numbers of rows and columns of the matrices t (…, m, n). It
// panics unless t has two dimensions or more and a floating-point dtype.
func floatMatrices(op string, t *Tensor) (m, n int) {
	matrices(op, t, 0)
	if !t.dtype.IsFloat() {
		failDType(op, []*Tensor{t}, "expected a floating-point dtype")
	}
	return t.shape[len(t.shape)-2], t.shape[len(t.shape)-1]
}

package tensor

import "slices"

// A decomposition gives several tensors, and an operation one: it packs those of a matrix
// one after another in the last dimension.

// bundle is the shapes of what is packed for one matrix.
type bundle [][]int

// shape returns the shape of the packed tensor of matrices that leading counts.
func (p bundle) shape(leading []int) []int {
	total := 0
	for _, s := range p {
		total += size(s)
	}
	return append(slices.Clone(leading), total)
}

// parts returns what y packs.
func (p bundle) parts(y *Tensor) []*Tensor {
	leading := y.shape[:len(y.shape)-1]
	out, from := make([]*Tensor, len(p)), 0
	for i, s := range p {
		out[i] = y.Slice(-1, from, from+size(s)).Reshape(slices.Concat(leading, s)...)
		from += size(s)
	}
	return out
}

// floatMatrices returns the rows and columns of the matrices t (…, m, n), and panics unless it is of those.
func floatMatrices(op string, t *Tensor) (m, n int) {
	matrices(op, t, 0)
	if !t.dtype.IsFloat() {
		failDType(op, []*Tensor{t}, "expected a floating-point dtype")
	}
	return t.shape[len(t.shape)-2], t.shape[len(t.shape)-1]
}

package tensor

import "slices"

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

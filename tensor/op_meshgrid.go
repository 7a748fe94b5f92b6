package tensor

import "slices"

// Meshgrid returns the coordinates of a grid: tensor i has the elements of vector i along
// dimension i, repeated along all other dimensions. It is torch.meshgrid with indexing
// "ij".
func Meshgrid(vectors ...*Tensor) []*Tensor {
	given("meshgrid", vectors...)
	shape := make([]int, len(vectors))
	for i, v := range vectors {
		if len(v.shape) > 1 {
			fail("meshgrid", vectors, "operand %d is %d-D; want vectors", i, len(v.shape))
		}
		shape[i] = v.Numel()
	}
	out := make([]*Tensor, len(vectors))
	for i, v := range vectors {
		alone := slices.Repeat([]int{1}, len(vectors))
		alone[i] = shape[i]
		out[i] = v.Reshape(alone...).expandTo(shape)
	}
	return out
}

// CartesianProd returns all tuples of the vectors' elements as rows. The last vector's elements
// change fastest. It is torch.cartesian_prod.
func CartesianProd(vectors ...*Tensor) *Tensor {
	given("cartesian_prod", vectors...)
	columns := Meshgrid(vectors...)
	for i, c := range columns {
		columns[i] = c.Ravel()
	}
	if len(columns) == 1 {
		return columns[0]
	}
	return Stack(1, columns...)
}

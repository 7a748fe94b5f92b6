package tensor

// Reductions that select, count or measure elements.

// Amax is [Tensor.Amax] with size 1 left along dims.
func (k KeepDim) Amax(dims ...int) *Tensor {
	return apply(amax{k.over("amax", dims).nonEmpty("amax", k.x)}, k.x)
}

// Amin is [Tensor.Amin] with size 1 left along dims.
func (k KeepDim) Amin(dims ...int) *Tensor {
	return apply(amin{k.over("amin", dims).nonEmpty("amin", k.x)}, k.x)
}

// Aminmax is [Tensor.Aminmax] with size 1 left along dims.
func (k KeepDim) Aminmax(dims ...int) (smallest, largest *Tensor) {
	return k.Amin(dims...), k.Amax(dims...)
}

// Argmax is [Tensor.Argmax] with size 1 left along dims.
func (k KeepDim) Argmax(dims ...int) *Tensor {
	return apply(argmax{k.over("argmax", dims).nonEmpty("argmax", k.x)}, k.x)
}

// Argmin is [Tensor.Argmin] with size 1 left along dims.
func (k KeepDim) Argmin(dims ...int) *Tensor {
	return apply(argmin{k.over("argmin", dims).nonEmpty("argmin", k.x)}, k.x)
}

// Max is [Tensor.Max] with size 1 left along dim.
func (k KeepDim) Max(dim int) (values, indices *Tensor) {
	return k.x.chosen(k.x.Detach().KeepDim().Argmax(dim), dim)
}

// Min is [Tensor.Min] with size 1 left along dim.
func (k KeepDim) Min(dim int) (values, indices *Tensor) {
	return k.x.chosen(k.x.Detach().KeepDim().Argmin(dim), dim)
}

// Median is [Tensor.Median] with size 1 left along dim.
func (k KeepDim) Median(dim int) (values, indices *Tensor) { return k.x.median(dim) }

// Mode is [Tensor.Mode] with size 1 left along dim.
func (k KeepDim) Mode(dim int) (values, indices *Tensor) { return k.x.mode(dim) }

// KthValue is [Tensor.KthValue] with size 1 left along dim.
func (k KeepDim) KthValue(n, dim int) (values, indices *Tensor) { return k.x.kthValue(n, dim) }

// NanMedian is [Tensor.NanMedian] with size 1 left along dim.
func (k KeepDim) NanMedian(dim int) (values, indices *Tensor) { return k.x.nanMedian(dim) }

// Quantile is [Tensor.Quantile] with size 1 left along dim.
func (k KeepDim) Quantile(q float64, dim int) *Tensor { return k.back(k.x.Quantile(q, dim), dim, 0) }

// Quantiles is [Tensor.Quantiles] with size 1 left along dim of t.
func (k KeepDim) Quantiles(q []float64, dim int, o QuantileOptions) *Tensor {
	return k.back(k.x.Quantiles(q, dim, o), dim, 1)
}

// NanQuantile is [Tensor.NanQuantile] with size 1 left along dim.
func (k KeepDim) NanQuantile(q float64, dim int) *Tensor {
	return k.back(k.x.NanQuantile(q, dim), dim, 0)
}

// NanQuantiles is [Tensor.NanQuantiles] with size 1 left along dim of t.
func (k KeepDim) NanQuantiles(q []float64, dim int, o QuantileOptions) *Tensor {
	return k.back(k.x.NanQuantiles(q, dim, o), dim, 1)
}

// back returns y, which has extra leading dimensions compared with t, with size 1 restored at
// dim.
func (k KeepDim) back(y *Tensor, dim, before int) *Tensor {
	n := len(k.x.shape)
	if n == 0 {
		return y
	}
	return y.Unsqueeze(before + (dim+n)%n)
}

// All is [Tensor.All] with size 1 left along dims.
func (k KeepDim) All(dims ...int) *Tensor {
	return apply(counting{k.over("all", dims), "all", everyOne}, k.x.Detach())
}

// Any is [Tensor.Any] with size 1 left along dims.
func (k KeepDim) Any(dims ...int) *Tensor {
	return apply(counting{k.over("any", dims), "any", atLeastOne}, k.x.Detach())
}

// CountNonzero is [Tensor.CountNonzero] with size 1 left along dims, for which
// torch.count_nonzero has no argument.
func (k KeepDim) CountNonzero(dims ...int) *Tensor {
	return apply(counting{k.over("count_nonzero", dims), "count_nonzero", nil}, k.x.Detach())
}

// Norm is [Tensor.Norm] with size 1 left along dims.
func (k KeepDim) Norm(dims ...int) *Tensor { return k.NormWith(2, PNormOptions{Dims: dims}) }

// NormWith is [Tensor.NormWith] with size 1 left along the dimensions.
func (k KeepDim) NormWith(p float64, o PNormOptions) *Tensor {
	n, x := newNorm("norm", k.x, p, o)
	n.keep = true
	return apply(n, x)
}

// VectorNorm is [Tensor.VectorNorm] with size 1 left along the dimensions.
func (k KeepDim) VectorNorm(p float64, o PNormOptions) *Tensor {
	n, x := newNorm("linalg_vector_norm", k.x, p, o)
	n.keep = true
	return apply(vectorNorm{n}, x)
}

// MatrixNorm is [Tensor.MatrixNorm] with size 1 left along the two dimensions.
func (k KeepDim) MatrixNorm(order string, o PNormOptions) *Tensor {
	m, x := newMatrixNorm("linalg_matrix_norm", k.x, order, o)
	m.keep = true
	return apply(m, x)
}

// FrobeniusNorm is [Tensor.FrobeniusNorm] with size 1 left along the two dimensions.
func (k KeepDim) FrobeniusNorm(o PNormOptions) *Tensor {
	m, x := newMatrixNorm("frobenius_norm", k.x, "fro", o)
	m.keep = true
	return apply(frobeniusNorm{m}, x)
}

// NuclearNorm is [Tensor.NuclearNorm] with size 1 left along the two dimensions.
func (k KeepDim) NuclearNorm(o PNormOptions) *Tensor {
	m, x := newMatrixNorm("nuclear_norm", k.x, "nuc", o)
	m.keep = true
	return apply(nuclearNorm{m}, x)
}

// PairwiseDistance is [Tensor.PairwiseDistance] with size 1 left along the last dimension.
func (k KeepDim) PairwiseDistance(o *Tensor, p, eps float64) *Tensor {
	broadcast("pairwise_distance", []*Tensor{k.x, o})
	return k.x.Sub(o).AddScalar(eps).KeepDim().NormWith(p, PNormOptions{Dims: []int{-1}})
}

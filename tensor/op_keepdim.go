package tensor

// KeepDim provides a tensor's reductions with keepdim=True: reduced dimensions keep size 1
// instead of being dropped. Arguments, results and derivatives are otherwise the same.
type KeepDim struct{ x *Tensor }

// KeepDim returns the reductions of t that keep dimensions: x.KeepDim().Sum(1) is torch.sum(x,
// 1, keepdim=True).
func (t *Tensor) KeepDim() KeepDim { return KeepDim{t} }

// over returns a reduction over dims, or over all dimensions if none are given. Reduced
// dimensions keep size 1.
func (k KeepDim) over(op string, dims []int) over { return over{axes(op, k.x, dims), true} }

// Sum is [Tensor.Sum] with size 1 left along dims.
func (k KeepDim) Sum(dims ...int) *Tensor { return apply(sum{over: k.over("sum", dims)}, k.x) }

// SumAs is [Tensor.SumAs] with size 1 left along dims.
func (k KeepDim) SumAs(d DType, dims ...int) *Tensor {
	return apply(sum{k.over("sum", dims), true}, k.x.To(d))
}

// NanSum is [Tensor.NanSum] with size 1 left along dims.
func (k KeepDim) NanSum(dims ...int) *Tensor {
	return apply(nansum{over: k.over("nansum", dims)}, k.x)
}

// NanSumAs is [Tensor.NanSumAs] with size 1 left along dims.
func (k KeepDim) NanSumAs(d DType, dims ...int) *Tensor {
	return apply(nansum{k.over("nansum", dims), true}, k.x.countable(d))
}

// Prod is [Tensor.Prod] with size 1 left along dims.
func (k KeepDim) Prod(dims ...int) *Tensor { return apply(prod{over: k.over("prod", dims)}, k.x) }

// ProdAs is [Tensor.ProdAs] with size 1 left along dims.
func (k KeepDim) ProdAs(d DType, dims ...int) *Tensor {
	return apply(prod{k.over("prod", dims), true}, k.x.To(d))
}

// Mean is [Tensor.Mean] with size 1 left along dims.
func (k KeepDim) Mean(dims ...int) *Tensor { return apply(mean{k.over("mean", dims)}, k.x) }

// MeanAs is [Tensor.MeanAs] with size 1 left along dims.
func (k KeepDim) MeanAs(d DType, dims ...int) *Tensor { return k.x.To(d).KeepDim().Mean(dims...) }

// NanMean is [Tensor.NanMean] with size 1 left along dims.
func (k KeepDim) NanMean(dims ...int) *Tensor {
	return k.over("nanmean", dims).nanMean(k.x)
}

// NanMeanAs is [Tensor.NanMeanAs] with size 1 left along dims.
func (k KeepDim) NanMeanAs(d DType, dims ...int) *Tensor {
	return k.x.To(d).KeepDim().NanMean(dims...)
}

// Var is [Tensor.Var] with size 1 left along dims.
func (k KeepDim) Var(dims ...int) *Tensor { return k.VarWith(1, dims...) }

// VarWith is [Tensor.VarWith] with size 1 left along dims.
func (k KeepDim) VarWith(correction float64, dims ...int) *Tensor {
	return apply(variance{k.over("var", dims), correction, false}, k.x)
}

// Std is [Tensor.Std] with size 1 left along dims.
func (k KeepDim) Std(dims ...int) *Tensor { return k.StdWith(1, dims...) }

// StdWith is [Tensor.StdWith] with size 1 left along dims.
func (k KeepDim) StdWith(correction float64, dims ...int) *Tensor {
	return apply(variance{k.over("std", dims), correction, true}, k.x)
}

// VarMean is [Tensor.VarMean] with size 1 left along dims.
func (k KeepDim) VarMean(dims ...int) (variance, mean *Tensor) {
	return k.Var(dims...), k.Mean(dims...)
}

// StdMean is [Tensor.StdMean] with size 1 left along dims.
func (k KeepDim) StdMean(dims ...int) (std, mean *Tensor) {
	return k.Std(dims...), k.Mean(dims...)
}

// LogSumExp is [Tensor.LogSumExp] with size 1 left along dims.
func (k KeepDim) LogSumExp(dims ...int) *Tensor {
	return apply(logsumexp{k.over("logsumexp", dims)}, k.x)
}

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

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

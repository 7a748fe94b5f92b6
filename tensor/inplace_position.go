package tensor

// In-place changes at positions. Set changes parts selected by index expressions.

// ScatterAssign is Scatter in place, and returns t. It is torch.Tensor.scatter_.
func (t *Tensor) ScatterAssign(dim int, index, src *Tensor) *Tensor {
	return t.becomes("scatter_", func(x *Tensor) *Tensor { return x.Scatter(dim, index, src) }, index, src)
}

// ScatterAddAssign is ScatterAdd in place, and returns t. It is
// torch.Tensor.scatter_add_.
func (t *Tensor) ScatterAddAssign(dim int, index, src *Tensor) *Tensor {
	return t.becomes("scatter_add_", func(x *Tensor) *Tensor { return x.ScatterAdd(dim, index, src) }, index, src)
}

// IndexAddAssign is IndexAdd in place, and returns t. It is torch.Tensor.index_add_.
func (t *Tensor) IndexAddAssign(dim int, index, src *Tensor, alpha float64) *Tensor {
	return t.becomes("index_add_", func(x *Tensor) *Tensor { return x.IndexAdd(dim, index, src, alpha) }, index, src)
}

// IndexCopyAssign is IndexCopy in place, and returns t. It is
// torch.Tensor.index_copy_.
func (t *Tensor) IndexCopyAssign(dim int, index, src *Tensor) *Tensor {
	return t.becomes("index_copy_", func(x *Tensor) *Tensor { return x.IndexCopy(dim, index, src) }, index, src)
}

// IndexFillAssign is IndexFill in place, and returns t. It is
// torch.Tensor.index_fill_.
func (t *Tensor) IndexFillAssign(dim int, index *Tensor, value float64) *Tensor {
	return t.becomes("index_fill_", func(x *Tensor) *Tensor { return x.IndexFill(dim, index, value) }, index)
}

// MaskedFillAssign is MaskedFill in place, and returns t. It is
// torch.Tensor.masked_fill_.
func (t *Tensor) MaskedFillAssign(mask *Tensor, value float64) *Tensor {
	return t.becomes("masked_fill_", func(x *Tensor) *Tensor { return x.MaskedFill(mask, value) }, mask)
}

// MaskedScatterAssign is MaskedScatter in place, and returns t. It is
// torch.Tensor.masked_scatter_.
func (t *Tensor) MaskedScatterAssign(mask, src *Tensor) *Tensor {
	return t.becomes("masked_scatter_", func(x *Tensor) *Tensor { return x.MaskedScatter(mask, src) }, mask, src)
}

package autograd_test

import "halfnote/tensor"

func init() {
	i := func(data ...int) *tensor.Tensor { return tensor.FromInts(data) }
	mask := tensor.FromBools([]bool{true, false, true, true, false, false}, 2, 3)
	cases = append(cases, []struct {
		name string
		f    func(a, b *tensor.Tensor) *tensor.Tensor
	}{
		{"argsort", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(3).Gather(1, b.Argsort(1)) }},
		{"as_strided", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).AsStrided([]int{2, 2, 2}, []int{1, 2, 1}, 1) }},
		{"as_strided of a view", func(a, _ *tensor.Tensor) *tensor.Tensor {
			return a.Pow(3).T().Slice(0, 1, 3).AsStrided([]int{3, 2, 2}, []int{0, 3, 1}, 1)
		}},
		{"diag_embed", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).DiagEmbed(-1) }},
		{"embedding", func(a, _ *tensor.Tensor) *tensor.Tensor {
			return tensor.Embedding(i(1, 0, 1, 1).Reshape(2, 2), a.Pow(3), tensor.EmbeddingOptions{})
		}},
		{"embedding_bag", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.EmbeddingBag(i(1, 0, 1, 1), a.Pow(3), tensor.EmbeddingBagOptions{Mode: "sum", Offsets: i(0, 3), Weights: b.Ravel().Slice(0, 1, 5).Pow(3)})
		}},
		{"embedding_bag, mean", func(a, _ *tensor.Tensor) *tensor.Tensor {
			return tensor.EmbeddingBag(i(1, 0, 1, 1).Reshape(2, 2), a.Pow(3), tensor.EmbeddingBagOptions{})
		}},
		{"embedding_bag, max", func(a, _ *tensor.Tensor) *tensor.Tensor {
			return tensor.EmbeddingBag(i(1, 0, 1, 1, 0), a.Pow(3), tensor.EmbeddingBagOptions{Mode: "max", Offsets: i(0, 2)})
		}},
		{"flip", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).Flip(1) }},
		{"index", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Index(i(1, 0, 1, 1), i(2, -3, 2, 1)).Pow(3) }},
		{"index, a mask", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Index(mask).Pow(3) }},
		{"index, one dimension", func(a, _ *tensor.Tensor) *tensor.Tensor {
			return a.Index(tensor.NewAxis, tensor.R(1, 2), []int{2, 0, 2}).Pow(3)
		}},
		{"index, dimensions apart", func(a, _ *tensor.Tensor) *tensor.Tensor {
			return a.Reshape(3, 2, 1).Index(i(2, 0, 2), tensor.All, i(0)).Pow(3)
		}},
		{"index_put", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(3).IndexPut(b.Select(0, 1).Pow(3), i(0, 1, 0), i(2, 0, 1))
		}},
		{"index_put of a range", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(3).IndexPut(b.Select(1, 1).Pow(3), tensor.Ellipsis, 2)
		}},
		{"index_put, dimensions apart", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(3).Reshape(3, 1, 2).IndexPut(b.Reshape(3, 2).Select(1, 0).Pow(3).Unsqueeze(1), i(2, 0, 1), tensor.All, i(1, 0, 0))
		}},
		{"index_put, adding", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(3).IndexPutAdd(b.Pow(3), i(1, 1))
		}},
		{"kthvalue", func(a, _ *tensor.Tensor) *tensor.Tensor { v, _ := a.Pow(3).KthValue(2, 1); return v }},
		{"masked_fill", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).MaskedFill(mask, 2) }},
		{"masked_fill, broadcast", func(a, _ *tensor.Tensor) *tensor.Tensor {
			return a.Pow(3).Unsqueeze(1).MaskedFill(mask, 2)
		}},
		{"masked_scatter", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(3).MaskedScatter(mask, b.Pow(3)) }},
		{"masked_select", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).MaskedSelect(mask) }},
		{"median", func(a, _ *tensor.Tensor) *tensor.Tensor { v, _ := a.Pow(3).Median(0); return v }},
		{"roll", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).Roll(-4, 1) }},
		{"rot90", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).Rot90(3, 0, 1) }},
		{"slice, a step", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).SliceStep(1, 0, 3, 2) }},
		{"sort", func(a, _ *tensor.Tensor) *tensor.Tensor { v, _ := a.Pow(3).SortDescending(0); return v }},
		{"topk", func(a, _ *tensor.Tensor) *tensor.Tensor { v, _ := a.Pow(3).TopK(2, 1); return v }},
		{"tril", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).Tril(-1) }},
		{"triu", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).Triu(1) }},
	}...)
}

package autograd_test

import (
	"halfnote/tensor"
)

func init() {
	i := func(data ...int) *tensor.Tensor { return tensor.FromInts(data) }
	m := func(data ...int) *tensor.Tensor { return tensor.FromInts(data, 2, 3) }
	cases = append(cases, []struct {
		name string
		f    func(a, b *tensor.Tensor) *tensor.Tensor
	}{
		{"argmax", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Gather(1, b.KeepDim().Argmax(1)) }},
		{"argmin", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).IndexSelect(0, b.Argmin(0)) }},
		{"cat", func(a, b *tensor.Tensor) *tensor.Tensor { return tensor.Cat(1, a.Pow(2), b, a.Mul(b)) }},
		{"gather", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Gather(1, m(2, 2, 0, 1, 0, 0)).Pow(3) }},
		{"index_add", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).IndexAdd(0, i(1, 1), b.Pow(3), -0.5) }},
		{"index_copy", func(a, b *tensor.Tensor) *tensor.Tensor {
			return a.Pow(2).IndexCopy(1, i(2, 0), b.Pow(3).Narrow(1, 0, 2))
		}},
		{"index_fill", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).IndexFill(1, i(1), 2) }},
		{"index_select", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.IndexSelect(1, i(2, 2, 0, 1)).Pow(3) }},
		{"scatter", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).Scatter(1, m(2, 0, 1, 1, 2, 0), b.Pow(3)) }},
		{"scatter a number", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Pow(3).ScatterValue(1, m(2, 2, 0, 1, 0, 0), 2) }},
		{"scatter_add", func(a, b *tensor.Tensor) *tensor.Tensor { return a.Pow(2).ScatterAdd(1, m(2, 2, 0, 1, 1, 1), b.Pow(3)) }},
		{"stack", func(a, b *tensor.Tensor) *tensor.Tensor { return tensor.Stack(1, a.Pow(2), b, a.Mul(b)) }},
		{"unbind", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.Unbind(1)[2].Mul(a.Unbind(1)[0]) }},
		{"repeat_interleave", func(a, _ *tensor.Tensor) *tensor.Tensor { return a.RepeatInterleaveEach(i(2, 0, 3), 1).Pow(3) }},
	}...)
	for _, how := range []string{"sum", "mean", "prod", "amax", "amin"} {
		for _, o := range []tensor.ScatterReduceOptions{{}, {ExcludeSelf: true}} {
			cases = append(cases, struct {
				name string
				f    func(a, b *tensor.Tensor) *tensor.Tensor
			}{"scatter_reduce " + how, func(a, b *tensor.Tensor) *tensor.Tensor {
				return a.Pow(2).ScatterReduce(1, m(2, 2, 0, 1, 1, 1), b.Pow(3).Add(a), how, o)
			}})
		}
	}
}

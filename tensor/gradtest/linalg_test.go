package gradtest_test

import "halfnote/tensor"

func init() {
	type T = *tensor.Tensor
	o := tensor.AddMMOptions{Beta: 0.5, Alpha: -2}
	cases = append(cases, []derivative{
		{"mm", func(a, b T) T { return a.MM(b.T()) }},
		{"mv", func(a, b T) T { return a.MV(b.Select(0, 0)) }},
		{"bmm", func(a, b T) T { return a.Reshape(3, 1, 2).BMM(b.Reshape(3, 2, 1)) }},
		{"dot", func(a, b T) T { return a.Reshape(6).Dot(b.Reshape(6)) }},
		{"vdot", func(a, b T) T { return a.Select(1, 0).VDot(b.Select(1, 2)) }},
		{"linalg_vecdot", func(a, b T) T { return a.VecDot(b.Slice(0, 0, 1), 0) }},
		{"outer", func(a, b T) T { return a.Select(1, 0).Outer(b.Select(0, 1)) }},
		{"addmm", func(a, b T) T { return a.Slice(1, 0, 1).AddMM(a, b.T(), tensor.AddMMOptions{}) }},
		{"addmm, factors", func(a, b T) T { return b.Slice(1, 1, 3).AddMM(a, b.T(), o) }},
		{"addmv", func(a, b T) T { return b.Select(1, 0).AddMV(a, b.Select(0, 1), o) }},
		{"addmv, a number", func(a, b T) T { return b.Sum().AddMV(a, b.Select(0, 1), tensor.AddMMOptions{}) }},
		{"addr", func(a, b T) T { return a.AddR(b.Select(1, 1), a.Select(0, 0), o) }},
		{"addbmm", func(a, b T) T { return b.Slice(1, 0, 1).AddBMM(a.Reshape(3, 2, 1), b.Reshape(3, 1, 2), o) }},
		{"baddbmm", func(a, b T) T { return b.Slice(1, 0, 2).BAddBMM(a.Reshape(3, 2, 1), b.Reshape(3, 1, 2), o) }},
		{"chain_matmul", func(a, b T) T { return tensor.ChainMatMul(a, b.T(), a) }},
		{"linalg_multi_dot", func(a, b T) T { return tensor.MultiDot(a.Select(1, 0), b, a.T(), b.Select(1, 0)) }},
		{"einsum", func(a, b T) T { return tensor.Einsum("ij,kj->ki", a, b) }},
		{"einsum, three", func(a, b T) T { return tensor.Einsum("ij,kj,il->k", a, b, a) }},
		{"einsum, diagonal", func(a, b T) T { return tensor.Einsum("ii,...i", a.Slice(1, 0, 2), b.Slice(1, 1, 3)) }},
		{"tensordot", func(a, b T) T { return a.TensorDot(b.T(), []int{0, 1}, []int{1, 0}) }},
		{"diagonal", func(a, _ T) T { return a.Diagonal(1, 0, 1).Pow(2) }},
		{"trace", func(a, b T) T { return a.MM(b.T()).Trace() }},
	}...)
}

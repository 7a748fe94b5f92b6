package autograd_test

import (
	"math"

	"halfnote/tensor"
)

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
		{"norm 0", func(a, b T) T { return a.NormWith(0, tensor.PNormOptions{}).Mul(b) }},
		{"norm 0.5", func(a, _ T) T { return a.NormWith(0.5, tensor.PNormOptions{Dims: []int{1}}) }},
		{"norm 1", func(a, _ T) T { return a.NormWith(1, tensor.PNormOptions{Dims: []int{1}}).Pow(2) }},
		{"norm 1.5", func(a, _ T) T { return a.KeepDim().NormWith(1.5, tensor.PNormOptions{Dims: []int{0}}) }},
		{"norm 3", func(a, _ T) T { return a.NormWith(3, tensor.PNormOptions{}) }},
		{"norm -2", func(a, _ T) T { return a.NormWith(-2, tensor.PNormOptions{}) }},
		{"norm inf", func(a, _ T) T { return a.NormWith(math.Inf(1), tensor.PNormOptions{Dims: []int{1}}).Pow(2) }},
		{"norm -inf", func(a, _ T) T { return a.NormWith(math.Inf(-1), tensor.PNormOptions{}).Pow(2) }},
		{"linalg_vector_norm", func(a, _ T) T { return a.VectorNorm(2, tensor.PNormOptions{Dims: []int{1}}) }},
		{"linalg_matrix_norm fro", func(a, _ T) T { return a.MatrixNorm("fro", tensor.PNormOptions{}) }},
		{"linalg_matrix_norm 2", func(a, _ T) T { return a.KeepDim().MatrixNorm("2", tensor.PNormOptions{}) }},
		{"linalg_matrix_norm -2", func(a, _ T) T { return a.MatrixNorm("-2", tensor.PNormOptions{Dims: []int{1, 0}}) }},
		{"linalg_matrix_norm 1", func(a, _ T) T { return a.MatrixNorm("1", tensor.PNormOptions{}).Pow(2) }},
		{"linalg_matrix_norm -inf", func(a, _ T) T { return a.MatrixNorm("-inf", tensor.PNormOptions{}).Pow(2) }},
		{"frobenius_norm", func(a, _ T) T { return a.FrobeniusNorm(tensor.PNormOptions{}) }},
		{"nuclear_norm", func(a, _ T) T { return a.NuclearNorm(tensor.PNormOptions{}) }},
		{"linalg_svd", func(a, _ T) T { // independent of the signs of u and v
			u, s, vh := a.SVD()
			return u.Mul(s.Pow(2)).MatMul(vh).Add(u.Mul(s).MatMul(u.T()).Sum()).Add(vh.T().Mul(s).MatMul(vh).Select(0, 1))
		}},
		{"linalg_svd, tall", func(a, _ T) T {
			u, s, vh := a.T().SVD()
			return u.Mul(s.Pow(2)).MatMul(vh).Add(u.MatMul(vh))
		}},
		{"dist", func(a, b T) T { return a.Dist(b.Select(0, 0), 3) }},
		{"cdist", func(a, b T) T { return a.CDist(b, 2) }},
		{"cdist 1.5", func(a, b T) T { return a.CDist(b.Slice(0, 0, 1), 1.5) }},
		{"pdist", func(a, b T) T { return tensor.Cat(0, a, b).PDist(2) }},
		{"pairwise_distance", func(a, b T) T { return a.PairwiseDistance(b, 2, 1e-6) }},
		{"cosine_similarity", func(a, b T) T { return a.CosineSimilarity(b, 1, 1e-8) }},
		{"cross", func(a, b T) T { return a.Cross(b.Select(0, 1), 1) }},
		{"bilinear", func(a, b T) T {
			return tensor.Bilinear(a, b, tensor.Cat(0, a, b, a).Reshape(2, 3, 3), b.Select(1, 0))
		}},
		{"kron", func(a, b T) T { return a.Kron(b.Select(0, 0)) }},
		{"linalg_matrix_power", func(a, b T) T { return a.MatMul(b.T()).MatrixPower(3) }},
		{"linalg_matrix_power 0", func(a, b T) T { return a.MatMul(b.T()).MatrixPower(0).Mul(a.MatMul(b.T())) }},
		{"linalg_inv", func(a, b T) T { return a.MatMul(b.T()).Add(tensor.Eye(2).Double()).Inverse() }},
		{"linalg_det", func(a, b T) T { return a.MatMul(b.T()).Add(tensor.Eye(2).Double()).Det() }},
		{"linalg_solve", func(a, b T) T { return a.Slice(1, 0, 2).Solve(b) }},
		{"linalg_solve, a vector", func(a, b T) T { return b.T().MatMul(a).Add(tensor.Eye(3).Double()).Solve(b.Select(0, 0)) }},
		{"linalg_cholesky", func(a, _ T) T { return a.MatMul(a.T()).Add(tensor.Eye(2).Double()).Cholesky() }},
	}...)
}

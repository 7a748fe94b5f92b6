package autograd_test

import (
	"halfnote/tensor"
)

func init() {
	type T = *tensor.Tensor
	eye := func(n int) T { return tensor.Eye(n).Double() }
	square := func(a, b T) T { return a.MatMul(b.T()).Add(eye(2).MulScalar(3)) }
	turned := func(x T) T { return x.Transpose(-1, -2) }
	cases = append(cases, []derivative{
		{"linalg_eigh", func(a, _ T) T { // independent of the signs of the vectors
			w, v := a.T().MatMul(a).Add(tensor.NewAs(tensor.Float64, []float64{1, 0, 0, 0, 2, 0, 0, 0, 4}, 3, 3)).Eigh()
			return v.Mul(w.Exp()).MatMul(v.T()).Add(v.Slice(1, 0, 1).MatMul(v.Slice(1, 0, 1).T()))
		}},
		{"linalg_eigh values", func(a, b T) T { x := square(a, b); return x.Add(x.T()).EigvalsH() }},
		{"linalg_qr", func(a, b T) T { q, r := square(a, b).QR("reduced"); return q.Mul(r) }},
		{"linalg_qr tall", func(a, _ T) T { q, r := a.T().QR("reduced"); return tensor.Cat(0, q, r) }},
		{"linalg_qr wide", func(a, _ T) T { q, r := a.QR("complete"); return tensor.Cat(1, q, r) }},
		{"linalg_qr r", func(a, _ T) T { _, r := a.T().QR("r"); return r }},
		{"pinverse", func(a, _ T) T { return a.Pinv(tensor.RankOptions{}) }},
		{"pinverse tall", func(a, _ T) T { return a.T().Pinv(tensor.RankOptions{}) }},
		{"pinverse hermitian", func(a, b T) T { x := square(a, b); return x.Add(x.T()).Pinv(tensor.RankOptions{Hermitian: true}) }},
		{"pinverse, rank 1", func(a, b T) T { // a matrix of constant rank
			return a.Select(0, 0).Outer(b.Select(0, 1)).Pinv(tensor.RankOptions{RTol: 1e-6})
		}},
		{"linalg_lstsq", func(a, b T) T {
			x, residuals, _, _ := a.T().Lstsq(b.T(), tensor.LstsqOptions{Driver: "gels"})
			return tensor.Cat(0, x, residuals.Unsqueeze(0))
		}},
		{"linalg_lstsq wide", func(a, b T) T { x, _, _, _ := a.Lstsq(b, tensor.LstsqOptions{}); return x }},
		{"linalg_slogdet", func(a, b T) T { _, y := square(a, b).SlogDet(); return y }},
		{"linalg_lu_factor", func(a, b T) T { lu, _ := square(a, b).LUFactor(); return lu }},
		{"linalg_lu_solve", func(a, b T) T { lu, pivots := square(a, b).LUFactor(); return lu.LUSolve(pivots, a) }},
		{"linalg_matrix_exp", func(a, b T) T { return a.MatMul(b.T()).MatrixExp() }},
		{"linalg_solve_triangular", func(a, b T) T { return square(a, b).SolveTriangular(b, true, tensor.TriangularOptions{}) }},
		{"linalg_solve_triangular right", func(a, b T) T {
			return square(a, b).SolveTriangular(turned(b), false, tensor.TriangularOptions{Right: true, Unitriangular: true})
		}},
		{"cholesky_solve", func(a, b T) T { return b.CholeskySolve(square(a, b).Tril(0), false) }},
		{"cholesky_inverse", func(a, b T) T { return square(a, b).Triu(0).CholeskyInverse(true) }},
		{"linalg_cond", func(a, b T) T { return square(a, b).Cond("fro") }},
		{"linalg_cond 2", func(a, _ T) T { return a.Cond("2") }},
		{"lgamma", func(a, _ T) T { return a.Lgamma() }},
		{"digamma", func(a, _ T) T { return a.Digamma() }},
		{"polygamma", func(a, _ T) T { return a.Polygamma(2) }},
		{"quantiles", func(a, _ T) T {
			return a.Pow(2).Quantiles([]float64{0.3, 0.8}, 1, tensor.QuantileOptions{Interpolation: "midpoint"})
		}},
		{"nanmedian", func(a, _ T) T { y, _ := a.Pow(2).NanMedian(1); return y }},
		{"cov", func(a, b T) T { return tensor.Cat(0, a, b).Cov() }},
		{"corrcoef", func(a, b T) T { return tensor.Cat(0, a, b).Corrcoef() }},
		{"cumulative_trapezoid", func(a, _ T) T { return a.Pow(2).CumulativeTrapezoid(0.5, 1) }},
	}...)
}

package tensor

import "halfnote/tensor/internal/linalg"

type cholesky struct{}

func (cholesky) Info() Info {
	return info("linalg_cholesky", "torch.linalg.cholesky", SavesResult)
}
func (cholesky) Forward(in []*Tensor) *Tensor {
	return eachMatrix("linalg_cholesky", in[0], in[0].shape, func(b int, a []float64, n int) []float64 {
		l, ok := linalg.Cholesky(a, n)
		if !ok {
			fail("linalg_cholesky", in, "matrix %d is not positive definite; want a positive definite matrix, or add a small multiple of the identity", b)
		}
		return l
	})
}

// VJP follows I. Murray, "Differentiation of the Cholesky decomposition", 2016,
// section 3.
func (cholesky) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	n := y.shape[len(y.shape)-1]
	half := hostSlice[float64]("linalg_cholesky", n*n) // the lower triangle, with half the diagonal
	for i := range half {
		if i/n > i%n {
			half[i] = 1
		} else if i/n == i%n {
			half[i] = 0.5
		}
	}
	phi := NewAs(y.dtype, half, n, n).ToDevice(y.Device())
	s := y.Transpose(-1, -2).MatMul(dy).Mul(phi)
	// (l⁻ᵀ s l⁻¹), symmetric
	t := y.Transpose(-1, -2)
	g := t.Solve(t.Solve(s.Transpose(-1, -2)).Transpose(-1, -2))
	return []*Tensor{g.Add(g.Transpose(-1, -2)).MulScalar(0.5)}
}

// Cholesky returns the lower triangular l with l lᵀ = t for symmetric positive definite
// matrices t (…, n, n). Only the lower triangle is read. It panics if a matrix is not positive
// definite. It is torch.linalg.cholesky.
func (t *Tensor) Cholesky() *Tensor {
	checkSquare("linalg_cholesky", t)
	return apply(cholesky{}, t)
}

// choleskySolve is the solution x of l lᵀ x = b, or of lᵀ l x = b. Its operands are l and b.
type choleskySolve struct{ upper bool }

func (choleskySolve) Info() Info {
	return info("cholesky_solve", "torch.cholesky_solve", SavesOperands)
}
func (c choleskySolve) f(in []*Tensor) *Tensor {
	l, b := in[0].Double(), in[1].Double()
	if c.upper {
		l = l.mT()
	}
	y := l.SolveTriangular(b, false, TriangularOptions{})
	return l.mT().SolveTriangular(y, true, TriangularOptions{}).To(in[1].dtype)
}
func (c choleskySolve) Forward(in []*Tensor) *Tensor {
	oneDType("cholesky_solve", in, "")
	return compose(c.f, in)
}
func (c choleskySolve) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// CholeskySolve returns x with a x = t for t (…, n, k), where l (…, n, n) is the result of
// a.Cholesky, or its transpose if upper is set. The leading dimensions broadcast. It is
// torch.cholesky_solve.
func (t *Tensor) CholeskySolve(l *Tensor, upper bool) *Tensor {
	checkSquare("cholesky_solve", l)
	a, b := systems("cholesky_solve", l, t)
	return apply(choleskySolve{upper}, a, b)
}

// choleskyInverse is the inverse of l lᵀ, or of lᵀ l.
type choleskyInverse struct{ upper bool }

func (choleskyInverse) Info() Info {
	return info("cholesky_inverse", "torch.cholesky_inverse", SavesOperands)
}
func (c choleskyInverse) f(in []*Tensor) *Tensor {
	l := in[0].Double()
	eye := Eye(l.shape[len(l.shape)-1]).Double().ToDevice(l.Device()).expandTo(l.shape)
	return choleskySolve{c.upper}.f([]*Tensor{l, eye}).To(in[0].dtype)
}
func (c choleskyInverse) Forward(in []*Tensor) *Tensor              { return compose(c.f, in) }
func (c choleskyInverse) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// CholeskyInverse returns the inverse of a, where t (…, n, n) is the result of a.Cholesky, or
// its transpose if upper is set. It is torch.cholesky_inverse.
func (t *Tensor) CholeskyInverse(upper bool) *Tensor {
	checkSquare("cholesky_inverse", t)
	return apply(choleskyInverse{upper}, t)
}

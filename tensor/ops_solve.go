package tensor

import "slices"

// Solutions of linear systems. They are computed in float64 and rounded once.

type inverse struct{}

func (inverse) Info() Info { return info("linalg_inv", "torch.linalg.inv", SavesResult) }
func (inverse) Forward(in []*Tensor) *Tensor {
	return eachMatrix(in[0], in[0].shape, func(b int, a []float64, n int) []float64 {
		f := regular("linalg_inv", in, b, a, n)
		eye := hostSlice[float64]("linalg_inv", n*n)
		for i := range n {
			eye[i*n+i] = 1
		}
		return f.solve(eye, n)
	})
}
func (inverse) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	t := y.Transpose(-1, -2)
	return []*Tensor{t.MatMul(dy).MatMul(t).Neg()}
}

// Inverse returns the inverses of the square matrices t (…, n, n). It panics if a matrix is
// singular. It is torch.linalg.inv and torch.inverse.
func (t *Tensor) Inverse() *Tensor {
	checkSquare("linalg_inv", t)
	return apply(inverse{}, t)
}

type det struct{}

func (det) Info() Info { return info("linalg_det", "torch.linalg.det", SavesAll) }
func (det) Forward(in []*Tensor) *Tensor {
	return eachMatrix(in[0], in[0].shape[:len(in[0].shape)-2], func(_ int, a []float64, n int) []float64 {
		return []float64{factorize(a, n).det()}
	})
}
func (det) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{in[0].Inverse().Transpose(-1, -2).Mul(dy.Mul(y).Unsqueeze(-1).Unsqueeze(-1))}
}

// Det returns the determinants of the square matrices t (…, n, n): (…). A singular matrix has
// no derivative, and Backward panics. It is torch.linalg.det.
func (t *Tensor) Det() *Tensor {
	checkSquare("linalg_det", t)
	return apply(det{}, t)
}

// solve is the solution x of a x = b for in = a (…, n, n) and b (…, n, k), whose leading
// sizes are equal.
type solve struct{}

func (solve) Info() Info { return info("linalg_solve", "torch.linalg.solve", SavesAll) }
func (solve) Forward(in []*Tensor) *Tensor {
	sameDType("linalg_solve", in)
	k := in[1].shape[len(in[1].shape)-1]
	rhs := convert(in[1], Float64).Float64s()
	return eachMatrix(in[0], in[1].shape, func(b int, a []float64, n int) []float64 {
		return regular("linalg_solve", in, b, a, n).solve(rhs[b*n*k:(b+1)*n*k], k)
	})
}
func (solve) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	db := apply(solve{}, in[0].Transpose(-1, -2), dy)
	return []*Tensor{db.MatMul(y.Transpose(-1, -2)).Neg(), db}
}

// Solve returns x with t x = b for square matrices t (…, n, n) and b (…, n, k), whose leading
// dimensions broadcast, or a vector b (n). x has b's shape. It panics if a matrix is singular. It
// is torch.linalg.solve.
func (t *Tensor) Solve(b *Tensor) *Tensor {
	given("linalg_solve", t, b)
	checkSquare("linalg_solve", t)
	if len(b.shape) == 1 {
		return t.Solve(b.Unsqueeze(1)).Squeeze(-1)
	}
	n, r := t.shape[len(t.shape)-1], len(b.shape)
	if r < 2 || b.shape[r-2] != n {
		fail("linalg_solve", []*Tensor{t, b}, "matrix and right-hand side do not match; want (…, n, n), and (…, n, k) or (n,)")
	}
	leading, ok := broadcastShapes(t.shape[:len(t.shape)-2], b.shape[:r-2])
	if !ok {
		fail("linalg_solve", []*Tensor{t, b}, "the leading dimensions do not broadcast; want (…, n, n) and (…, n, k)")
	}
	to := func(x *Tensor) *Tensor {
		return x.expandTo(append(slices.Clone(leading), x.shape[len(x.shape)-2:]...))
	}
	return apply(solve{}, to(t), to(b))
}

type cholesky struct{}

func (cholesky) Info() Info {
	return info("linalg_cholesky", "torch.linalg.cholesky", SavesResult)
}
func (cholesky) Forward(in []*Tensor) *Tensor {
	return eachMatrix(in[0], in[0].shape, func(b int, a []float64, n int) []float64 {
		l, ok := choleskyOf(a, n)
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

// checkSquare panics unless t is a batch of square floating-point matrices.
func checkSquare(op string, t *Tensor) {
	given(op, t)
	r := len(t.shape)
	if r < 2 || t.shape[r-2] != t.shape[r-1] {
		fail(op, []*Tensor{t}, "t is not a batch of square matrices; want (…, n, n)")
	}
	if !t.dtype.IsFloat() {
		failDType(op, []*Tensor{t}, "want a floating-point dtype")
	}
}

// regular returns the LU decomposition of matrix b of a batch. It panics if the matrix is
// singular.
func regular(op string, in []*Tensor, b int, a []float64, n int) *factors {
	f := factorize(a, n)
	if f.singular() {
		fail(op, in, "matrix %d is singular; want an invertible matrix, or use Pinv or Lstsq", b)
	}
	return f
}

// eachMatrix calls f with each matrix of x: its number b, its elements a and its row length n.
// It returns the results in a tensor of the given shape and x's dtype.
func eachMatrix(x *Tensor, shape []int, f func(b int, a []float64, n int) []float64) *Tensor {
	r := len(x.shape)
	m, n := x.shape[r-2], x.shape[r-1]
	y := newTensor(x.mem.backend, Float64, slices.Clone(shape)) // panics if it does not fit into memory
	values := convert(x, Float64).Float64s()
	out := hostSlice[float64]("linalg_solve", size(shape))[:0]
	for b := range size(x.shape[:r-2]) {
		out = append(out, f(b, values[b*m*n:(b+1)*m*n], n)...)
	}
	return narrow(y.setFloat64s(out), x.dtype)
}

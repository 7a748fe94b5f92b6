package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// TriangularOptions are the options of SolveTriangular.
type TriangularOptions struct {
	Right         bool // solve x t = b: left=False
	Unitriangular bool // assume ones on the diagonal
}

// solveTriangular is the solution x of a x = b for in = a (…, n, n), of which one triangle is
// read, and b (…, n, k), whose leading sizes are equal.
type solveTriangular struct{ upper, unit bool }

func (solveTriangular) Info() Info {
	return info("linalg_solve_triangular", "torch.linalg.solve_triangular", SavesAll)
}
func (s solveTriangular) Forward(in []*Tensor) *Tensor {
	sameDType("linalg_solve_triangular", in)
	k := in[1].shape[len(in[1].shape)-1]
	rhs := convert(in[1], Float64).Float64s()
	return eachMatrix(in[0], in[1].shape, func(b int, a []float64, n int) []float64 {
		x := rhs[b*n*k : (b+1)*n*k]
		s.substitute(a, n, x, k)
		return x
	})
}

// substitute solves a x = b for x (n, k), which holds b on entry.
func (s solveTriangular) substitute(a []float64, n int, x []float64, k int) {
	for step := range n {
		driver.Poll()
		i, from, to := step, 0, step
		if s.upper {
			i = n - 1 - step
			from, to = i+1, n
		}
		row := x[i*k : (i+1)*k]
		for j := from; j < to; j++ {
			subtract(row, x[j*k:], a[i*n+j])
		}
		for c := range row {
			if !s.unit {
				row[c] /= a[i*n+i]
			}
		}
	}
}
func (s solveTriangular) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	db := apply(solveTriangular{!s.upper, s.unit}, in[0].mT(), dy)
	da := db.MatMul(y.mT()).Neg()
	k := 0
	if s.unit {
		k = 1
	}
	if s.upper {
		return []*Tensor{da.Triu(k), db}
	}
	return []*Tensor{da.Tril(-k), db}
}

// SolveTriangular returns x with t x = b for triangular matrices t (…, n, n), of which only the
// upper or the lower triangle is read, and b (…, n, k), whose leading dimensions broadcast.
// With Right it solves x t = b for b (…, k, n). A 0 on the diagonal gives infinities and NaN. It
// computes in float64 and rounds once. It is torch.linalg.solve_triangular.
func (t *Tensor) SolveTriangular(b *Tensor, upper bool, o TriangularOptions) *Tensor {
	const op = "linalg_solve_triangular"
	checkSquare(op, t)
	if o.Right {
		matrices(op, b, 0)
		return t.mT().SolveTriangular(b.mT(), !upper, TriangularOptions{Unitriangular: o.Unitriangular}).mT()
	}
	a, b := systems(op, t, b)
	return apply(solveTriangular{upper, o.Unitriangular}, a, b)
}

// systems returns a (…, n, n) and b (…, n, k) with their leading dimensions broadcast. It
// panics if they do not match.
func systems(op string, a, b *Tensor) (_, _ *Tensor) {
	given(op, a, b)
	in := []*Tensor{a, b}
	ra, rb := len(a.shape), len(b.shape)
	if rb < 2 || a.shape[ra-2] != b.shape[rb-2] {
		fail(op, in, "matrix and right-hand side do not match; want the same number of rows, (…, m, n) and (…, m, k)")
	}
	leading, ok := broadcastShapes(a.shape[:ra-2], b.shape[:rb-2])
	if !ok {
		fail(op, in, "the leading dimensions do not broadcast; want (…, n, n) and (…, n, k)")
	}
	return a.expandTo(slices.Concat(leading, a.shape[ra-2:])), b.expandTo(slices.Concat(leading, b.shape[rb-2:]))
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
	sameDType("cholesky_solve", in)
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

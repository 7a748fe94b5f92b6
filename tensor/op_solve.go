package tensor

import (
	"slices"

	"halfnote/tensor/internal/linalg"
)

// Solutions of linear systems. They are computed in float64 and rounded once.

type inverse struct{}

func (inverse) Info() Info { return info("linalg_inv", "torch.linalg.inv", SavesResult) }
func (inverse) Forward(in []*Tensor) *Tensor {
	return eachMatrix("linalg_inv", in[0], in[0].shape, func(b int, a []float64, n int) []float64 {
		f := regular("linalg_inv", in, b, a, n)
		eye := hostSlice[float64]("linalg_inv", n*n)
		for i := range n {
			eye[i*n+i] = 1
		}
		return f.Solve(eye, n)
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
	return eachMatrix("linalg_det", in[0], in[0].shape[:len(in[0].shape)-2], func(_ int, a []float64, n int) []float64 {
		return []float64{linalg.LU(a, n).Det()}
	})
}

// VJP is the matrix of cofactors: det(a) a⁻ᵀ, or from the singular values if a matrix has no inverse.
func (det) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	a, g := in[0], dy.Unsqueeze(-1).Unsqueeze(-1)
	if !y.Detach().EqScalar(0).anyTrue() {
		return []*Tensor{a.Inverse().mT().Mul(dy.Mul(y).Unsqueeze(-1).Unsqueeze(-1))}
	}
	u, s, vh := a.SVD()
	n := a.shape[len(a.shape)-1]
	one := constant(s, s.dtype, 1)
	others := Eye(n).To(Bool).ToDevice(a.Device()).Where(one, s.Unsqueeze(-2)).Prod(-1) // the products of all singular values but one
	sign := u.Detach().Det().Mul(vh.Detach().Det()).Unsqueeze(-1).Unsqueeze(-1)
	return []*Tensor{u.Mul(others.Unsqueeze(-2)).MatMul(vh).Mul(sign).Mul(g)}
}

// Det returns the determinants of the square matrices t (…, n, n): (…). It is torch.linalg.det.
func (t *Tensor) Det() *Tensor {
	checkSquare("linalg_det", t)
	return apply(det{}, t)
}

// solve is the solution x of a x = b for in = a (…, n, n) and b (…, n, k), whose leading
// sizes are equal.
type solve struct{}

func (solve) Info() Info { return info("linalg_solve", "torch.linalg.solve", SavesAll) }
func (solve) Forward(in []*Tensor) *Tensor {
	oneDType("linalg_solve", in, "")
	k := in[1].shape[len(in[1].shape)-1]
	rhs := convert(in[1], Float64).Float64s()
	return eachMatrix("linalg_solve", in[0], in[1].shape, func(b int, a []float64, n int) []float64 {
		return regular("linalg_solve", in, b, a, n).Solve(rhs[b*n*k:(b+1)*n*k], k)
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
	oneDType("linalg_solve_triangular", in, "")
	k := in[1].shape[len(in[1].shape)-1]
	rhs := convert(in[1], Float64).Float64s()
	return eachMatrix("linalg_solve_triangular", in[0], in[1].shape, func(b int, a []float64, n int) []float64 {
		x := rhs[b*n*k : (b+1)*n*k]
		linalg.Substitute(a, n, x, k, s.upper, s.unit)
		return x
	})
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

// slogdet packs the signs of determinants and the logarithms of their magnitudes.
type slogdet struct{}

func (slogdet) Info() Info {
	return info("linalg_slogdet", "torch.linalg.slogdet", SavesOperands)
}
func (slogdet) bundle() bundle { return bundle{{}, {}} }
func (o slogdet) Forward(in []*Tensor) *Tensor {
	x := in[0]
	return eachMatrix("linalg_slogdet", x, o.bundle().shape(x.shape[:len(x.shape)-2]), func(_ int, a []float64, n int) []float64 {
		return linalg.LU(a, n).LogDet()
	})
}
func (o slogdet) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	d := o.bundle().parts(dy)[1]
	return []*Tensor{in[0].Inverse().mT().Mul(d.Unsqueeze(-1).Unsqueeze(-1))}
}

// SlogDet returns the signs (…) of the determinants of the square matrices t (…, n, n) and the
// logarithms of their magnitudes (…). For a singular matrix they are 0 and -Inf, and Backward
// panics. It is torch.linalg.slogdet.
func (t *Tensor) SlogDet() (sign, logabsdet *Tensor) {
	checkSquare("linalg_slogdet", t)
	p := slogdet{}.bundle().parts(apply(slogdet{}, t))
	return p[0].Detach(), p[1]
}

// luFactor packs the LU decomposition of square matrices with partial pivoting, and the
// pivots.
type luFactor struct{}

func (luFactor) Info() Info {
	return info("linalg_lu_factor", "torch.linalg.lu_factor", SavesResult)
}
func (luFactor) bundle(x *Tensor) bundle { n := x.shape[len(x.shape)-1]; return bundle{{n, n}, {n}} }
func (o luFactor) Forward(in []*Tensor) *Tensor {
	x := in[0]
	if x.dtype.Size() < 4 {
		failDType("linalg_lu_factor", in, "want float32 or float64: cast with To")
	}
	return eachMatrix("linalg_lu_factor", x, o.bundle(x).shape(x.shape[:len(x.shape)-2]), func(_ int, a []float64, n int) []float64 {
		f := linalg.LU(a, n)
		return slices.Concat(f.LU, f.Pivots())
	})
}

// VJP is p l⁻ᵀ (tril(lᵀ dl) without its diagonal + triu(du uᵀ)) u⁻ᵀ: Walter and Lehmann,
// 2018.
func (o luFactor) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	p := o.bundle(in[0])
	lu, d := p.parts(y)[0], p.parts(dy)[0]
	n := lu.shape[len(lu.shape)-1]
	eye := Eye(n).To(lu.dtype).ToDevice(lu.Device())
	l, u := lu.Tril(-1).Add(eye), lu.Triu(0)
	inner := l.mT().MatMul(d.Tril(-1)).Tril(-1).Add(d.Triu(0).MatMul(u.mT()).Triu(0))
	g := l.mT().SolveTriangular(inner, true, TriangularOptions{Unitriangular: true})
	g = u.mT().SolveTriangular(g, false, TriangularOptions{Right: true})
	return []*Tensor{g.exchanged(p.parts(y)[1], true)}
}

// LUFactor returns the LU decomposition of square matrices t (…, n, n) with rows exchanged: a
// lower triangular l with diagonal 1 and an upper triangular u, both in lu (…, n, n), and the
// int32 pivots (…, n), counted from 1: row i was exchanged with row pivots[i], in order. t is
// float32 or float64. It is torch.linalg.lu_factor.
func (t *Tensor) LUFactor() (lu, pivots *Tensor) {
	checkSquare("linalg_lu_factor", t)
	p := luFactor{}.bundle(t).parts(apply(luFactor{}, t))
	return p[0], p[1].Detach().To(Int32)
}

// luSolve is the solution x of a x = b. Its operands are lu, the factors of a with its rows
// exchanged, and b.
type luSolve struct{ pivots *Tensor }

func (luSolve) Info() Info {
	return info("linalg_lu_solve", "torch.linalg.lu_solve", SavesOperands)
}
func (o luSolve) f(in []*Tensor) *Tensor {
	lu, b := in[0].Double(), in[1].Double()
	y := lu.SolveTriangular(b.exchanged(o.pivots, false), false, TriangularOptions{Unitriangular: true})
	return lu.SolveTriangular(y, true, TriangularOptions{}).To(in[1].dtype)
}
func (o luSolve) Forward(in []*Tensor) *Tensor {
	oneDType("linalg_lu_solve", in, "")
	return compose(o.f, in)
}
func (o luSolve) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(o.f, dy, in) }

// LUSolve returns x with a x = b for b (…, n, k), where t (…, n, n) and pivots (…, n) are the
// results of a.LUFactor. The leading dimensions broadcast. It is
// torch.linalg.lu_solve.
func (t *Tensor) LUSolve(pivots, b *Tensor) *Tensor {
	const op = "linalg_lu_solve"
	given(op, t, pivots, b)
	checkSquare(op, t)
	in := []*Tensor{t, pivots, b}
	leading := t.shape[:len(t.shape)-1]
	if pivots.dtype.IsFloat() || !slices.Equal(pivots.shape, leading) {
		fail(op, in, "pivots have dtype %v and shape %s; want integers of shape %s", pivots.dtype, shapeString(pivots.shape), shapeString(leading))
	}
	for _, p := range convert(pivots, Int64).Int64s() {
		if n := int64(t.shape[len(t.shape)-1]); p < 1 || p > n {
			fail(op, in, "pivots contain %d; want 1 to %d", p, n)
		}
	}
	a, x := systems(op, t, b)
	return apply(luSolve{pivots.expandTo(x.shape[:len(x.shape)-1])}, a, x)
}

// exchanged returns the matrices t (…, n, k) with row i exchanged with row pivots[i], for
// ascending i, or for descending i to undo that.
func (t *Tensor) exchanged(pivots *Tensor, undo bool) *Tensor {
	n := pivots.shape[len(pivots.shape)-1]
	list := convert(pivots, Int64).Int64s()
	rows := make([]int64, 0, len(list))
	for b := 0; b < len(list); b += max(n, 1) {
		rows = append(rows, linalg.Exchanges(list[b:b+n], undo)...)
	}
	at := FromInt64s(rows).ToDevice(t.Device()).Reshape(pivots.shape...).Unsqueeze(-1)
	return t.Gather(-2, at.expandTo(t.shape))
}

// LstsqOptions are the options of Lstsq.
type LstsqOptions struct {
	RCond  float64 // singular values up to RCond times the largest count as 0; 0 stands for the larger side times the dtype's Eps
	Driver string  // "gelsy", the default, "gels", "gelsd" or "gelss"; it selects the results that are returned
}

// lstsq packs the solution (n, k), the rank and the singular values for in = a (…, m, n) and
// b (…, m, k), whose leading sizes are equal.
type lstsq struct{ rcond float64 }

func (lstsq) Info() Info                                    { return info("linalg_lstsq", "torch.linalg.lstsq", SavesOperands) }
func (o lstsq) cut(a *Tensor) func(largest float64) float64 { return RankOptions{RTol: o.rcond}.cut(a) }
func (lstsq) bundle(in []*Tensor) bundle {
	m, n, k := in[0].shape[len(in[0].shape)-2], in[0].shape[len(in[0].shape)-1], in[1].shape[len(in[1].shape)-1]
	return bundle{{n, k}, {}, {min(m, n)}}
}
func (o lstsq) Forward(in []*Tensor) *Tensor {
	oneDType("linalg_lstsq", in, "")
	a := in[0]
	if a.dtype.Size() < 4 {
		failDType("linalg_lstsq", in, "want float32 or float64: cast with To")
	}
	finite("linalg_lstsq", a)
	m, k := a.shape[len(a.shape)-2], in[1].shape[len(in[1].shape)-1]
	rhs := convert(in[1], Float64).Float64s()
	cut := o.cut(a)
	return eachMatrix("linalg_lstsq", a, o.bundle(in).shape(a.shape[:len(a.shape)-2]), func(b int, x []float64, n int) []float64 {
		i := linalg.PseudoInverse(x, m, n, cut)
		return slices.Concat(linalg.Product(i.P, n, m, rhs[b*m*k:(b+1)*m*k], k), []float64{float64(i.Rank)}, i.Values)
	})
}

// VJP is that of the pseudoinverse times b; ranks and singular values have no derivative.
func (o lstsq) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	a := in[0]
	f := func(in []*Tensor) *Tensor {
		return in[0].Double().Pinv(RankOptions{RTol: o.cut(a)(1)}).MatMul(in[1].Double()).To(in[0].dtype) // powers of a pseudoinverse may overflow float32
	}
	return derive(f, o.bundle(in).parts(dy)[0], in)
}

// Lstsq returns the least-squares solutions x (…, n, k), the smallest ones that minimise
// |t x - b|, for matrices t (…, m, n) and b (…, m, k), whose leading dimensions broadcast. For
// vectors b (…, m), x is (…, n). The other results depend on the driver and are empty where
// it does not return them: the residuals (…, k), the sums of squares of t x - b, for all
// drivers but "gelsy", where m is above n and every matrix has rank n; the ranks (…), int64, for
// all but "gels"; the singular values (…, min(m, n)), without a derivative, for "gelsd" and
// "gelss". All drivers use singular values in float64 and round once. It panics if an element of
// t is not finite. It is torch.linalg.lstsq.
func (t *Tensor) Lstsq(b *Tensor, o LstsqOptions) (solution, residuals, rank, singularValues *Tensor) {
	const op = "linalg_lstsq"
	floatMatrices(op, t)
	in := []*Tensor{t, b}
	given(op, t, b)
	switch {
	case o.Driver == "":
		o.Driver = "gelsy"
	case !slices.Contains([]string{"gels", "gelsy", "gelsd", "gelss"}, o.Driver):
		fail(op, in, "unknown driver %q; want gelsy, gels, gelsd or gelss", o.Driver)
	}
	if !(o.RCond >= 0) {
		fail(op, in, "RCond is %v; want at least 0", o.RCond)
	}
	if slices.Equal(b.shape, t.shape[:len(t.shape)-1]) {
		solution, residuals, rank, singularValues = t.Lstsq(b.Unsqueeze(-1), o)
		if residuals.Numel() > 0 {
			residuals = residuals.Squeeze(-1)
		}
		return solution.Squeeze(-1), residuals, rank, singularValues
	}
	x, y := systems(op, t, b)
	l := lstsq{o.RCond}
	p := l.bundle([]*Tensor{x, y}).parts(apply(l, x, y))
	solution, rank, singularValues = p[0], p[1].Detach().Long(), p[2].Detach()
	empty := solution.Detach().Reshape(-1).Slice(0, 0, 0)
	residuals = empty
	m, n := x.shape[len(x.shape)-2], x.shape[len(x.shape)-1]
	if o.Driver != "gelsy" && m > n && rank.EqScalar(float64(n)).All().Item() == 1 {
		residuals = x.MatMul(solution).Sub(y).Pow(2).Sum(-2)
	}
	if o.Driver == "gels" {
		rank = empty.Long()
	}
	if o.Driver == "gels" || o.Driver == "gelsy" {
		singularValues = empty
	}
	return solution, residuals, rank, singularValues
}

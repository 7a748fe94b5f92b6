package tensor

import "math"

// RankOptions set which singular values count as 0: those up to ATol, and those up to RTol
// times the largest.
type RankOptions struct {
	ATol      float64 // absolute tolerance; default 0
	RTol      float64 // relative tolerance; 0 stands for the larger side times the dtype's Eps, or for 0 if ATol is set
	Hermitian bool    // the matrices are symmetric and only the lower triangle is read
}

// cut returns a function that maps the largest singular value of a matrix of t to the largest
// one that counts as 0.
func (o RankOptions) cut(t *Tensor) func(largest float64) float64 {
	rtol := o.RTol
	if rtol == 0 && o.ATol == 0 {
		rtol = float64(max(t.shape[len(t.shape)-2], t.shape[len(t.shape)-1])) * FInfo(t.dtype).Eps
	}
	return func(largest float64) float64 { return max(o.ATol, rtol*largest) }
}

func (o RankOptions) check(op string, t *Tensor) {
	floatMatrices(op, t)
	if o.Hermitian {
		checkSquare(op, t)
	}
	if !(o.ATol >= 0 && o.RTol >= 0) {
		fail(op, []*Tensor{t}, "ATol and RTol are %v and %v; want at least 0", o.ATol, o.RTol)
	}
}

type pinv struct{ RankOptions }

func (pinv) Info() Info { return info("pinverse", "torch.linalg.pinv", SavesAll) }
func (o pinv) Forward(in []*Tensor) *Tensor {
	x := in[0]
	finite("pinverse", x)
	cut := o.cut(x)
	return eachMatrix(x, x.mT().shape, func(b int, a []float64, n int) []float64 {
		if !o.Hermitian {
			return pseudoInvert(a, x.shape[len(x.shape)-2], n, cut).p
		}
		p, ok := invertSymmetric(a, n, cut)
		if !ok {
			fail("pinverse", in, "the eigenvalues of matrix %d did not converge; use Pinv without Hermitian", b)
		}
		return p
	})
}

// VJP follows G. Golub and V. Pereyra, "The Differentiation of Pseudo-Inverses and
// Nonlinear Least Squares Problems Whose Variables Separate", 1973.
func (o pinv) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := wideOf(in[0].dtype)
	a, p, g := in[0].To(d), y.To(d), dy.To(d)
	if o.Hermitian { // only the lower triangle was read
		a = a.Tril(0).Add(a.Tril(-1).mT())
	}
	pt, gt := p.mT(), g.mT()
	da := pt.MatMul(g).MatMul(pt).Neg()
	left := gt.MatMul(p).MatMul(pt)
	da = da.Add(left.Sub(a.MatMul(p.MatMul(left))))
	right := pt.MatMul(p).MatMul(gt)
	return []*Tensor{da.Add(right.Sub(right.MatMul(p).MatMul(a))).To(dy.dtype)}
}

// Pinv returns the Moore-Penrose pseudoinverses (…, n, m) of matrices t (…, m, n). It computes
// in float64 and rounds once. It panics if an element is not finite. It is torch.linalg.pinv, and
// torch.pinverse under autocast.
func (t *Tensor) Pinv(o RankOptions) *Tensor {
	o.check("pinverse", t)
	return apply(pinv{o}, t)
}

// finite panics unless all elements of x are finite.
func finite(op string, x *Tensor) {
	if x.Detach().IsFinite().All().Item() == 0 {
		fail(op, []*Tensor{x}, "an element is not finite; want finite elements")
	}
}

// MatrixRank returns the int64 ranks of matrices t (…, m, n): the numbers of singular values
// that do not count as 0. It is torch.linalg.matrix_rank.
func (t *Tensor) MatrixRank(o RankOptions) *Tensor {
	o.check("linalg_matrix_rank", t)
	x := offered(Info{Name: "linalg_matrix_rank"}, t.Detach())[0]
	s := x.singularValues(o.Hermitian)
	if s.shape[len(s.shape)-1] == 0 {
		return s.Sum(-1).Long()
	}
	cut := o.cut(x)
	limit := eachElement(s.Amax(-1).Unsqueeze(-1), cut)
	return s.Gt(limit).Sum(-1)
}

// singularValues returns the singular values of matrices; if symmetric is set, the magnitudes
// of their eigenvalues.
func (t *Tensor) singularValues(symmetric bool) *Tensor {
	if symmetric {
		return t.EigvalsH().Abs()
	}
	return t.SVDVals()
}

// Cond returns the condition numbers of matrices t (…, m, n) in one of MatrixNorm's orders: the
// norm times the norm of the inverse, for square matrices; +Inf for a singular one. For "2",
// torch's default, it is the ratio of the largest to the smallest singular value, and for "-2"
// its reciprocal, for matrices of any shape. It is torch.linalg.cond.
func (t *Tensor) Cond(order string) *Tensor {
	const op = "linalg_cond"
	m, n := floatMatrices(op, t)
	if m == 0 || n == 0 {
		fail(op, []*Tensor{t}, "the matrices are empty; want (…, m, n) with elements")
	}
	t = offered(Info{Name: op}, t)[0]
	switch order {
	case "2", "-2":
		s := t.SVDVals()
		largest, smallest := s.Select(-1, 0), s.Select(-1, min(m, n)-1)
		if order == "2" {
			return largest.Div(smallest)
		}
		return smallest.Div(largest)
	}
	checkSquare(op, t)
	norm := t.MatrixNorm(order, PNormOptions{})
	singular := t.Detach().Det().EqScalar(0)
	eye := Eye(n).To(t.dtype).ToDevice(t.Device())
	regular := singular.Unsqueeze(-1).Unsqueeze(-1).Where(eye, t)
	inverse := regular.Inverse().MatrixNorm(order, PNormOptions{})
	return singular.Where(constantLike(norm, math.Inf(1)), norm.Mul(inverse))
}

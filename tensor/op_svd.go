package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/internal/linalg"
)

// svd packs u (…, m, k), s (…, 1, k) and v (…, n, k) of matrices (…, m, n) along the rows,
// where k is the smaller of m and n.
type svd struct{}

func (svd) Info() Info { return info("linalg_svd", "torch.linalg.svd", SavesResult) }
func (svd) Forward(in []*Tensor) *Tensor {
	defer noRoom("linalg_svd")
	x := in[0]
	finite("linalg_svd", x)
	r := len(x.shape)
	m, n := x.shape[r-2], x.shape[r-1]
	k := min(m, n)
	values := convert(x, Float64).Float64s()
	batch := size(x.shape[:r-2])
	out := hostSlice[float64]("linalg_svd", batch*(m+n+1)*k)[:0]
	for b := range batch {
		a := values[b*m*n : (b+1)*m*n]
		var u, s, v []float64
		if m >= n {
			u, s, v = linalg.SVD(a, m, n)
		} else {
			v, s, u = linalg.SVD(linalg.Transpose(a, m, n), n, m)
		}
		out = append(append(append(out, u...), s...), v...)
	}
	y := newTensor(x.mem.backend, Float64, append(slices.Clone(x.shape[:r-2]), m+n+1, k))
	return narrow(y.setFloat64s(out), x.dtype)
}

// parts returns the packed u, s and v of matrices of m rows.
func (svd) parts(y *Tensor, m int) (u, s, v *Tensor) {
	return y.Slice(-2, 0, m), y.Slice(-2, m, m+1), y.Slice(-2, m+1, y.shape[len(y.shape)-2])
}

// VJP follows J. Townsend, "Differentiating the Singular Value Decomposition", 2016.
// Where singular values are equal, or 0, u and v have no derivative and 0 is used.
func (o svd) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := Float64 // squares may overflow float32
	r := len(in[0].shape)
	m, n := in[0].shape[r-2], in[0].shape[r-1]
	k := min(m, n)
	u, s, v := o.parts(y.To(d), m)
	du, ds, dv := o.parts(dy.To(d), m)
	zero, one := constant(y, d, 0), constant(y, d, 1)
	inverse := func(x *Tensor) *Tensor {
		none := equalMask(x, zero)
		return none.Where(zero, none.Where(one, x).Reciprocal())
	}
	squares := s.Mul(s)
	f := inverse(squares.Sub(squares.Transpose(-1, -2)))
	eye := Eye(k).To(d).ToDevice(y.Device())
	uu, vv := u.Transpose(-1, -2).MatMul(du), v.Transpose(-1, -2).MatMul(dv)
	skew := func(x *Tensor) *Tensor { return x.Sub(x.Transpose(-1, -2)).Mul(f) }
	core := skew(uu).Mul(s).Add(s.Transpose(-1, -2).Mul(skew(vv))).Add(eye.Mul(ds))
	dx := u.MatMul(core).MatMul(v.Transpose(-1, -2))
	if m > k {
		dx = dx.Add(du.Sub(u.MatMul(uu)).Mul(inverse(s)).MatMul(v.Transpose(-1, -2)))
	}
	if n > k {
		dx = dx.Add(u.MatMul(dv.Sub(v.MatMul(vv)).Mul(inverse(s)).Transpose(-1, -2)))
	}
	return []*Tensor{dx.To(dy.dtype)}
}

// SVD returns the singular value decomposition u diag(s) vh of matrices t (…, m, n): u
// (…, m, k), s (…, k) in descending order and vh (…, k, n), where k is the smaller of m
// and n. The sign of a column of u and its row of vh is arbitrary. It computes in
// float64 and rounds once. It panics if an element is not finite. It is torch.linalg.svd with
// full_matrices=False.
func (t *Tensor) SVD() (u, s, vh *Tensor) {
	t.given("linalg_svd")
	r := len(t.shape)
	if r < 2 {
		fail("linalg_svd", []*Tensor{t}, "t is %d-D; want (…, m, n)", r)
	}
	if !t.dtype.IsFloat() {
		failDType("linalg_svd", []*Tensor{t}, "want a floating-point dtype")
	}
	o := svd{}
	u, s, v := o.parts(apply(o, t), t.shape[r-2])
	return u, s.Squeeze(-2), v.Transpose(-1, -2)
}

// SVDVals returns the singular values of matrices t (…, m, n) in descending order, (…,
// k). It is torch.linalg.svdvals.
func (t *Tensor) SVDVals() *Tensor {
	t.given("linalg_svdvals")
	_, s, _ := t.SVD()
	return s
}

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
	return eachMatrix("pinverse", x, x.mT().shape, func(b int, a []float64, n int) []float64 {
		if !o.Hermitian {
			return linalg.PseudoInverse(a, x.shape[len(x.shape)-2], n, cut).P
		}
		p, ok := linalg.PseudoInverseSymmetric(a, n, cut)
		if !ok {
			fail("pinverse", in, "the eigenvalues of matrix %d did not converge; use Pinv without Hermitian", b)
		}
		return p
	})
}

// VJP follows G. Golub and V. Pereyra, "The Differentiation of Pseudo-Inverses and
// Nonlinear Least Squares Problems Whose Variables Separate", 1973.
func (o pinv) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := Float64 // products may overflow float32
	a, p, g := in[0].To(d), y.To(d), dy.To(d)
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
	sign, _ := t.Detach().SlogDet() // a determinant may underflow
	singular := sign.EqScalar(0)
	eye := Eye(n).To(t.dtype).ToDevice(t.Device())
	regular := singular.Unsqueeze(-1).Unsqueeze(-1).Where(eye, t)
	inverse := regular.Inverse().MatrixNorm(order, PNormOptions{})
	return singular.Where(constantLike(norm, math.Inf(1)), norm.Mul(inverse))
}

package tensor

import "slices"

// slogdet packs the signs of determinants and the logarithms of their magnitudes.
type slogdet struct{}

func (slogdet) Info() Info {
	return info("linalg_slogdet", "torch.linalg.slogdet", SavesOperands)
}
func (slogdet) bundle() bundle { return bundle{{}, {}} }
func (o slogdet) Forward(in []*Tensor) *Tensor {
	x := in[0]
	return eachMatrix(x, o.bundle().shape(x.shape[:len(x.shape)-2]), func(_ int, a []float64, n int) []float64 {
		return factorize(a, n).slogdet()
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
	return eachMatrix(x, o.bundle(x).shape(x.shape[:len(x.shape)-2]), func(_ int, a []float64, n int) []float64 {
		f := factorize(a, n)
		return slices.Concat(f.lu, f.pivots())
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
	sameDType("linalg_lu_solve", in)
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
		rows = append(rows, exchanges(list[b:b+n], undo)...)
	}
	at := FromInt64s(rows).ToDevice(t.Device()).Reshape(pivots.shape...).Unsqueeze(-1)
	return t.Gather(-2, at.expandTo(t.shape))
}

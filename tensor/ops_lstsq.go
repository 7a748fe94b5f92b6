package tensor

import "slices"

// LstsqOptions are the options of Lstsq.
type LstsqOptions struct {
	RCond  float64 // singular values up to RCond times the largest count as 0; 0 stands for the larger side times the dtype's Eps
	Driver string  // "gelsy", the default, "gels", "gelsd" or "gelss"; it selects the results that are returned
}

// lstsq packs the solution (n, k), the rank and the singular values for in = a (…, m, n) and
// b (…, m, k), whose leading sizes are equal.
type lstsq struct{ rcond float64 }

func (lstsq) Info() Info             { return info("linalg_lstsq", "torch.linalg.lstsq", SavesOperands) }
func (o lstsq) options() RankOptions { return RankOptions{RTol: o.rcond} }
func (lstsq) bundle(in []*Tensor) bundle {
	m, n, k := in[0].shape[len(in[0].shape)-2], in[0].shape[len(in[0].shape)-1], in[1].shape[len(in[1].shape)-1]
	return bundle{{n, k}, {}, {min(m, n)}}
}
func (o lstsq) Forward(in []*Tensor) *Tensor {
	sameDType("linalg_lstsq", in)
	a := in[0]
	if a.dtype.Size() < 4 {
		failDType("linalg_lstsq", in, "want float32 or float64: cast with To")
	}
	finite("linalg_lstsq", a)
	m, k := a.shape[len(a.shape)-2], in[1].shape[len(in[1].shape)-1]
	rhs := convert(in[1], Float64).Float64s()
	cut := o.options().cut(a)
	return eachMatrix(a, o.bundle(in).shape(a.shape[:len(a.shape)-2]), func(b int, x []float64, n int) []float64 {
		i := pseudoInvert(x, m, n, cut)
		return slices.Concat(product(i.p, n, m, rhs[b*m*k:(b+1)*m*k], k), []float64{float64(i.rank)}, i.values)
	})
}

// VJP is that of the pseudoinverse times b; ranks and singular values have no derivative.
func (o lstsq) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	f := func(in []*Tensor) *Tensor { return in[0].Pinv(o.options()).MatMul(in[1]) }
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

package tensor

import "slices"

// svd packs u (…, m, k), s (…, 1, k) and v (…, n, k) of matrices (…, m, n) along the rows,
// where k is the smaller of m and n.
type svd struct{}

func (svd) Info() Info { return info("linalg_svd", "torch.linalg.svd", SavesResult) }
func (svd) Forward(in []*Tensor) *Tensor {
	x := in[0]
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
			u, s, v = jacobi(a, m, n)
		} else {
			v, s, u = jacobi(transposed(a, m, n), n, m)
		}
		out = append(append(append(out, u...), s...), v...)
	}
	y := newTensor(x.mem.backend, Float64, append(slices.Clone(x.shape[:r-2]), m+n+1, k))
	return narrow(y.setFloat64s(out), x.dtype)
}

func transposed(a []float64, m, n int) []float64 {
	out := hostSlice[float64]("linalg_svd", len(a))
	for i := range a {
		pollAt(i)
		out[i%n*m+i/n] = a[i]
	}
	return out
}

// parts returns the packed u, s and v of matrices of m rows.
func (svd) parts(y *Tensor, m int) (u, s, v *Tensor) {
	return y.Slice(-2, 0, m), y.Slice(-2, m, m+1), y.Slice(-2, m+1, y.shape[len(y.shape)-2])
}

// VJP follows J. Townsend, "Differentiating the Singular Value Decomposition", 2016.
// Where singular values are equal, or 0, u and v have no derivative and 0 is used.
func (o svd) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := wideOf(in[0].dtype)
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
	return []*Tensor{dx}
}

// SVD returns the singular value decomposition u diag(s) vh of matrices t (…, m, n): u
// (…, m, k), s (…, k) in descending order and vh (…, k, n), where k is the smaller of m
// and n. The sign of a column of u and its row of vh is arbitrary. It computes in
// float64 and rounds once. It is torch.linalg.svd with full_matrices=False.
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

// matrixNorm is a norm of the matrices in two dimensions.
type matrixNorm struct {
	order      string
	rows, cols int
	keep       bool
	given      bool
}

func (m matrixNorm) Info() Info {
	return info("linalg_matrix_norm", "torch.linalg.matrix_norm", SavesOperands).given(m.given)
}
func (m matrixNorm) f(in []*Tensor) *Tensor {
	x := in[0]
	var order []int
	for i := range x.shape {
		if i != m.rows && i != m.cols {
			order = append(order, i)
		}
	}
	x = x.Permute(append(order, m.rows, m.cols)...)
	var y *Tensor
	switch m.order {
	case "fro":
		y = x.VectorNorm(2, PNormOptions{Dims: []int{-2, -1}})
	case "nuc":
		y = x.SVDVals().Sum(-1)
	case "2":
		y = x.SVDVals().Amax(-1)
	case "-2":
		y = x.SVDVals().Amin(-1)
	case "1":
		y = x.Abs().Sum(-2).Amax(-1)
	case "-1":
		y = x.Abs().Sum(-2).Amin(-1)
	case "inf":
		y = x.Abs().Sum(-1).Amax(-1)
	default:
		y = x.Abs().Sum(-1).Amin(-1)
	}
	if m.keep {
		y = y.Reshape(keepDims(in[0].shape, []int{m.rows, m.cols})...)
	}
	return y
}
func (m matrixNorm) Forward(in []*Tensor) *Tensor              { return compose(m.f, in) }
func (m matrixNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(m.f, dy, in) }

type frobeniusNorm struct{ matrixNorm }

func (f frobeniusNorm) Info() Info {
	return info("frobenius_norm", "torch.frobenius_norm", SavesOperands).given(f.given)
}

type nuclearNorm struct{ matrixNorm }

func (n nuclearNorm) Info() Info {
	return info("nuclear_norm", "torch.nuclear_norm", SavesOperands).given(n.given)
}

// orders are the orders of matrix norms.
var orders = []string{"fro", "nuc", "inf", "-inf", "1", "-1", "2", "-2"}

func newMatrixNorm(op string, t *Tensor, order string, o PNormOptions) (matrixNorm, *Tensor) {
	given(op, t)
	if len(o.Dims) == 0 {
		o.Dims = []int{-2, -1}
	}
	if len(o.Dims) != 2 || len(t.shape) < 2 {
		fail(op, []*Tensor{t}, "Dims is %v; want two dimensions", o.Dims)
	}
	m := matrixNorm{order, axis(op, t, o.Dims[0], len(t.shape)), axis(op, t, o.Dims[1], len(t.shape)), false, false}
	switch rows, cols := t.shape[m.rows], t.shape[m.cols]; {
	case m.rows == m.cols:
		fail(op, []*Tensor{t}, "dimensions %v are the same; want two different dimensions", o.Dims)
	case !slices.Contains(orders, order):
		fail(op, []*Tensor{t}, "unknown norm %q; want one of %q", order, orders)
	case (rows == 0 || cols == 0) && order != "fro" && order != "nuc":
		fail(op, []*Tensor{t}, "the matrices are empty, where the norm %q is undefined; want order \"fro\" or \"nuc\"", order)
	}
	n, x := newNorm(op, t, 2, PNormOptions{DType: o.DType})
	m.given = n.given
	return m, x
}

// MatrixNorm returns the norms of the matrices in two dimensions, the last two unless o has
// others. The orders are "fro", the root of the sum of squares; "nuc", the sum of singular values;
// "2" and "-2", the largest and smallest singular value; "1" and "-1", the largest and smallest
// sum of magnitudes of a column; "inf" and "-inf", those of a row. It computes in float32 and
// rounds once. It is torch.linalg.matrix_norm.
func (t *Tensor) MatrixNorm(order string, o PNormOptions) *Tensor {
	m, x := newMatrixNorm("linalg_matrix_norm", t, order, o)
	return apply(m, x)
}

// FrobeniusNorm is MatrixNorm "fro". It is torch.frobenius_norm.
func (t *Tensor) FrobeniusNorm(o PNormOptions) *Tensor {
	m, x := newMatrixNorm("frobenius_norm", t, "fro", o)
	return apply(frobeniusNorm{m}, x)
}

// NuclearNorm is MatrixNorm "nuc". It is torch.nuclear_norm.
func (t *Tensor) NuclearNorm(o PNormOptions) *Tensor {
	m, x := newMatrixNorm("nuclear_norm", t, "nuc", o)
	return apply(nuclearNorm{m}, x)
}

package tensor

import "math"

// matrixExp is the exponential of square matrices.
type matrixExp struct{}

func (matrixExp) Info() Info {
	return info("linalg_matrix_exp", "torch.linalg.matrix_exp", SavesOperands)
}
func (matrixExp) Forward(in []*Tensor) *Tensor {
	finite("linalg_matrix_exp", in[0])
	return eachMatrix(in[0], in[0].shape, func(_ int, a []float64, n int) []float64 { return exponential(a, n) })
}

// VJP returns a block of the exponential of (aᵀ dy; 0 aᵀ): R. Mathias, "A Chain Rule for Matrix
// Functions and Applications", 1996.
func (matrixExp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	n := in[0].shape[len(in[0].shape)-1]
	t := in[0].mT()
	e := Cat(-2, Cat(-1, t, dy), Cat(-1, ZerosLike(t), t)).MatrixExp()
	return []*Tensor{e.Slice(-2, 0, n).Slice(-1, n, 2*n)}
}

// MatrixExp returns the exponentials 1 + t + t²/2 + … of square matrices t (…, n, n). It
// computes in float64 and rounds once. It panics if an element is not finite. It is
// torch.linalg.matrix_exp and torch.matrix_exp.
func (t *Tensor) MatrixExp() *Tensor {
	checkSquare("linalg_matrix_exp", t)
	return apply(matrixExp{}, t)
}

// exponential returns the exponential of the n by n matrix a: Padé's approximation of degree 13
// for a divided by a power of 2, then repeated squaring: N. Higham, "The Scaling and
// Squaring Method for the Matrix Exponential Revisited", 2005.
func exponential(a []float64, n int) []float64 {
	const within = 5.371920351148152 // Higham's θ of degree 13
	norm := 0.0
	for j := range n {
		sum := 0.0
		for i := range n {
			sum += math.Abs(a[i*n+j])
		}
		norm = max(norm, sum)
	}
	squarings := 0
	for ; norm > within; norm /= 2 {
		squarings++
	}
	for i := range a {
		a[i] = math.Ldexp(a[i], -squarings)
	}
	b := [...]float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}
	a2 := product(a, n, n, a, n)
	a4 := product(a2, n, n, a2, n)
	a6 := product(a4, n, n, a2, n)
	// sum is c[0] + c[1] a² + c[2] a⁴ + c[3] a⁶.
	sum := func(c ...float64) []float64 {
		out := hostSlice[float64]("matrix_exp", n*n)
		for i := range n {
			out[i*n+i] = c[0]
		}
		for k, m := range [][]float64{a2, a4, a6} {
			subtract(out, m, -c[k+1])
		}
		return out
	}
	half := func(k int) []float64 { // odd degrees divided by a for k = 1, even degrees for k = 0
		out := product(a6, n, n, sum(0, b[8+k], b[10+k], b[12+k]), n)
		subtract(out, sum(b[k], b[2+k], b[4+k], b[6+k]), -1)
		return out
	}
	u, v := product(a, n, n, half(1), n), half(0)
	below := hostSlice[float64]("matrix_exp", n*n)
	for i := range u {
		below[i] = v[i] - u[i]
		v[i] += u[i]
	}
	e := factorize(below, n).solve(v, n)
	for range squarings {
		e = product(e, n, n, e, n)
	}
	return e
}

// matrixPower is computed by repeated squaring.
type matrixPower struct{ n int }

func (m matrixPower) Info() Info {
	// The powers 0 and 1 have no product that autocast would cast.
	return info("linalg_matrix_power", "torch.linalg.matrix_power", SavesOperands).given(m.n < 2)
}
func (m matrixPower) f(in []*Tensor) *Tensor {
	x := in[0]
	var y *Tensor
	for n := m.n; n > 0; n >>= 1 {
		if n&1 == 1 {
			if y == nil {
				y = x
			} else {
				y = y.MatMul(x)
			}
		}
		if n > 1 {
			x = x.MatMul(x)
		}
	}
	if y == nil {
		k := in[0].shape[len(in[0].shape)-1]
		y = Eye(k).To(in[0].dtype).ToDevice(in[0].Device()).expandTo(in[0].shape)
	}
	return y
}
func (m matrixPower) Forward(in []*Tensor) *Tensor              { return compose(m.f, in) }
func (m matrixPower) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(m.f, dy, in) }

// MatrixPower returns the n-th power of the square matrices t (…, k, k), where n is at least 0.
// It computes in float32 and rounds once. It is torch.linalg.matrix_power.
func (t *Tensor) MatrixPower(n int) *Tensor {
	t.given("linalg_matrix_power")
	r := len(t.shape)
	switch {
	case r < 2 || t.shape[r-2] != t.shape[r-1]:
		fail("linalg_matrix_power", []*Tensor{t}, "t is not a batch of square matrices; want (…, k, k)")
	case n < 0:
		fail("linalg_matrix_power", []*Tensor{t}, "n is %d; want at least 0", n)
	}
	return apply(matrixPower{n}, t)
}

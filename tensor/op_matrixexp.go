package tensor

import "halfnote/tensor/internal/linalg"

// matrixExp is the exponential of square matrices.
type matrixExp struct{}

func (matrixExp) Info() Info {
	return info("linalg_matrix_exp", "torch.linalg.matrix_exp", SavesOperands)
}
func (matrixExp) Forward(in []*Tensor) *Tensor {
	finite("linalg_matrix_exp", in[0])
	return eachMatrix("linalg_matrix_exp", in[0], in[0].shape, func(_ int, a []float64, n int) []float64 { return linalg.Exp(a, n) })
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

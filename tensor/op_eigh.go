package tensor

import "halfnote/tensor/internal/linalg"

// eigh packs the eigenvalues (n) and the eigenvectors (n, n) of symmetric matrices.
type eigh struct{}

func (eigh) Info() Info              { return info("linalg_eigh", "torch.linalg.eigh", SavesResult) }
func (eigh) bundle(x *Tensor) bundle { n := x.shape[len(x.shape)-1]; return bundle{{n}, {n, n}} }
func (o eigh) Forward(in []*Tensor) *Tensor {
	x := in[0]
	finite("linalg_eigh", x)
	return eachMatrix("linalg_eigh", x, o.bundle(x).shape(x.shape[:len(x.shape)-2]), func(b int, a []float64, n int) []float64 {
		w, v, ok := linalg.Eigh(a, n)
		if !ok {
			fail("linalg_eigh", in, "the eigenvalues of matrix %d did not converge; use SVD", b)
		}
		return append(w, v...)
	})
}

// VJP is v (diag(dw) + skew(vᵀ dv) / (w_j - w_i)) vᵀ, symmetric: M. Giles, "An extended collection of
// matrix derivative results for forward and reverse mode algorithmic differentiation",
// 2008, section 3.1. Where eigenvalues are equal, v has no derivative and 0 is used.
func (o eigh) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := Float64 // products may overflow float32
	p := o.bundle(in[0])
	of, by := p.parts(y.To(d)), p.parts(dy.To(d))
	w, v, dw, dv := of[0], of[1], by[0], by[1]
	gaps := w.Unsqueeze(-2).Sub(w.Unsqueeze(-1))
	zero, one := constant(y, d, 0), constant(y, d, 1)
	none := equalMask(gaps, zero)
	turn := v.mT().MatMul(dv)
	inner := none.Where(zero, turn.Sub(turn.mT()).MulScalar(0.5).Div(none.Where(one, gaps)))
	eye := Eye(w.shape[len(w.shape)-1]).To(d).ToDevice(y.Device())
	return []*Tensor{v.MatMul(inner.Add(eye.Mul(dw.Unsqueeze(-1)))).MatMul(v.mT()).To(dy.dtype)}
}

// Eigh returns the eigenvalues (…, n), in ascending order, and the eigenvectors, as columns
// (…, n, n), of symmetric matrices t (…, n, n). Only the lower triangle is read. The sign of an
// eigenvector is arbitrary; eigenvectors of equal eigenvalues are arbitrary too and have no
// derivative. It computes in float64 and rounds once. It panics if an element is not finite. It
// is torch.linalg.eigh.
func (t *Tensor) Eigh() (values, vectors *Tensor) {
	checkSquare("linalg_eigh", t)
	p := eigh{}.bundle(t).parts(apply(eigh{}, t))
	return p[0], p[1]
}

// EigvalsH returns the eigenvalues of Eigh. It is torch.linalg.eigvalsh.
func (t *Tensor) EigvalsH() *Tensor {
	values, _ := t.Eigh()
	return values
}

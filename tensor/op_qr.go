package tensor

import "halfnote/tensor/internal/linalg"

// qr packs q (m, k) and r (k, n) of matrices (m, n); k is m if q is complete, and otherwise
// the smaller of m and n.
type qr struct{ complete bool }

func (qr) Info() Info { return info("linalg_qr", "torch.linalg.qr", SavesAll) }
func (o qr) bundle(x *Tensor) bundle {
	m, n := x.shape[len(x.shape)-2], x.shape[len(x.shape)-1]
	k := min(m, n)
	if o.complete {
		k = m
	}
	return bundle{{m, k}, {k, n}}
}
func (o qr) Forward(in []*Tensor) *Tensor {
	x := in[0]
	p := o.bundle(x)
	m, k := p[0][0], p[0][1]
	return eachMatrix("linalg_qr", x, p.shape(x.shape[:len(x.shape)-2]), func(_ int, a []float64, n int) []float64 {
		f := linalg.QR(a, m, n)
		return append(f.Q(k), f.R(k)...)
	})
}

// VJP follows S. Walter and L. Lehmann, "Algorithmic Differentiation of Linear Algebra
// Functions with Application in Optimum Experimental Design", 2018. For a wide matrix (x y) =
// q (u v) the left part x is decomposed, and y is q v.
func (o qr) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := Float64 // products may overflow float32
	p := o.bundle(in[0])
	m, k, n := p[0][0], p[0][1], p[1][1]
	if k > n {
		fail("linalg_qr", in, "mode complete has no derivative for matrices with more rows than columns; want mode reduced")
	}
	of, by := p.parts(y.To(d)), p.parts(dy.To(d))
	q, r, dq, dr := of[0], of[1], by[0], by[1]
	if m >= n {
		return []*Tensor{squareQR(q, r, dq, dr).To(dy.dtype)}
	}
	right := in[0].To(d).Slice(-1, m, n)
	dv := dr.Slice(-1, m, n)
	dq = dq.Add(right.MatMul(dv.mT()))
	return []*Tensor{Cat(-1, squareQR(q, r.Slice(-1, 0, m), dq, dr.Slice(-1, 0, m)), q.MatMul(dv)).To(dy.dtype)}
}

// squareQR returns (dq + q sym(triu(dr rᵀ - qᵀ dq))) r⁻ᵀ for a square r, where sym mirrors a
// triangle.
func squareQR(q, r, dq, dr *Tensor) *Tensor {
	m := dr.MatMul(r.mT()).Sub(q.mT().MatMul(dq))
	s := m.Triu(0).Add(m.Triu(1).mT())
	return r.SolveTriangular(dq.Add(q.MatMul(s)).mT(), true, TriangularOptions{}).mT()
}

// QR returns the decomposition q r of matrices t (…, m, n), where q has orthonormal columns
// and r is upper triangular, with LAPACK's signs. In mode "reduced" q is (…, m, k) and r is
// (…, k, n), where k is the smaller of m and n. In mode "complete" q is (…, m, m) and r is
// (…, m, n); it has no derivative if m is above n. Mode "r" is "reduced" with an empty q. It
// computes in float64 and rounds once. It is torch.linalg.qr.
func (t *Tensor) QR(mode string) (q, r *Tensor) {
	floatMatrices("linalg_qr", t)
	if mode != "reduced" && mode != "complete" && mode != "r" {
		fail("linalg_qr", []*Tensor{t}, "unknown mode %q; want reduced, complete or r", mode)
	}
	o := qr{mode == "complete"}
	p := o.bundle(t).parts(apply(o, t))
	if mode == "r" {
		p[0] = ZerosLike(p[0]).Reshape(-1).Slice(0, 0, 0)
	}
	return p[0], p[1]
}

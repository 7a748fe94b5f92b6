package tensor

// qr packs q (m, k) and r (k, n) of matrices (m, n); k is m if q is complete, the smaller
// of m and n if not.
type qr struct{ complete bool }

func (qr) Info() Info { return Info{"linalg_qr", "torch.linalg.qr", Keep, ReadsAll} }
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
	return eachMatrix(x, p.shape(x.shape[:len(x.shape)-2]), func(_ int, a []float64, n int) []float64 {
		f := householder(a, m, n)
		return append(f.q(k), f.r(k)...)
	})
}

// VJP follows S. Walter and L. Lehmann, "Algorithmic Differentiation of Linear Algebra
// Functions with Application in Optimum Experimental Design", 2018. Of a wide matrix (x
// y) = q (u v) the left part x is decomposed, and y is q v.
func (o qr) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	d := wideOf(in[0].dtype)
	p := o.bundle(in[0])
	m, k, n := p[0][0], p[0][1], p[1][1]
	if k > n {
		fail("linalg_qr", in, "q is complete and has more rows than the matrix has columns, so that it has no derivative; expected mode reduced")
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

// QR returns the decomposition q r of matrices t (…, m, n), q of orthonormal columns and r
// upper triangular, with LAPACK's signs. The mode is "reduced", where q is (…, m, k) and r
// (…, k, n), k the smaller of m and n; "complete", where q is (…, m, m) and r (…, m, n),
// which has no derivative if m is above n; or "r", as reduced with an empty q. It computes
// in float64 and rounds once. It is torch.linalg.qr.
func (t *Tensor) QR(mode string) (q, r *Tensor) {
	floatMatrices("linalg_qr", t)
	if mode != "reduced" && mode != "complete" && mode != "r" {
		fail("linalg_qr", []*Tensor{t}, "there is no mode %q; expected reduced, complete or r", mode)
	}
	o := qr{mode == "complete"}
	p := o.bundle(t).parts(apply(o, t))
	if mode == "r" {
		p[0] = ZerosLike(p[0]).Reshape(-1).Slice(0, 0, 0)
	}
	return p[0], p[1]
}

package tensor

// decomposed is an operation that torch composes of others on some device.
type decomposed interface {
	Op
	// parts computes the result with the operations that torch uses.
	parts(in []*Tensor) *Tensor
}

// takesApart returns op as a composition of other operations, or nil if it runs as a
// whole.
func (s state) takesApart(op Op) decomposed {
	c, ok := op.(decomposed)
	if !ok {
		return nil
	}
	if d, ok := s.caster.(decomposer); !ok || !d.Decomposes(op.Info()) {
		return nil
	}
	return c
}

func (r rnnTanhCell) parts(in []*Tensor) *Tensor { return r.f(in) }
func (r rnnReLUCell) parts(in []*Tensor) *Tensor { return r.f(in) }
func (g gruCell) parts(in []*Tensor) *Tensor     { return g.f(in) }
func (l lstmCell) parts(in []*Tensor) *Tensor    { return l.f(in) }
func (e einsum) parts(in []*Tensor) *Tensor      { return e.equation.evaluateBy(in, pairUp) }
func (chainMatmul) parts(in []*Tensor) *Tensor   { return multiplyChain(in) }

// parts sums the products of all elements without a matrix product, as torch does.
func (d tensordot) parts(in []*Tensor) *Tensor {
	if len(d.dims[0]) != len(in[0].shape) || len(d.dims[1]) != len(in[1].shape) {
		return d.f(in)
	}
	return in[0].Permute(d.dims[0]...).Ravel().Dot(in[1].Permute(d.dims[1]...).Ravel())
}

func (l localResponseNorm) parts(in []*Tensor) *Tensor { return l.f(in) }

package tensor

// Decomposer is a caster for which some operations are what torch makes of them: their parts
// run in their place, and each is cast by itself, so that dtypes and roundings are those of the
// parts.
type Decomposer interface {
	Caster
	// Decomposes reports whether op runs as its parts.
	Decomposes(op Info) bool
}

// decomposed is an operation that torch makes of others on some device.
type decomposed interface {
	Op
	// parts returns the result by the operations that torch uses.
	parts(in []*Tensor) *Tensor
}

// takesApart returns the parts of op, nil if it runs as a whole.
func (s state) takesApart(op Op) decomposed {
	c, ok := op.(decomposed)
	if !ok {
		return nil
	}
	if d, ok := s.caster.(Decomposer); !ok || !d.Decomposes(op.Info()) {
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

// parts sums products of all elements without a matrix product, as torch does.
func (d tensordot) parts(in []*Tensor) *Tensor {
	if len(d.dims[0]) != len(in[0].shape) || len(d.dims[1]) != len(in[1].shape) {
		return d.f(in)
	}
	return in[0].Permute(d.dims[0]...).Ravel().Dot(in[1].Permute(d.dims[1]...).Ravel())
}

func (l localResponseNorm) parts(in []*Tensor) *Tensor { return l.f(in) }

package tensor

// Max returns the largest element along dim, which is removed, and its int64 index. Of equal
// elements it is the first, which also gets the gradient. NaN counts as largest. It is torch.max
// with dim.
func (t *Tensor) Max(dim int) (values, indices *Tensor) {
	t.given("max")
	return dropped(dim).both(t.KeepDim().Max(dim))
}

// Min returns the smallest element along dim, which is removed, and its int64 index. Of equal
// elements it is the first, which also gets the gradient. NaN counts as smallest. It is
// torch.min with dim.
func (t *Tensor) Min(dim int) (values, indices *Tensor) {
	t.given("min")
	return dropped(dim).both(t.KeepDim().Min(dim))
}

// chosen returns the elements at the positions at, which has size 1 along dim, and at itself.
func (t *Tensor) chosen(at *Tensor, dim int) (values, indices *Tensor) {
	if len(t.shape) == 0 {
		return t.Clone(), at
	}
	return t.Gather(dim, at), at
}

// extreme is the larger or the smaller operand; if one is NaN, it is the other.
type extreme struct {
	name string
	cmp  func(x, y *Tensor) *Tensor
}

func (e extreme) Info() Info { return info(e.name, "torch."+e.name, SavesOperands) }
func (extreme) promotes()    {}
func (e extreme) f(in []*Tensor) *Tensor {
	x, y := in[0], in[1]
	return e.cmp(x, y).Or(y.IsNaN()).Where(x, y)
}
func (e extreme) Forward(in []*Tensor) *Tensor { return compose(e.f, in).To(promoteAll(in)) }
func (e extreme) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(e.f, dy, in)
}

// Fmax returns the larger of t and o, broadcast, or the other operand where one is NaN. If
// they are equal t gets the gradient. It is torch.fmax.
func (t *Tensor) Fmax(o *Tensor) *Tensor { return apply(extreme{"fmax", (*Tensor).Ge}, t, o) }

// Fmin returns the smaller of t and o, broadcast, or the other operand where one is NaN. If
// they are equal t gets the gradient. It is torch.fmin.
func (t *Tensor) Fmin(o *Tensor) *Tensor { return apply(extreme{"fmin", (*Tensor).Le}, t, o) }

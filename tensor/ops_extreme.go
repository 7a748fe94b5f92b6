package tensor

// Max returns the largest element of each row along dim, which drops out, and where it
// is, as int64: the first of equal ones, whose gradient it has. NaN counts as the
// largest number. It is torch.max with dim.
func (t *Tensor) Max(dim int) (values, indices *Tensor) {
	return t.chosen(t.Detach().Argmax(dim), "max", dim)
}

// Min returns the smallest element of each row along dim, which drops out, and where it
// is, as int64: the first of equal ones, whose gradient it has. NaN counts as the
// smallest number. It is torch.min with dim.
func (t *Tensor) Min(dim int) (values, indices *Tensor) {
	return t.chosen(t.Detach().Argmin(dim), "min", dim)
}

// chosen returns the elements that at names along dim, and at.
func (t *Tensor) chosen(at *Tensor, op string, dim int) (values, indices *Tensor) {
	if len(t.shape) == 0 {
		return t.Clone(), at
	}
	d := axis(op, t, dim, len(t.shape))
	return t.Gather(d, at.Unsqueeze(d)).Squeeze(d), at
}

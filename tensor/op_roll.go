package tensor

import "halfnote/tensor/driver"

type roll struct{ dim, shift int }

func (roll) Info() Info  { return info("roll", "torch.roll", SavesNothing) }
func (roll) moves() bool { return true }

func (r roll) Forward(in []*Tensor) *Tensor {
	x := in[0]
	y := unsetTensor(x.mem.backend, x.dtype, x.shape)
	n := x.shape[r.dim]
	part := func(t *Tensor, from, to int) *Tensor { return sliced(t, slice{r.dim, from, to}) }
	run(driver.Kernel{Code: driver.Copy}, part(y, r.shift, n), part(x, 0, n-r.shift))
	run(driver.Kernel{Code: driver.Copy}, part(y, 0, r.shift), part(x, n-r.shift, n))
	return y
}

func (r roll) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{dy.Roll(-r.shift, r.dim)}
}

// Roll returns t with its elements shifted by shift along dim. Elements beyond the end
// reappear at the start. It is torch.roll.
func (t *Tensor) Roll(shift, dim int) *Tensor {
	t.given("roll")
	d := axis("roll", t, dim, len(t.shape))
	if n := t.shape[d]; n > 0 {
		shift = (shift%n + n) % n
	}
	if t.shape[d] == 0 || shift == 0 {
		return apply(clone{}, t)
	}
	return apply(roll{d, shift}, t)
}

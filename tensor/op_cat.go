package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type cat struct{ dim int }

func (cat) Info() Info  { return info("cat", "torch.cat", SavesNothing) }
func (cat) moves() bool { return true }
func (cat) promotes()   {}
func (c cat) Forward(in []*Tensor) *Tensor {
	shape := slices.Clone(in[0].shape)
	for _, t := range in[1:] {
		shape[c.dim] += t.shape[c.dim]
	}
	y := unsetTensor(in[0].mem.backend, in[0].dtype, shape)
	from := 0
	for _, t := range in {
		run(driver.Kernel{Code: driver.Copy}, sliced(y, slice{c.dim, from, from + t.shape[c.dim]}), t)
		from += t.shape[c.dim]
	}
	return y
}
func (c cat) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	from := 0
	for i, t := range in {
		out[i] = dy.Narrow(c.dim, from, t.shape[c.dim])
		from += t.shape[c.dim]
	}
	return out
}

// Cat returns ts concatenated along dim, in the dtype that they promote to. Their other sizes
// must be equal. Empty vectors are left out. It is torch.cat.
func Cat(dim int, ts ...*Tensor) *Tensor {
	given("cat", ts...)
	if len(ts) == 0 {
		panic(named(&Error{Op: "cat", Why: "no tensors given; want at least 1"}))
	}
	first := ts[0]
	for _, t := range ts {
		if len(t.shape) == 0 {
			fail("cat", ts, "cannot concatenate a scalar; want at least 1 dimension: use Stack")
		}
		if !emptyVector(t) {
			first = t
			break
		}
	}
	d := axis("cat", first, dim, len(first.shape))
	in := make([]*Tensor, 0, len(ts))
	for i, t := range ts {
		if emptyVector(t) && len(first.shape) > 1 {
			in = append(in, t.Reshape(slices.Replace(first.Shape(), d, d+1, 0)...))
			continue
		}
		if len(t.shape) != len(first.shape) || !slices.Equal(keepDims(t.shape, []int{d}), keepDims(first.shape, []int{d})) {
			fail("cat", []*Tensor{first, t}, "tensor %d does not match the others; want equal sizes in all dimensions but %d", i, d)
		}
		in = append(in, t)
	}
	return apply(cat{d}, in...)
}

func emptyVector(t *Tensor) bool { return len(t.shape) == 1 && t.shape[0] == 0 }

type stack struct{ dim int }

func (stack) Info() Info  { return info("stack", "torch.stack", SavesNothing) }
func (stack) moves() bool { return true }
func (stack) promotes()   {}
func (s stack) Forward(in []*Tensor) *Tensor {
	y := unsetTensor(in[0].mem.backend, in[0].dtype, slices.Insert(slices.Clone(in[0].shape), s.dim, len(in)))
	for i, t := range in {
		part := sliced(y, slice{s.dim, i, i + 1})
		run(driver.Kernel{Code: driver.Copy}, part.alias(part.offset, t.shape, slices.Delete(slices.Clone(part.stride), s.dim, s.dim+1)), t)
	}
	return y
}
func (s stack) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	for i := range in {
		out[i] = dy.Select(s.dim, i)
	}
	return out
}

// Stack returns ts, which have the same shape, along a new dimension dim, in the dtype that
// they promote to. It is torch.stack.
func Stack(dim int, ts ...*Tensor) *Tensor {
	given("stack", ts...)
	if len(ts) == 0 {
		panic(named(&Error{Op: "stack", Why: "no tensors given; want at least 1"}))
	}
	for i, t := range ts {
		if !slices.Equal(t.shape, ts[0].shape) {
			fail("stack", []*Tensor{ts[0], t}, "tensor %d does not have the shape of tensor 0; want equal shapes", i)
		}
	}
	return apply(stack{axis("stack", ts[0], dim, len(ts[0].shape)+1)}, ts...)
}

// HStack returns ts concatenated along dimension 1, or dimension 0 for vectors. It is
// torch.hstack.
func HStack(ts ...*Tensor) *Tensor {
	given("hstack", ts...)
	in := each(ts, 1)
	if len(in) > 0 && len(in[0].shape) == 1 {
		return Cat(0, in...)
	}
	return Cat(1, in...)
}

// VStack returns ts concatenated along dimension 0, with vectors as rows. It is
// torch.vstack.
func VStack(ts ...*Tensor) *Tensor {
	given("vstack", ts...)
	return Cat(0, each(ts, 2)...)
}

// DStack returns ts concatenated along dimension 2. It is torch.dstack.
func DStack(ts ...*Tensor) *Tensor {
	given("dstack", ts...)
	return Cat(2, each(ts, 3)...)
}

// each returns ts with at least the given number of dimensions, added as torch.atleast_1d,
// atleast_2d and atleast_3d do.
func each(ts []*Tensor, dims int) []*Tensor {
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		t = raised(t)
		if dims > 1 && len(t.shape) == 1 {
			t = t.Unsqueeze(0)
		}
		if dims > 2 && len(t.shape) == 2 {
			t = t.Unsqueeze(2)
		}
		out[i] = t
	}
	return out
}

package tensor

import "slices"

type flip struct{ dims []int }

func (flip) Info() Info  { return info("flip", "torch.flip", SavesNothing) }
func (flip) moves() bool { return true }

func (f flip) Forward(in []*Tensor) *Tensor {
	x := in[0]
	offset, stride := x.offset, slices.Clone(x.stride)
	for _, d := range f.dims {
		offset += max(x.shape[d]-1, 0) * stride[d]
		stride[d] = -stride[d]
	}
	return duplicate(x.alias(offset, x.shape, stride))
}

func (f flip) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(f, dy)} }

// Flip returns t with its elements in reverse order along dims, or along all dimensions if
// none is given. It is torch.flip.
func (t *Tensor) Flip(dims ...int) *Tensor { return apply(flip{axes("flip", t, dims)}, t) }

// Rot90 returns t rotated k times by 90 degrees in the plane of dimensions i and j, from i
// towards j. It is torch.rot90.
func (t *Tensor) Rot90(k, i, j int) *Tensor {
	t.given("rot90")
	a, b := axis("rot90", t, i, len(t.shape)), axis("rot90", t, j, len(t.shape))
	if a == b {
		fail("rot90", []*Tensor{t}, "dimensions %d and %d are the same; want two different dimensions", i, j)
	}
	switch (k%4 + 4) % 4 {
	case 1:
		return t.Flip(b).Transpose(a, b)
	case 2:
		return t.Flip(a, b)
	case 3:
		return t.Flip(a).Transpose(a, b)
	}
	return t
}

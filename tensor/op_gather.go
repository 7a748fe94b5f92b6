package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type gather struct{ dim int }

func (gather) Info() Info  { return info("gather", "torch.gather", SavesIndices) }
func (gather) moves() bool { return true }
func (g gather) Forward(in []*Tensor) *Tensor {
	y := unsetTensor(in[0].mem.backend, in[0].dtype, in[1].shape)
	run(driver.Kernel{Code: driver.Gather, Axis: g.dim}, y, in[0], in[1])
	return y
}
func (g gather) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(scatterAdd{g.dim}, zerosOf(dy, in[0].shape), dy, in[1]), nil}
}

// Gather returns an element of t for each element of index: y[i][j] = t[index[i][j]][j] for
// dim 0. index has t's number of dimensions, and its sizes are at most t's in all dimensions but
// dim. It is torch.gather.
func (t *Tensor) Gather(dim int, index *Tensor) *Tensor {
	given("gather", t, index)
	if len(t.shape) == 0 && len(index.shape) == 0 {
		return t.Reshape(1).Gather(dim, index.Reshape(1)).Reshape()
	}
	d := placed("gather", t, dim, index)
	return apply(gather{d}, t, positions("gather", t, index, d, t.shape[d], false))
}

// placed checks the shape of index, positions in t along dim, and returns dim counted from
// the front.
func placed(op string, t *Tensor, dim int, index *Tensor) int {
	given(op, t, index)
	d := axis(op, t, dim, len(t.shape))
	ok := len(index.shape) == len(t.shape)
	for i := range t.shape {
		ok = ok && (i == d || index.shape[i] <= t.shape[i])
	}
	if !ok {
		fail(op, []*Tensor{t, index}, "index does not match t; want as many dimensions, and sizes at most t's in all but dimension %d", d)
	}
	return d
}

// TakeAlongDim is Gather with t and index broadcast in all dimensions but dim, and with
// positions that may count from the end. It is torch.take_along_dim.
func (t *Tensor) TakeAlongDim(index *Tensor, dim int) *Tensor {
	given("take_along_dim", t, index)
	d := axis("take_along_dim", t, dim, len(t.shape))
	if len(index.shape) != len(t.shape) {
		fail("take_along_dim", []*Tensor{t, index}, "t is %d-D and index %d-D; want the same number of dimensions", len(t.shape), len(index.shape))
	}
	whole, part := slices.Clone(t.shape), slices.Clone(index.shape)
	for i := range whole {
		if i == d {
			continue
		}
		n, ok := broadcastShapes(whole[i:i+1], part[i:i+1])
		if !ok {
			fail("take_along_dim", []*Tensor{t, index}, "t and index do not broadcast in dimension %d; want equal sizes or size 1", i)
		}
		whole[i], part[i] = n[0], n[0]
	}
	p := positions("take_along_dim", t, index, d, t.shape[d], true)
	return apply(gather{d}, t.expandTo(whole), p.expandTo(part))
}

// Take returns the elements of t at the positions index, counted in row-major order, in
// index's shape; -1 is the last. It is torch.take.
func (t *Tensor) Take(index *Tensor) *Tensor {
	given("take", t, index)
	p := positions("take", t, index, 0, t.Numel(), true)
	return apply(gather{0}, t.Reshape(t.Numel()), p.Reshape(p.Numel())).Reshape(index.shape...)
}

type indexSelect struct{ dim int }

func (indexSelect) Info() Info {
	return info("index_select", "torch.index_select", SavesIndices)
}
func (indexSelect) moves() bool { return true }
func (s indexSelect) Forward(in []*Tensor) *Tensor {
	x, index := in[0], in[1]
	shape := slices.Clone(x.shape)
	shape[s.dim] = index.shape[0]
	y := unsetTensor(x.mem.backend, x.dtype, shape)
	run(driver.Kernel{Code: driver.Gather, Axis: s.dim}, y, x, vectorAlong(index, shape, s.dim))
	return y
}
func (s indexSelect) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(indexAdd{s.dim, 1}, zerosOf(dy, in[0].shape), dy, in[1]), nil}
}

// IndexSelect returns the slices of t along dim at the positions index, a vector. It is
// torch.index_select.
func (t *Tensor) IndexSelect(dim int, index *Tensor) *Tensor {
	t.given("index_select")
	d := axis("index_select", t, dim, len(t.shape))
	return apply(indexSelect{d}, t, positions("index_select", t, vector("index_select", t, index), d, t.shape[d], false))
}

package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type indexSelect struct{ dim int }

func (indexSelect) Info() Info {
	return info("index_select", "torch.index_select", SavesIndices)
}
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

type indexAdd struct {
	dim   int
	alpha float64
}

func (indexAdd) Info() Info { return info("index_add", "torch.index_add", SavesIndices) }
func (a indexAdd) Forward(in []*Tensor) *Tensor {
	sameDType("index_add", in[:2])
	x, src, index := in[0], in[1], in[2]
	if a.alpha != 1 {
		src = affineOf(wide(src), a.alpha, 0)
	}
	return meeting(driver.ScatterAdd, a.dim, x, src, vectorAlong(index, src.shape, a.dim))
}
func (a indexAdd) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	dsrc := apply(indexSelect{a.dim}, dy, in[2])
	if a.alpha != 1 {
		dsrc = dsrc.MulScalar(a.alpha)
	}
	return []*Tensor{dy, dsrc, nil}
}

// IndexAdd returns t with alpha times the slices of src along dim added at the positions index,
// a vector: in src's order, in float32 for halves, rounded once. It is
// torch.index_add.
func (t *Tensor) IndexAdd(dim int, index, src *Tensor, alpha float64) *Tensor {
	d, p := slicesAt("index_add", t, dim, index, src, false)
	return apply(indexAdd{d, alpha}, t, src, p)
}

// slicesAt checks that src has a slice for each element of index, and t's sizes elsewhere.
func slicesAt(op string, t *Tensor, dim int, index, src *Tensor, wrap bool) (int, *Tensor) {
	given(op, t, index)
	need(op, "src", src != nil, "a tensor")
	d := axis(op, t, dim, len(t.shape))
	index = vector(op, t, index)
	want := slices.Clone(t.shape)
	want[d] = index.shape[0]
	if !slices.Equal(src.shape, want) {
		fail(op, []*Tensor{t, index, src}, "src does not match; want shape %s, with a slice along dimension %d for each index", shapeString(want), d)
	}
	return d, positions(op, t, index, d, t.shape[d], wrap)
}

type indexCopy struct{ dim int }

func (indexCopy) Info() Info { return info("index_copy", "torch.index_copy", SavesIndices) }
func (c indexCopy) Forward(in []*Tensor) *Tensor {
	sameDType("index_copy", in[:2])
	y := duplicate(in[0])
	run(driver.Kernel{Code: driver.Scatter, Axis: c.dim}, y, in[1], vectorAlong(in[2], in[1].shape, c.dim))
	return y
}
func (c indexCopy) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(indexFill{c.dim, 0}, dy, in[2]), apply(indexSelect{c.dim}, dy, in[2]), nil}
}

// IndexCopy returns t with the slices along dim at the positions index, a vector, replaced by
// those of src. If a position repeats, the last slice stays. It is
// torch.index_copy.
func (t *Tensor) IndexCopy(dim int, index, src *Tensor) *Tensor {
	d, p := slicesAt("index_copy", t, dim, index, src, false)
	return apply(indexCopy{d}, t, src, p)
}

type indexFill struct {
	dim   int
	value float64
}

func (indexFill) Info() Info { return info("index_fill", "torch.index_fill", SavesIndices) }
func (f indexFill) Forward(in []*Tensor) *Tensor {
	x, index := in[0], in[1]
	y := duplicate(x)
	shape := slices.Clone(x.shape)
	shape[f.dim] = index.shape[0]
	value := repeated(constant(x, x.dtype, f.value), shape)
	run(driver.Kernel{Code: driver.Scatter, Axis: f.dim}, y, value, vectorAlong(index, shape, f.dim))
	return y
}
func (f indexFill) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(indexFill{f.dim, 0}, dy, in[1]), nil}
}

// IndexFill returns t with value in all slices along dim at the positions index, a vector;
// -1 is the last. It panics if t's dtype rounds a finite value to infinity. It is
// torch.index_fill.
func (t *Tensor) IndexFill(dim int, index *Tensor, value float64) *Tensor {
	t.given("index_fill")
	checkFinite("index_fill", t.dtype, value)
	d := axis("index_fill", t, dim, len(t.shape))
	return apply(indexFill{d, value}, t, positions("index_fill", t, vector("index_fill", t, index), d, t.shape[d], true))
}

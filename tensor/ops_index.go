package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// index picks elements by positions in several dimensions. Its operands are x and, for each
// of dims, which are sorted, a tensor of positions; these all have the same shape. The
// positions' dimensions replace dims if those are adjacent and come first otherwise: torch's
// rule and NumPy's.
type index struct{ dims []int }

func (index) Info() Info { return info("index", "torch.ops.aten.index", SavesIndices) }
func (o index) Forward(in []*Tensor) *Tensor {
	x, at := o.arranged(in[0])
	flat, out := o.flat(x, at, in[1:])
	v := joined(x, at, len(o.dims))
	y := unsetTensor(x.mem.backend, x.dtype, out)
	parts := slices.Replace(slices.Clone(v.shape), at, at+1, flat.shape[0])
	run(driver.Kernel{Code: driver.Gather, Axis: at}, shaped(y, parts), v, vectorAlong(flat, parts, at))
	return y
}
func (o index) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	dx := apply(indexPut{o, true}, append([]*Tensor{zerosOf(dy, in[0].shape), dy}, in[1:]...)...)
	return append([]*Tensor{dx}, make([]*Tensor, len(in)-1)...)
}

// arranged returns x with the indexed dimensions adjacent, from dimension at on.
func (o index) arranged(x *Tensor) (y *Tensor, at int) {
	first, last := o.dims[0], o.dims[len(o.dims)-1]
	if last-first == len(o.dims)-1 {
		return x, first
	}
	return permuted(x, o.order(x)), 0
}

// order is a permutation of x's dimensions with the indexed ones first.
func (o index) order(x *Tensor) []int {
	rest := slices.DeleteFunc(seq(len(x.shape)), func(d int) bool { return slices.Contains(o.dims, d) })
	return append(slices.Clone(o.dims), rest...)
}

// flat returns the positions as a vector of positions in the indexed dimensions joined into
// one, and the shape of the result.
func (o index) flat(x *Tensor, at int, positions []*Tensor) (flat *Tensor, out []int) {
	b := positions[0].shape
	flat = newTensor(x.mem.backend, Int64, b)
	step := 1
	for i := len(positions) - 1; i >= 0; i-- {
		run(driver.Kernel{Code: driver.AddScaled, Alpha: float64(step)}, flat, flat, positions[i])
		step *= x.shape[at+i]
	}
	out = slices.Replace(slices.Clone(x.shape), at, at+len(o.dims), b...)
	return shaped(flat, []int{flat.Numel()}), out
}

// joined returns x with n dimensions, from at on, merged into one: a view if the strides
// allow it.
func joined(x *Tensor, at, n int) *Tensor {
	shape := slices.Replace(slices.Clone(x.shape), at, at+n, size(x.shape[at:at+n]))
	return reshape{shape: shape}.Forward([]*Tensor{x})
}

// indexPut puts elements where index takes them from, or adds them there.
type indexPut struct {
	index
	add bool
}

func (indexPut) Info() Info { return info("index_put", "torch.index_put", SavesIndices) }
func (p indexPut) Forward(in []*Tensor) *Tensor {
	sameDType("index_put", in[:2])
	x, at := p.arranged(in[0])
	y := duplicate(x)
	if p.add {
		y = narrow(y, wideOf(x.dtype))
	}
	p.into(y, at, in[1], in[2:])
	y = narrow(y, x.dtype)
	if x == in[0] {
		return y
	}
	back := make([]int, len(x.shape))
	for i, d := range p.order(in[0]) {
		back[d] = i
	}
	return duplicate(permuted(y, back))
}
func (p indexPut) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	dx := dy
	if !p.add {
		dx = apply(p, append([]*Tensor{dy, zerosOf(dy, in[1].shape)}, in[2:]...)...)
	}
	dvalues := apply(p.index, append([]*Tensor{dy}, in[2:]...)...)
	return append([]*Tensor{dx, dvalues}, make([]*Tensor, len(in)-2)...)
}

// into puts values into y, which is arranged and contiguous.
func (p indexPut) into(y *Tensor, at int, values *Tensor, positions []*Tensor) {
	flat, _ := p.flat(y, at, positions)
	v := joined(y, at, len(p.dims))
	parts := slices.Replace(slices.Clone(v.shape), at, at+1, flat.shape[0])
	code := driver.Scatter
	if p.add {
		code, values = driver.ScatterAdd, wide(values)
	}
	run(driver.Kernel{Code: code, Axis: at}, v, reshape{shape: parts}.Forward([]*Tensor{values}), vectorAlong(flat, parts, at))
}

package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type scatter struct{ dim int }

func (scatter) Info() Info  { return info("scatter", "torch.scatter", SavesIndices) }
func (scatter) moves() bool { return true }
func (s scatter) Forward(in []*Tensor) *Tensor {
	oneDType("scatter", in[:2], "")
	y := duplicate(in[0])
	run(driver.Kernel{Code: driver.Scatter, Axis: s.dim}, y, in[1], in[2])
	return y
}
func (s scatter) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(s, dy, zerosOf(dy, in[1].shape), in[2]), apply(gather{s.dim}, dy, in[2]), nil}
}

// Scatter returns t with the elements of src stored at the positions index, the inverse of
// Gather: y[index[i][j]][j] = src[i][j] for dim 0. The sizes of src are at least those of index.
// If several elements are sent to one position, the last in row-major order stays, and each gets
// the gradient of that position, as in torch. It is torch.scatter.
func (t *Tensor) Scatter(dim int, index, src *Tensor) *Tensor {
	t.given("scatter")
	d, p := scattering("scatter", t, dim, index)
	return apply(scatter{d}, t, sourceOf("scatter", index, src), p)
}

// ScatterValue is Scatter with a number as src.
func (t *Tensor) ScatterValue(dim int, index *Tensor, value float64) *Tensor {
	given("scatter", t, index)
	checkFinite("scatter", t.dtype, value)
	d, p := scattering("scatter", t, dim, index)
	return apply(scatter{d}, t, constant(t, t.dtype, value).expandTo(index.shape), p)
}

func scattering(op string, t *Tensor, dim int, index *Tensor) (int, *Tensor) {
	d := placed(op, t, dim, index)
	return d, positions(op, t, index, d, t.shape[d], false)
}

// sourceOf returns the part of src that index uses.
func sourceOf(op string, index, src *Tensor) *Tensor {
	need(op, "src", src != nil, "a tensor")
	if len(src.shape) != len(index.shape) {
		fail(op, []*Tensor{index, src}, "index and src do not match; want as many dimensions in src as in index")
	}
	for d, n := range index.shape {
		if n > src.shape[d] {
			fail(op, []*Tensor{index, src}, "src is smaller than index; want size %d or more in dimension %d", n, d)
		}
		src = src.Narrow(d, 0, n)
	}
	return src
}

type scatterAdd struct{ dim int }

func (scatterAdd) Info() Info { return info("scatter_add", "torch.scatter_add", SavesIndices) }
func (s scatterAdd) Forward(in []*Tensor) *Tensor {
	sameDType("scatter_add", in[:2])
	return meeting(driver.ScatterAdd, s.dim, in[0], in[1], in[2])
}
func (s scatterAdd) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy, apply(gather{s.dim}, dy, in[2]), nil}
}

// meeting returns x after kernel c has combined src into it at index along dim, computed in
// float32 for halves and rounded once.
func meeting(c driver.Code, dim int, x, src, index *Tensor) *Tensor {
	if src.dtype == x.dtype && x.mem.backend.Offers(c, x.dtype, x.dtype, Int64) {
		y := duplicate(x)
		run(driver.Kernel{Code: c, Axis: dim}, y, src, index)
		return y
	}
	y, w := unsetTensor(x.mem.backend, wideOf(x.dtype), x.shape), wide(src)
	run(driver.Kernel{Code: driver.Copy}, y, x)
	run(driver.Kernel{Code: c, Axis: dim}, y, w, index)
	if w != src {
		release(w)
	}
	return narrow(y, x.dtype)
}

// ScatterAdd returns t with the elements of src added at the positions index:
// y[index[i][j]][j] += src[i][j] for dim 0, in row-major order of src, in float32 for
// halves, rounded once. It is torch.scatter_add.
func (t *Tensor) ScatterAdd(dim int, index, src *Tensor) *Tensor {
	t.given("scatter_add")
	d, p := scattering("scatter_add", t, dim, index)
	return apply(scatterAdd{d}, t, sourceOf("scatter_add", index, src), p)
}

// scatterReduce combines the elements that are sent to one position.
type scatterReduce struct {
	dim     int
	how     string
	without bool // ignore the element of t at positions that receive elements
}

// joins are the kernels of scatterReduce.
var joins = map[string]driver.Code{
	"sum": driver.ScatterAdd, "mean": driver.ScatterAdd, "prod": driver.ScatterMul, "amax": driver.ScatterMax, "amin": driver.ScatterMin,
}

func (scatterReduce) Info() Info {
	return info("scatter_reduce", "torch.scatter_reduce", SavesAll)
}
func (s scatterReduce) Forward(in []*Tensor) *Tensor {
	oneDType("scatter_reduce", in[:2], "")
	x, src, index := in[0], in[1], in[2]
	y, w := narrow(duplicate(x), wideOf(x.dtype)), wide(src)
	if s.without {
		start := w // the element of t may count twice in a maximum
		switch s.how {
		case "sum", "mean":
			start = repeated(constant(x, y.dtype, 0), index.shape)
		case "prod":
			start = repeated(constant(x, y.dtype, 1), index.shape)
		}
		run(driver.Kernel{Code: driver.Scatter, Axis: s.dim}, y, start, index)
	}
	run(driver.Kernel{Code: joins[s.how], Axis: s.dim}, y, w, index)
	if s.how == "mean" {
		y = s.divided(y, index)
	}
	return narrow(y, x.dtype)
}

// divided returns the sums y divided by their counts; integers are rounded down.
func (s scatterReduce) divided(y, index *Tensor) *Tensor {
	n := s.counts(y, index)
	if y.dtype.IsFloat() {
		run(driver.Kernel{Code: driver.Div}, y, y, n)
		return y
	}
	sums, counts := y.Int64s(), n.Int64s()
	for i, c := range counts {
		pollAt(i)
		q := sums[i] / c
		if sums[i]%c < 0 {
			q--
		}
		sums[i] = q
	}
	return FromInt64s(sums, y.shape...)
}

// counts returns the number of elements that go into each element of y, at least 1.
func (s scatterReduce) counts(y, index *Tensor) *Tensor {
	n := newTensor(y.mem.backend, wideOf(y.dtype), y.shape)
	if !s.without {
		run(driver.Kernel{Code: driver.Fill, Alpha: 1}, n)
	}
	one := constant(n, n.dtype, 1)
	run(driver.Kernel{Code: driver.ScatterAdd, Axis: s.dim}, n, repeated(one, index.shape), index)
	runBroadcast(driver.Kernel{Code: driver.Max}, n, n, one)
	return n
}

// VJP follows scatter_reduce_backward in torch/csrc/autograd/FunctionsManual.cpp.
func (s scatterReduce) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	x, src, index := in[0], in[1], in[2]
	take := func(t *Tensor) *Tensor { return apply(gather{s.dim}, t, index) }
	var dx, dsrc *Tensor
	switch s.how {
	case "sum":
		dx, dsrc = dy, take(dy)
	case "mean":
		dx = dy.Div(s.counts(dy, index).To(dy.dtype))
		dsrc = take(dx)
	case "prod":
		dx, dsrc = s.products(dy, x, src, index)
	default:
		// Equal elements share the gradient.
		xLeads, srcLeads := equalMask(x, y), equalMask(src, take(y))
		share := dy.Div(apply(scatterAdd{s.dim}, xLeads, srcLeads, index))
		dx, dsrc = share.Mul(xLeads), take(share).Mul(srcLeads)
	}
	if s.without {
		dx = apply(scatter{s.dim}, dx, zerosOf(dx, index.shape), index)
	}
	return []*Tensor{dx, dsrc, nil}
}

// products returns the gradients of a product: the gradient of each factor is the product of
// the others. Zeros are replaced by 1 in it, which is correct for a single zero, and the result is
// 0 if there are more.
func (s scatterReduce) products(dy, x, src, index *Tensor) (dx, dsrc *Tensor) {
	take := func(t *Tensor) *Tensor { return apply(gather{s.dim}, t, index) }
	zero := func(t *Tensor) *Tensor { return equalMask(t, zerosOf(t, t.shape)) }
	one := constant(dy, dy.dtype, 1)
	xZero, srcZero := zero(x), zero(src)
	count := apply(scatterAdd{s.dim}, zerosOf(dy, x.shape), srcZero, index)
	single := srcZero.Mul(equalMask(take(count), one.expandTo(index.shape)))
	full := func(x, src *Tensor) *Tensor { return apply(s, x, src, index) }

	safeX := xZero.Where(one, x)
	dx = dy.Mul(full(safeX, src)).Div(safeX)
	alone := take(dy.Mul(full(x, single.Where(one, src))))
	among := take(dy.Mul(full(x, src))).Div(srcZero.Where(one, src))
	return dx, single.Where(alone, among)
}

// ScatterReduceOptions are the options of ScatterReduce.
type ScatterReduceOptions struct {
	// ExcludeSelf ignores t's own elements at positions that receive elements of src:
	// include_self=False.
	ExcludeSelf bool
}

// ScatterReduce returns t with each element combined with the elements of src that index sends
// to it, as in Scatter. how is "sum", "prod", "mean", "amax" or "amin". It is
// torch.scatter_reduce.
func (t *Tensor) ScatterReduce(dim int, index, src *Tensor, how string, o ScatterReduceOptions) *Tensor {
	if _, ok := joins[how]; !ok {
		fail("scatter_reduce", []*Tensor{t, index, src}, "unknown reduction %q; want sum, prod, mean, amax or amin", how)
	}
	d, p := scattering("scatter_reduce", t, dim, index)
	return apply(scatterReduce{d, how, o.ExcludeSelf}, t, sourceOf("scatter_reduce", index, src), p)
}

type indexAdd struct {
	dim   int
	alpha float64
}

func (indexAdd) Info() Info { return info("index_add", "torch.index_add", SavesIndices) }
func (a indexAdd) Forward(in []*Tensor) *Tensor {
	oneDType("index_add", in[:2], "")
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

func (indexCopy) Info() Info  { return info("index_copy", "torch.index_copy", SavesIndices) }
func (indexCopy) moves() bool { return true }
func (c indexCopy) Forward(in []*Tensor) *Tensor {
	oneDType("index_copy", in[:2], "")
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

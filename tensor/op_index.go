package tensor

import (
	"fmt"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// index picks elements by positions in several dimensions. Its operands are x and, for each
// of dims, which are sorted, a tensor of positions; these all have the same shape. The
// positions' dimensions replace dims if those are adjacent and come first otherwise: torch's
// rule and NumPy's.
type index struct{ dims []int }

func (index) Info() Info  { return info("index", "torch.ops.aten.index", SavesIndices) }
func (index) moves() bool { return true }
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

func (indexPut) Info() Info    { return info("index_put", "torch.index_put", SavesIndices) }
func (p indexPut) moves() bool { return !p.add }
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

// Range is a range of positions along a dimension, for [Tensor.Index]. R makes one.
type Range struct{ from, to, step int }

// End is the end of a dimension in R.
const End = math.MaxInt

// IndexItem is an item of [Tensor.Index] for one or more whole dimensions.
type IndexItem uint8

// Items that Index accepts besides numbers, ranges and tensors.
const (
	All      IndexItem = iota // whole dimension: ":"
	Ellipsis                  // as many whole dimensions as remain: "..."
	NewAxis                   // new dimension of size 1: "None"
)

// R returns a range of a dimension: R(a) is a:, R(a, b) is a:b and R(a, b, step) is a:b:step.
// Negative bounds count from the end, End is the end, and bounds out of range are clipped, as
// in Python.
func R(bounds ...int) Range {
	r := Range{0, End, 1}
	switch len(bounds) {
	case 3:
		r.step = bounds[2]
		fallthrough
	case 2:
		r.to = bounds[1]
		fallthrough
	case 1:
		r.from = bounds[0]
	default:
		panic(named(&Error{Op: "r", Why: fmt.Sprintf("got %d numbers; want from, from and to, or from, to and step", len(bounds))}))
	}
	if r.step < 1 {
		panic(named(&Error{Op: "r", Why: fmt.Sprintf("step is %d; want at least 1; use Flip to reverse", r.step)}))
	}
	return r
}

// String returns the range as Python writes it.
func (r Range) String() string {
	s := ":"
	if r.from != 0 {
		s = fmt.Sprint(r.from, ":")
	}
	if r.to != End {
		s += fmt.Sprint(r.to)
	}
	if r.step != 1 {
		s += fmt.Sprint(":", r.step)
	}
	return s
}

// of returns the bounds in a dimension of size n.
func (r Range) of(n int) (from, to int) {
	clip := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	from, to = clip(r.from), clip(r.to)
	return from, max(from, to)
}

// Index returns the part of t selected by at, which has an item for each dimension from the
// first on, like t[…] in torch:
//
//	int        that element; the dimension is removed
//	R(a, b)    a range; see R
//	All        the whole dimension; so are dimensions without an item, at the end
//	Ellipsis   as many All as dimensions remain
//	NewAxis    a new dimension of size 1; nil means the same
//	*Tensor    int64 or int32: those elements; several are broadcast together
//	*Tensor    bool: the elements where it is true, of as many dimensions as it has
//	[]int      like a vector of int64
//	[]bool     like a vector of bool
//
// The result is a view if at contains no tensors or Go slices, otherwise a copy. The dimensions
// of tensor items replace those that they index if these are adjacent; otherwise they come
// first.
func (t *Tensor) Index(at ...any) *Tensor {
	t.given("index")
	v, dims, positions := t.located("index", at)
	if len(dims) == 0 {
		return v
	}
	return apply(index{dims}, append([]*Tensor{v}, positions...)...)
}

// Set assigns value, a number or a tensor that broadcasts to the part, in place to the part of
// t selected by at as in Index, and returns t. If a position occurs more than once, the last
// value wins. It is t[…] = value.
func (t *Tensor) Set(value any, at ...any) *Tensor {
	t.given("set")
	switch v := value.(type) {
	case *Tensor:
		changing("set", t, v)
		x := v.Detach()
		if v.mem == t.mem {
			x = duplicate(v)
		}
		NoGrad(func() { t.Detach().set(x, slices.Clone(at)) })
		return t
	case bool:
	case int:
		checkFinite("set", t.dtype, float64(v))
	case float64:
		checkFinite("set", t.dtype, v)
	default:
		fail("set", []*Tensor{t}, "value is %T; want int, float64, bool or *Tensor", value)
	}
	changing("set", t)
	if offset, ok := t.elementAt(at); !ok || !t.setElement(offset, value) {
		NoGrad(func() { t.Detach().set(t.single(value), slices.Clone(at)) })
	}
	return t
}

// single returns a tensor of one number, of a dtype that holds it, on t's device.
func (t *Tensor) single(value any) *Tensor {
	switch v := value.(type) {
	case bool:
		return FromBools([]bool{v}, 1).ToDevice(t.Device())
	case int:
		return FromInts([]int{v}, 1).ToDevice(t.Device())
	default:
		return constant(t, t.dtype, v.(float64))
	}
}

func (t *Tensor) set(x *Tensor, at []any) {
	if mask, ok := only(at).(*Tensor); ok && mask != nil && mask.dtype == Bool && slices.Equal(mask.shape, t.shape) && x.Numel() == 1 {
		one := convert(x, t.dtype).Reshape()
		t.reported(Info{Name: "masked_fill_", Torch: "torch.Tensor.masked_fill_"}, []*Tensor{t, mask}, func() {
			runBroadcast(driver.Kernel{Code: driver.Where}, t, mask, one, t)
		})
		return
	}
	v, dims, positions := t.located("set", at)
	if len(dims) == 0 {
		v.Assign(x.fitted("set", v.shape))
		return
	}
	o := indexPut{index{dims}, false}
	arranged, first := o.arranged(v)
	_, out := o.flat(arranged, first, positions)
	values := convert(x, t.dtype).fitted("set", out)
	t.reported(Info{Name: "index_put_", Torch: "torch.Tensor.index_put_"}, []*Tensor{t, x}, func() {
		if target := joined(arranged, first, len(dims)); target.mem == t.mem {
			o.into(arranged, first, values, positions)
			return
		}
		y := duplicate(arranged)
		o.into(y, first, values, positions)
		run(driver.Kernel{Code: driver.Copy}, arranged, y)
	})
}

// only returns the only item, or nil if there are several.
func only(at []any) any {
	if len(at) != 1 {
		return nil
	}
	return at[0]
}

// fitted broadcasts a value to the shape of the part that it is assigned to.
func (t *Tensor) fitted(op string, shape []int) *Tensor {
	x := t
	for len(x.shape) > len(shape) && x.shape[0] == 1 {
		x = x.Reshape(x.shape[1:]...)
	}
	if got, ok := broadcastShapes(x.shape, shape); !ok || !slices.Equal(got, shape) {
		fail(op, []*Tensor{t}, "cannot broadcast the value to the selected part of shape %s", shapeString(shape))
	}
	return x.expandTo(shape)
}

// IndexPut returns t with value, broadcast as needed, in the part selected by at as in Index.
// If a position occurs more than once, the last value wins. Unlike Set, it changes nothing in
// place, so gradients reach t and value. It is torch.index_put.
func (t *Tensor) IndexPut(value *Tensor, at ...any) *Tensor {
	given("index_put", t, value)
	return t.put(value, false, at)
}

// IndexPutAdd is IndexPut, but adds to the elements of t, in order, in float32 for half dtypes,
// rounded once. It is torch.index_put with accumulate=True.
func (t *Tensor) IndexPutAdd(value *Tensor, at ...any) *Tensor {
	given("index_put", t, value)
	return t.put(value, true, at)
}

func (t *Tensor) put(value *Tensor, add bool, at []any) *Tensor {
	if !slices.ContainsFunc(at, func(a any) bool { _, ok := a.(*Tensor); return !ok }) {
		v, dims, positions := t.located("index_put", at)
		if len(dims) > 0 && v == t {
			o := indexPut{index{dims}, add}
			x, first := o.arranged(t)
			_, out := o.flat(x, first, positions)
			return apply(o, append([]*Tensor{t, value.fitted("index_put", out)}, positions...)...)
		}
	}
	// Indexing a tensor of all positions gives the positions of the part.
	n := t.Numel()
	numbers := hostSlice[int64]("index_put", n)
	for i := range numbers {
		pollAt(i)
		numbers[i] = int64(i)
	}
	var where *Tensor
	NoGrad(func() { where = FromInt64s(numbers, t.shape...).Reshape(t.shape...).ToDevice(t.Device()).Index(at...) })
	values := value.fitted("index_put", where.shape)
	o := indexPut{index{[]int{0}}, add}
	return apply(o, t.Reshape(n), values.Reshape(values.Numel()), where.Reshape(where.Numel())).Reshape(t.shape...)
}

// located applies the items of at that give views, and returns the remaining positions,
// broadcast to one shape, with the view's dimensions that they index.
func (t *Tensor) located(op string, at []any) (v *Tensor, dims []int, positions []*Tensor) {
	wanted, dots := 0, false
	for i, a := range at {
		switch a := a.(type) {
		case nil:
		case IndexItem:
			if a == Ellipsis && dots {
				fail(op, []*Tensor{t}, "item %d is a second Ellipsis; want one", i)
			}
			dots = dots || a == Ellipsis
			if a == All {
				wanted++
			}
		case *Tensor:
			need(op, fmt.Sprintf("item %d", i), a != nil, "a tensor, an int, a range, All, Ellipsis or an untyped nil")
			if a.dtype != Bool {
				wanted++
			} else {
				wanted += len(a.shape)
			}
		default:
			wanted++
		}
	}
	if wanted > len(t.shape) {
		fail(op, []*Tensor{t}, "the number of indexed dimensions is %d; want at most %d", wanted, len(t.shape))
	}
	v = t
	d := 0
	for i, a := range at {
		switch a := a.(type) {
		case int:
			if n := v.shape[d]; a < -n || a >= n {
				fail(op, []*Tensor{t}, "item %d is %d, out of range for a dimension of size %d; %s", i, a, n, expectedRange(-n, n))
			}
			v = v.Select(d, a)
		case Range:
			from, to := a.of(v.shape[d])
			if a.step != 1 || from != 0 || to != v.shape[d] {
				v = v.SliceStep(d, from, to, a.step)
			}
			d++
		case nil:
			v = v.Unsqueeze(d)
			d++
		case IndexItem:
			switch a {
			case Ellipsis:
				d += len(t.shape) - wanted
				continue
			case NewAxis:
				v = v.Unsqueeze(d)
			}
			d++
		case []int:
			dims, positions = append(dims, d), append(positions, v.positionsAt(op, FromInts(a), d))
			d++
		case []bool:
			p := v.whereTrue(op, FromBools(a), i, d)
			dims, positions = append(dims, d), append(positions, p...)
			d++
		case *Tensor:
			switch {
			case a.dtype == Bool && len(a.shape) > 0:
				for _, p := range v.whereTrue(op, a, i, d) {
					dims, positions = append(dims, d), append(positions, p)
					d++
				}
			case a.dtype == Int64 && len(a.shape) == 0:
				v = v.Select(d, int(a.Int64s()[0]))
			case a.dtype == Int64 || a.dtype == Int32:
				dims, positions = append(dims, d), append(positions, v.positionsAt(op, a, d))
				d++
			default:
				failDType(op, []*Tensor{t, a}, "item %d is a %v tensor of rank %d; want int64 or int32, or bool of rank 1 or more", i, a.dtype, len(a.shape))
			}
		default:
			fail(op, []*Tensor{t}, "item %d is %T; want int, R(…), All, Ellipsis, NewAxis, *Tensor, []int or []bool", i, a)
		}
	}
	if len(positions) == 0 {
		return v, nil, nil
	}
	shape := []int{}
	for _, p := range positions {
		var ok bool
		if shape, ok = broadcastShapes(shape, p.shape); !ok {
			fail(op, positions, "cannot broadcast the index tensors together; want sizes that are equal or 1, aligned at the end")
		}
	}
	for i, p := range positions {
		positions[i] = p.alias(p.offset, shape, expandStride(p, shape))
	}
	return v, dims, positions
}

func (t *Tensor) positionsAt(op string, index *Tensor, dim int) *Tensor {
	return positions(op, t, index, dim, t.shape[dim], true)
}

// whereTrue returns the positions where a mask of t's dimensions from d on is true.
func (t *Tensor) whereTrue(op string, mask *Tensor, item, d int) []*Tensor {
	if !slices.Equal(mask.shape, t.shape[d:d+len(mask.shape)]) {
		fail(op, []*Tensor{t, mask}, "item %d is a mask for dimensions %d and up; want shape %s", item, d, shapeString(t.shape[d:d+len(mask.shape)]))
	}
	return mask.Nonzero()
}

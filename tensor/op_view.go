package tensor

import (
	"fmt"
	"slices"

	"halfnote/tensor/driver"
)

type reshape struct {
	shape  []int
	stride []int // strides of the view, nil if they follow from the shape
}

func (reshape) Info() Info { return info("reshape", "torch.reshape", SavesNothing) }
func (reshape) fixed()     {}
func (r reshape) Forward(in []*Tensor) *Tensor {
	x := in[0]
	if r.stride != nil {
		return x.alias(x.offset, r.shape, r.stride)
	}
	if stride, ok := viewStride(x.shape, x.stride, r.shape); ok {
		return x.alias(x.offset, r.shape, stride)
	}
	return shaped(duplicate(x), r.shape)
}
func (reshape) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Reshape(in[0].shape...)}
}

// Reshape returns t's elements in another shape: a view if the strides allow it, and otherwise
// a copy. One size may be -1 and follows from the others. It is torch.reshape.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	t.given("reshape")
	to := slices.Clone(shape)
	if i := slices.Index(to, -1); i >= 0 {
		to[i] = 1
		if n := size(to); n > 0 && t.Numel()%n == 0 && !slices.Contains(to, -1) {
			to[i] = t.Numel() / n
		}
	}
	if slices.ContainsFunc(to, func(s int) bool { return s < 0 }) || size(to) != t.Numel() {
		panic(&Error{Op: "reshape", Shapes: [][]int{t.shape}, Why: fmt.Sprintf("cannot reshape it to %s; want the same number of elements, and at most one -1", shapeString(shape))})
	}
	if slices.Equal(to, t.shape) {
		return t
	}
	return apply(reshape{shape: to}, t)
}

type permute struct{ order []int }

func (permute) Info() Info { return info("permute", "torch.permute", SavesNothing) }
func (permute) fixed()     {}
func (p permute) Forward(in []*Tensor) *Tensor {
	return permuted(in[0], p.order)
}
func (p permute) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{dy.Permute(undone(p.order)...)}
}

// Permute returns a view with the dimensions in the order dims. It is
// torch.permute.
func (t *Tensor) Permute(dims ...int) *Tensor {
	t.given("permute")
	if len(dims) != len(t.shape) {
		fail("permute", []*Tensor{t}, "order %v has length %d; want %d", dims, len(dims), len(t.shape))
	}
	to := make([]int, len(dims))
	for i, d := range dims {
		to[i] = axis("permute", t, d, len(t.shape))
	}
	axes("permute", t, to) // panics if one is named twice
	return apply(permute{to}, t)
}

// Transpose returns a view with dimensions i and j exchanged. It is
// torch.transpose.
func (t *Tensor) Transpose(i, j int) *Tensor {
	t.given("transpose")
	i, j = axis("transpose", t, i, len(t.shape)), axis("transpose", t, j, len(t.shape))
	order := seq(len(t.shape))
	order[i], order[j] = j, i
	return apply(permute{order}, t)
}

// T returns the transpose of a matrix, a view. It is torch.t.
func (t *Tensor) T() *Tensor {
	t.given("t")
	if len(t.shape) != 2 {
		fail("t", []*Tensor{t}, "t is %d-D; want 2-D: use Transpose or Permute", len(t.shape))
	}
	return t.Transpose(0, 1)
}

type expand struct{ shape []int }

func (expand) Info() Info { return info("expand", "torch.Tensor.expand", SavesNothing) }
func (expand) fixed()     {}
func (e expand) Forward(in []*Tensor) *Tensor {
	stride := slices.Clone(expandStride(in[0], e.shape))
	for i := len(e.shape) - len(in[0].shape) - 1; i >= 0; i-- {
		if e.shape[i] == 1 && i+1 < len(stride) {
			stride[i] = e.shape[i+1] * stride[i+1] // like torch
		}
	}
	return in[0].alias(in[0].offset, e.shape, stride)
}
func (expand) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{dy.sumTo(in[0])} }

// Expand returns a view broadcast to shape: sizes of 1 and new leading dimensions repeat; -1
// keeps a size. It is torch.Tensor.expand.
func (t *Tensor) Expand(shape ...int) *Tensor {
	t.given("expand")
	to := slices.Clone(shape)
	shift := len(to) - len(t.shape)
	for i, s := range to {
		if s == -1 && i >= shift && shift >= 0 {
			to[i] = t.shape[i-shift]
		}
	}
	checkShape("expand", to)
	if got, ok := broadcastShapes(t.shape, to); !ok || !slices.Equal(got, to) {
		panic(&Error{Op: "expand", Shapes: [][]int{t.shape, shape}, Why: fmt.Sprintf("cannot broadcast %s to %s", shapeString(t.shape), shapeString(shape))})
	}
	return t.expandTo(to)
}

func (t *Tensor) expandTo(shape []int) *Tensor {
	if slices.Equal(shape, t.shape) {
		return t
	}
	return apply(expand{shape}, t)
}

type slice struct{ dim, from, to int }

func (slice) Info() Info { return info("slice", "torch.ops.aten.slice", SavesNothing) }
func (slice) fixed()     {}
func (s slice) Forward(in []*Tensor) *Tensor {
	return sliced(in[0], s)
}
func (s slice) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(sliceGrad{s, in[0].shape}, dy)}
}

// Slice returns a view of the elements along dim from index start to index end, exclusive.
// Negative bounds count from the end, bounds beyond the ends are clamped, and bounds out of order
// give an empty view. It is t[start:end].
func (t *Tensor) Slice(dim, start, end int) *Tensor {
	t.given("slice")
	return t.SliceStep(dim, start, end, 1)
}

// SliceStep is Slice with every step-th element, starting at start. It is
// t[start:end:step].
func (t *Tensor) SliceStep(dim, start, end, step int) *Tensor {
	t.given("slice")
	d := axis("slice", t, dim, len(t.shape))
	f, e := Range{start, end, step}.of(t.shape[d])
	switch {
	case step < 1:
		fail("slice", []*Tensor{t}, "step is %d; want at least 1: use Flip to reverse", step)
	case step > 1:
		return apply(sliceStep{slice{d, f, e}, step}, t)
	}
	return apply(slice{d, f, e}, t)
}

// sliceStep is a slice of every step-th element.
type sliceStep struct {
	slice
	step int
}

func (s sliceStep) Forward(in []*Tensor) *Tensor {
	y := sliced(in[0], s.slice)
	y.stride = slices.Clone(y.stride)
	y.stride[s.dim] *= s.step
	y.shape[s.dim] = (s.to - s.from + s.step - 1) / s.step
	return y
}
func (s sliceStep) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(sliceStepGrad{s, in[0].shape}, dy)}
}

// sliceStepGrad puts its operand into zeros of the given shape, at the positions of sliceStep.
type sliceStepGrad struct {
	sliceStep
	shape []int
}

func (sliceStepGrad) Info() Info { return sliceGrad{}.Info() }
func (s sliceStepGrad) Forward(in []*Tensor) *Tensor {
	y := newTensor(in[0].mem.backend, in[0].dtype, s.shape)
	run(driver.Kernel{Code: driver.Copy}, s.sliceStep.Forward([]*Tensor{y}), in[0])
	return y
}
func (s sliceStepGrad) VJP(d, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(s.sliceStep, d)}
}

// Narrow returns a view of length elements along dim, starting at start; a negative start
// counts from the end. It is torch.narrow.
func (t *Tensor) Narrow(dim, start, length int) *Tensor {
	t.given("narrow")
	d := axis("narrow", t, dim, len(t.shape))
	n := t.shape[d]
	from := start
	if from < 0 {
		from += n
	}
	if from < 0 || length < 0 || length > n-from {
		fail("narrow", []*Tensor{t}, "start %d and length %d are out of range in dimension %d; want a range within its size %d", start, length, d, n)
	}
	if from == 0 && length == n {
		return t
	}
	return apply(slice{d, from, from + length}, t)
}

// Select returns a view of element i along dim, which is removed. It is
// torch.select.
func (t *Tensor) Select(dim, i int) *Tensor {
	t.given("select")
	d := axis("select", t, dim, len(t.shape))
	if n := t.shape[d]; i < -n || i >= n {
		fail("select", []*Tensor{t}, "index %d is out of range in dimension %d; want %d to %d", i, d, -n, n-1)
	} else if i < 0 {
		i += n
	}
	return t.Slice(d, i, i+1).Squeeze(d)
}

// sliceGrad puts its operand into zeros of the given shape, at the positions of slice.
type sliceGrad struct {
	slice
	shape []int
}

func (sliceGrad) Info() Info {
	return info("slice_backward", "torch.ops.aten.slice_backward", SavesNothing)
}
func (s sliceGrad) Forward(in []*Tensor) *Tensor {
	y := newTensor(in[0].mem.backend, in[0].dtype, s.shape)
	run(driver.Kernel{Code: driver.Copy}, sliced(y, s.slice), in[0])
	return y
}
func (s sliceGrad) VJP(d, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(s.slice, d)} }

// asStrided is a view of a tensor's memory with another shape and strides. from is the
// tensor's own layout.
type asStrided struct{ to, from layout }

type layout struct {
	offset        int
	shape, stride []int
}

func (asStrided) Info() Info { return info("as_strided", "torch.as_strided", SavesNothing) }
func (asStrided) fixed()     {}
func (s asStrided) Forward(in []*Tensor) *Tensor {
	return in[0].alias(s.to.offset, s.to.shape, s.to.stride)
}

// VJP sums the gradients of one memory position, like as_strided_backward in
// torch/csrc/autograd/FunctionsManual.cpp.
func (s asStrided) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	n := max(s.to.end(), s.from.end())
	var places *Tensor
	NoGrad(func() {
		numbers := hostSlice[int64]("as_strided", n)
		for i := range numbers {
			pollAt(i)
			numbers[i] = int64(i)
		}
		places = FromInt64s(numbers).ToDevice(dy.Device())
	})
	at := compact(places.alias(s.to.offset, s.to.shape, s.to.stride))
	sum := apply(indexAdd{0, 1}, zerosOf(dy, []int{n}), dy.Reshape(dy.Numel()), at.Reshape(at.Numel()))
	return []*Tensor{apply(asStrided{s.from, layout{0, []int{n}, []int{1}}}, sum)}
}

// end returns the end of the memory that l uses.
func (l layout) end() int {
	if size(l.shape) == 0 {
		return 0
	}
	last := l.offset
	for i, n := range l.shape {
		last += (n - 1) * l.stride[i]
	}
	return last + 1
}

// AsStrided returns a view of t's memory: element (i, j, …) is at offset +
// i*stride[0] + j*stride[1] + …, counted from the start of the memory, which other tensors may
// share. It is torch.as_strided.
func (t *Tensor) AsStrided(shape, stride []int, offset int) *Tensor {
	t.given("as_strided")
	to := layout{offset, checkShape("as_strided", shape), slices.Clone(stride)}
	if len(stride) != len(shape) || offset < 0 || slices.ContainsFunc(stride, func(s int) bool { return s < 0 }) {
		fail("as_strided", []*Tensor{t}, "shape is %s, strides are %v and offset is %d; want as many strides as sizes, none negative", shapeString(shape), stride, offset)
	}
	if held := t.mem.buffer.Bytes() / t.dtype.Size(); to.end() > held {
		fail("as_strided", []*Tensor{t}, "shape %s, strides %v and offset %d reach element %d of the memory; want up to its last, %d", shapeString(shape), stride, offset, to.end()-1, held-1)
	}
	return apply(asStrided{to, layout{t.offset, t.shape, t.stride}}, t)
}

// Operations composed of reshape, permute and expand.

// View is Reshape without a copy: it panics if t's strides do not allow a view. It is
// torch.Tensor.view.
func (t *Tensor) View(shape ...int) *Tensor {
	t.given("view")
	y := t.Reshape(shape...)
	if y.mem != t.mem {
		fail("view", []*Tensor{t, y}, "strides %v do not allow shape %s without a copy; want a contiguous tensor: use Reshape", t.stride, shapeString(y.shape))
	}
	return y
}

// ViewAs is View with the shape of other. It is torch.Tensor.view_as.
func (t *Tensor) ViewAs(other *Tensor) *Tensor {
	given("view_as", t, other)
	return t.View(other.shape...)
}

// ReshapeAs is Reshape with the shape of other. It is torch.Tensor.reshape_as.
func (t *Tensor) ReshapeAs(other *Tensor) *Tensor {
	given("reshape_as", t, other)
	return t.Reshape(other.shape...)
}

// Ravel returns t's elements as a vector. It is torch.ravel.
func (t *Tensor) Ravel() *Tensor {
	t.given("ravel")
	return t.Reshape(t.Numel())
}

// Flatten returns t with the dimensions from start to end merged into one: all of them if
// neither is given, those from start on if one is given. It is torch.flatten.
func (t *Tensor) Flatten(startEnd ...int) *Tensor {
	t.given("flatten")
	if len(startEnd) > 2 {
		fail("flatten", []*Tensor{t}, "%d dimensions given; want at most a first and a last", len(startEnd))
	}
	if len(t.shape) == 0 {
		return t.Reshape(1)
	}
	bounds := []int{0, -1}
	copy(bounds, startEnd)
	from, to := axis("flatten", t, bounds[0], len(t.shape)), axis("flatten", t, bounds[1], len(t.shape))
	if from > to {
		fail("flatten", []*Tensor{t}, "start %d is after end %d; want start before end", from, to)
	}
	return t.Reshape(slices.Replace(t.Shape(), from, to+1, size(t.shape[from:to+1]))...)
}

// Unflatten returns t with dimension dim split into sizes, of which one may be -1. It
// is torch.unflatten.
func (t *Tensor) Unflatten(dim int, sizes ...int) *Tensor {
	t.given("unflatten")
	d := axis("unflatten", t, dim, len(t.shape))
	to := slices.Clone(sizes)
	if i := slices.Index(to, -1); i >= 0 {
		to[i] = 1
		if n := size(to); n > 0 {
			to[i] = t.shape[d] / n
		}
	}
	if len(to) == 0 || slices.ContainsFunc(to, func(s int) bool { return s < 0 }) || size(to) != t.shape[d] {
		fail("unflatten", []*Tensor{t}, "dimension %d of size %d does not split into %v; want sizes with that product, and at most one -1", d, t.shape[d], sizes)
	}
	return t.Reshape(slices.Replace(t.Shape(), d, d+1, to...)...)
}

// Unsqueeze returns t with a dimension of size 1 inserted at dim. It is
// torch.unsqueeze.
func (t *Tensor) Unsqueeze(dim int) *Tensor {
	t.given("unsqueeze")
	dim = axis("unsqueeze", t, dim, len(t.shape)+1)
	step := 1
	if dim < len(t.shape) {
		step = t.shape[dim] * t.stride[dim]
	}
	return apply(reshape{slices.Insert(t.Shape(), dim, 1), slices.Insert(t.Stride(), dim, step)}, t)
}

// Squeeze returns t without dimensions dims, whose size must be 1, or without all dimensions of
// size 1 if none is given. It is torch.squeeze, except that torch ignores given dimensions of
// other sizes.
func (t *Tensor) Squeeze(dims ...int) *Tensor {
	list := axes("squeeze", t, dims)
	if len(dims) == 0 {
		list = slices.DeleteFunc(list, func(d int) bool { return t.shape[d] != 1 })
	}
	for _, d := range list {
		if t.shape[d] != 1 {
			fail("squeeze", []*Tensor{t}, "dimension %d has size %d; want 1", d, t.shape[d])
		}
	}
	if len(list) == 0 {
		return t
	}
	return apply(reshape{dropDims(t.shape, list), dropDims(t.stride, list)}, t)
}

// BroadcastTo is Expand. It is torch.broadcast_to.
func (t *Tensor) BroadcastTo(shape ...int) *Tensor {
	t.given("broadcast_to")
	return t.Expand(shape...)
}

// BroadcastTensors returns views of ts broadcast to their common shape. It is
// torch.broadcast_tensors.
func BroadcastTensors(ts ...*Tensor) []*Tensor {
	shape := broadcast("broadcast_tensors", ts)
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.expandTo(shape)
	}
	return out
}

// Movedim returns a view with dimension source moved to position destination; the others keep their order.
// It is torch.movedim.
func (t *Tensor) Movedim(source, destination int) *Tensor {
	t.given("movedim")
	f, d := axis("movedim", t, source, len(t.shape)), axis("movedim", t, destination, len(t.shape))
	return t.Permute(slices.Insert(slices.Delete(seq(len(t.shape)), f, f+1), d, f)...)
}

// Swapaxes is Transpose. It is torch.swapaxes.
func (t *Tensor) Swapaxes(i, j int) *Tensor {
	t.given("swapaxes")
	return t.Transpose(i, j)
}

// Repeat returns t repeated repeats[i] times along dimension i. More repeats than dimensions add
// dimensions in front. It is torch.Tensor.repeat.
func (t *Tensor) Repeat(repeats ...int) *Tensor {
	t.given("repeat")
	shift := len(repeats) - len(t.shape)
	if shift < 0 {
		fail("repeat", []*Tensor{t}, "repeats has length %d; want at least %d, one for each dimension", len(repeats), len(t.shape))
	}
	checkShape("repeat", repeats)
	// The sizes are pairs (n, s): n is the number of repeats and s is t's size.
	apart, spread, joined := make([]int, 2*len(repeats)), make([]int, 2*len(repeats)), make([]int, len(repeats))
	for i, n := range repeats {
		s := 1
		if i >= shift {
			s = t.shape[i-shift]
		}
		apart[2*i], apart[2*i+1] = 1, s
		spread[2*i], spread[2*i+1] = n, s
		joined[i] = n * s
	}
	return t.Reshape(apart...).expandTo(spread).Reshape(joined...)
}

// Tile is Repeat with repeats extended by ones in front where t has more dimensions. It is
// torch.tile.
func (t *Tensor) Tile(repeats ...int) *Tensor {
	t.given("tile")
	all := slices.Clone(repeats)
	for len(all) < len(t.shape) {
		all = slices.Insert(all, 0, 1)
	}
	return t.Repeat(all...)
}

// RepeatInterleave returns t with each slice along dim repeated repeats times in a row. It is
// torch.repeat_interleave.
func (t *Tensor) RepeatInterleave(repeats, dim int) *Tensor {
	t.given("repeat_interleave")
	d := axis("repeat_interleave", t, dim, len(t.shape))
	if repeats < 0 {
		fail("repeat_interleave", []*Tensor{t}, "repeats is %d; want at least 0", repeats)
	}
	spread := slices.Insert(t.Shape(), d+1, repeats)
	joined := t.Shape()
	joined[d] *= repeats
	return t.Unsqueeze(d + 1).expandTo(spread).Reshape(joined...)
}

// RepeatInterleaveEach is RepeatInterleave with a count for each slice: repeats is a vector of
// integers.
func (t *Tensor) RepeatInterleaveEach(repeats *Tensor, dim int) *Tensor {
	given("repeat_interleave", t, repeats)
	d := axis("repeat_interleave", t, dim, len(t.shape))
	if len(repeats.shape) != 1 || repeats.shape[0] != t.shape[d] || repeats.dtype.IsFloat() {
		fail("repeat_interleave", []*Tensor{t, repeats}, "repeats has dtype %v; want %d integers, one for each slice along dimension %d", repeats.dtype, t.shape[d], d)
	}
	each, total := repeats.Int64s(), int64(0)
	for i, n := range each {
		if n < 0 || n > 1<<40 {
			fail("repeat_interleave", []*Tensor{t, repeats}, "%d repeats of slice %d; want at least 0, and a result that fits into memory", n, i)
		}
		total += n
	}
	list := hostSlice[int64]("repeat_interleave", int(total))[:0]
	for i, n := range each {
		for range n {
			pollAt(len(list))
			list = append(list, int64(i))
		}
	}
	return t.IndexSelect(d, FromInt64s(list).ToDevice(t.Device()))
}

// Meshgrid returns the coordinates of a grid: tensor i has the elements of vector i along
// dimension i, repeated along all other dimensions. It is torch.meshgrid with indexing
// "ij".
func Meshgrid(vectors ...*Tensor) []*Tensor {
	given("meshgrid", vectors...)
	shape := make([]int, len(vectors))
	for i, v := range vectors {
		if len(v.shape) > 1 {
			fail("meshgrid", vectors, "operand %d is %d-D; want vectors", i, len(v.shape))
		}
		shape[i] = v.Numel()
	}
	out := make([]*Tensor, len(vectors))
	for i, v := range vectors {
		alone := slices.Repeat([]int{1}, len(vectors))
		alone[i] = shape[i]
		out[i] = v.Reshape(alone...).expandTo(shape)
	}
	return out
}

// CartesianProd returns all tuples of the vectors' elements as rows. The last vector's elements
// change fastest. It is torch.cartesian_prod.
func CartesianProd(vectors ...*Tensor) *Tensor {
	given("cartesian_prod", vectors...)
	columns := Meshgrid(vectors...)
	for i, c := range columns {
		columns[i] = c.Ravel()
	}
	if len(columns) == 1 {
		return columns[0]
	}
	return Stack(1, columns...)
}

type roll struct{ dim, shift int }

func (roll) Info() Info { return info("roll", "torch.roll", SavesNothing) }
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

type flip struct{ dims []int }

func (flip) Info() Info { return info("flip", "torch.flip", SavesNothing) }
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

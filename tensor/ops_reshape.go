package tensor

import "slices"

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

package tensor

import "slices"

// What is made of reshape, permute and expand alone.

// View is Reshape that never copies: it panics if t's strides cannot say it. It is
// torch.Tensor.view.
func (t *Tensor) View(shape ...int) *Tensor {
	t.given("view")
	y := t.Reshape(shape...)
	if y.mem != t.mem {
		fail("view", []*Tensor{t, y}, "the first has strides %v, which cannot show the second without a copy; expected a contiguous tensor: use Reshape", t.stride)
	}
	return y
}

// ViewAs is View in the shape of other. It is torch.Tensor.view_as.
func (t *Tensor) ViewAs(other *Tensor) *Tensor {
	given("view_as", t, other)
	return t.View(other.shape...)
}

// ReshapeAs is Reshape to the shape of other. It is torch.Tensor.reshape_as.
func (t *Tensor) ReshapeAs(other *Tensor) *Tensor {
	given("reshape_as", t, other)
	return t.Reshape(other.shape...)
}

// Ravel returns t's elements as a vector. It is torch.ravel.
func (t *Tensor) Ravel() *Tensor {
	t.given("ravel")
	return t.Reshape(t.Numel())
}

// Flatten returns t with the dimensions from start to end made one: all of them if
// none is named, those from start on if one is. It is torch.flatten.
func (t *Tensor) Flatten(startEnd ...int) *Tensor {
	t.given("flatten")
	if len(startEnd) > 2 {
		fail("flatten", []*Tensor{t}, "%d dimensions named; expected the first, and the last", len(startEnd))
	}
	if len(t.shape) == 0 {
		return t.Reshape(1)
	}
	bounds := []int{0, -1}
	copy(bounds, startEnd)
	from, to := axis("flatten", t, bounds[0], len(t.shape)), axis("flatten", t, bounds[1], len(t.shape))
	if from > to {
		fail("flatten", []*Tensor{t}, "dimension %d comes after %d; expected them in order", from, to)
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
		fail("unflatten", []*Tensor{t}, "dimension %d of size %d does not split into %v; expected sizes whose product it is, and at most one -1", d, t.shape[d], sizes)
	}
	return t.Reshape(slices.Replace(t.Shape(), d, d+1, to...)...)
}

// Unsqueeze returns t with a dimension of size 1 put in at dim. It is
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

// Squeeze returns t without dimensions dims, whose size must be 1, or without all
// of size 1 if none is named. It is torch.squeeze, which leaves named ones of
// other sizes alone.
func (t *Tensor) Squeeze(dims ...int) *Tensor {
	list := axes("squeeze", t, dims)
	if len(dims) == 0 {
		list = slices.DeleteFunc(list, func(d int) bool { return t.shape[d] != 1 })
	}
	for _, d := range list {
		if t.shape[d] != 1 {
			fail("squeeze", []*Tensor{t}, "dimension %d has size %d; expected 1", d, t.shape[d])
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

// BroadcastTensors returns views of ts repeated to their common shape. It is
// torch.broadcast_tensors.
func BroadcastTensors(ts ...*Tensor) []*Tensor {
	shape := broadcast("broadcast_tensors", ts)
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.expandTo(shape)
	}
	return out
}

// Movedim returns a view with dimension from moved to place to, the others in order.
// It is torch.movedim.
func (t *Tensor) Movedim(from, to int) *Tensor {
	t.given("movedim")
	f, d := axis("movedim", t, from, len(t.shape)), axis("movedim", t, to, len(t.shape))
	return t.Permute(slices.Insert(slices.Delete(seq(len(t.shape)), f, f+1), d, f)...)
}

// Swapaxes is Transpose. It is torch.swapaxes.
func (t *Tensor) Swapaxes(i, j int) *Tensor {
	t.given("swapaxes")
	return t.Transpose(i, j)
}

// Repeat returns t repeated times[i] times along dimension i; times may name new
// dimensions in front. It is torch.Tensor.repeat.
func (t *Tensor) Repeat(times ...int) *Tensor {
	t.given("repeat")
	shift := len(times) - len(t.shape)
	if shift < 0 {
		fail("repeat", []*Tensor{t}, "%d numbers given; expected one a dimension, %d or more", len(times), len(t.shape))
	}
	checkShape("repeat", times)
	// Sizes (n, s) of which n repeats and s is t's.
	apart, spread, joined := make([]int, 2*len(times)), make([]int, 2*len(times)), make([]int, len(times))
	for i, n := range times {
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

// Tile is Repeat with ones put in front of times where t has more dimensions. It is
// torch.tile.
func (t *Tensor) Tile(times ...int) *Tensor {
	t.given("tile")
	all := slices.Clone(times)
	for len(all) < len(t.shape) {
		all = slices.Insert(all, 0, 1)
	}
	return t.Repeat(all...)
}

// RepeatInterleave returns t with each slice along dim n times in a row. It is
// torch.repeat_interleave.
func (t *Tensor) RepeatInterleave(n, dim int) *Tensor {
	t.given("repeat_interleave")
	d := axis("repeat_interleave", t, dim, len(t.shape))
	if n < 0 {
		fail("repeat_interleave", []*Tensor{t}, "%d repeats; expected 0 or more", n)
	}
	spread := slices.Insert(t.Shape(), d+1, n)
	joined := t.Shape()
	joined[d] *= n
	return t.Unsqueeze(d + 1).expandTo(spread).Reshape(joined...)
}

// RepeatInterleaveEach is RepeatInterleave with a number for each slice: times is a
// vector of integers.
func (t *Tensor) RepeatInterleaveEach(times *Tensor, dim int) *Tensor {
	given("repeat_interleave", t, times)
	d := axis("repeat_interleave", t, dim, len(t.shape))
	if len(times.shape) != 1 || times.shape[0] != t.shape[d] || times.dtype.IsFloat() {
		fail("repeat_interleave", []*Tensor{t, times}, "the second says how often, as %v; expected %d integers, one for each slice along dimension %d", times.dtype, t.shape[d], d)
	}
	each, total := times.Int64s(), int64(0)
	for i, n := range each {
		if n < 0 || n > 1<<40 {
			fail("repeat_interleave", []*Tensor{t, times}, "%d repeats of slice %d; expected 0 or more, and a result that fits into memory", n, i)
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

// Meshgrid returns the coordinates of a grid: tensor i has the elements of vector i
// along dimension i, repeated along all others. It is torch.meshgrid with indexing
// "ij".
func Meshgrid(vectors ...*Tensor) []*Tensor {
	given("meshgrid", vectors...)
	shape := make([]int, len(vectors))
	for i, v := range vectors {
		if len(v.shape) > 1 {
			fail("meshgrid", vectors, "operand %d has %d dimensions; expected vectors", i, len(v.shape))
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

// CartesianProd returns all tuples of the vectors' elements as rows, the last vector
// running fastest. It is torch.cartesian_prod.
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

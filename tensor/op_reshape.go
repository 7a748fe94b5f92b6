package tensor

import (
	"fmt"
	"slices"
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
		panic(named(&Error{Op: "reshape", Shapes: [][]int{t.shape}, Why: fmt.Sprintf("cannot reshape it to %s; want the same number of elements, and at most one -1", shapeString(shape))}))
	}
	if slices.Equal(to, t.shape) {
		return t
	}
	return apply(reshape{shape: to}, t)
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

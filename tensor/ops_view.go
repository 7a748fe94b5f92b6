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

func permuted(x *Tensor, order []int) *Tensor {
	shape, stride := make([]int, len(order)), make([]int, len(order))
	for i, d := range order {
		shape[i], stride[i] = x.shape[d], x.stride[d]
	}
	return x.alias(x.offset, shape, stride)
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

func sliced(x *Tensor, s slice) *Tensor {
	shape := slices.Clone(x.shape)
	shape[s.dim] = s.to - s.from
	return x.alias(x.offset+s.from*x.stride[s.dim], shape, x.stride)
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

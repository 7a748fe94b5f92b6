package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

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

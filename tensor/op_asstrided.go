package tensor

import "slices"

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

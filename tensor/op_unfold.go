package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// im2col is the elements of x (n, c, h, w) in the window at each place: (n, c·taps, places).
type im2col struct {
	window
	sizes []int // sizes of x's planes
}

func (im2col) Info() Info { return info("im2col", "torch.nn.functional.unfold", SavesNothing) }
func (m im2col) Forward(in []*Tensor) *Tensor {
	x := in[0]
	places := m.places(m.sizes)
	padded := m.pad(x, 0)
	y := duplicate(permuted(m.view(padded, places), []int{0, 1, 4, 5, 2, 3}))
	dropTemporaries(x, padded)
	return shaped(y, []int{x.shape[0], x.shape[1] * m.taps(), size(places)})
}
func (m im2col) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(col2im(m), dy)} }

// col2im is the adjoint of im2col.
type col2im im2col

func (col2im) Info() Info { return info("col2im", "torch.nn.functional.fold", SavesNothing) }
func (m col2im) Forward(in []*Tensor) *Tensor {
	x := wide(in[0])
	n, c := x.shape[0], x.shape[1]/m.taps()
	places := m.places(m.sizes)
	cols := compact(permuted(x, []int{1, 0, 2}))
	y := m.fold(cols, append([]int{n, c}, m.sizes...), places)
	dropTemporaries(in[0], x)
	return narrow(y, in[0].dtype)
}
func (m col2im) VJP(d, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(im2col(m), d)} }

// Im2Col returns the elements of t (n, c, h, w) in a window of size (kh, kw) at each place:
// (n, c kh kw, places). It does not use o.Groups and o.Same. It is
// torch.nn.functional.unfold.
func (t *Tensor) Im2Col(size []int, o ConvOptions) *Tensor {
	const op = "im2col"
	t.given(op)
	if len(t.shape) != 4 {
		fail(op, []*Tensor{t}, "t is %d-D; want (n, c, h, w)", len(t.shape))
	}
	w := newUnfold(op, size, o)
	if slices.Contains(w.places(t.shape[2:]), 0) {
		fail(op, []*Tensor{t}, "the window %v with dilation %v is larger than the input with padding %v; want at most its size", w.kernel, w.dilation, w.lo)
	}
	return apply(im2col{w, slices.Clone(t.shape[2:])}, t)
}

// Col2Im returns (n, c, sizes…), the sums of the elements that Im2Col took from each position.
// t is (n, c kh kw, places). It is torch.nn.functional.fold.
func (t *Tensor) Col2Im(sizes, window []int, o ConvOptions) *Tensor {
	const op = "col2im"
	t.given(op)
	w := newUnfold(op, window, o)
	to := perDimension(op, "output size", sizes, 2, 1, 1)
	places := w.places(to)
	if len(t.shape) != 3 || t.shape[1]%w.taps() != 0 || t.shape[2] != size(places) {
		fail(op, []*Tensor{t}, "t does not match %v places of a window %v; want (n, c·%d, %d)", places, w.kernel, w.taps(), size(places))
	}
	return apply(col2im{w, to}, t)
}

func newUnfold(op string, size []int, o ConvOptions) window {
	if len(size) == 0 || o.Same || o.Groups > 1 {
		panic(named(&Error{Op: op, Why: "size is empty, or Groups or Same is set; want a window size, and neither option"}))
	}
	w := window{
		kernel:   perDimension(op, "window", size, 2, 1, 1),
		stride:   perDimension(op, "stride", o.Stride, 2, 1, 1),
		dilation: perDimension(op, "dilation", o.Dilation, 2, 1, 1),
		lo:       perDimension(op, "padding", o.Padding, 2, 0, 0),
	}
	w.hi = w.lo
	return w
}

// unfold is a view of slices along a dimension, with their elements in a new last dimension.
type unfold struct{ dim, size, step int }

func (unfold) Info() Info { return info("unfold", "torch.Tensor.unfold", SavesNothing) }
func (unfold) fixed()     {}
func (u unfold) Forward(in []*Tensor) *Tensor {
	x := in[0]
	shape, stride := append(slices.Clone(x.shape), u.size), append(slices.Clone(x.stride), x.stride[u.dim])
	shape[u.dim] = (x.shape[u.dim]-u.size)/u.step + 1
	stride[u.dim] *= u.step
	return x.alias(x.offset, shape, stride)
}
func (u unfold) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(unfoldGrad{u, in[0].shape}, dy)}
}

// unfoldGrad is the adjoint of unfold.
type unfoldGrad struct {
	unfold
	shape []int
}

func (unfoldGrad) Info() Info {
	return info("unfold_backward", "torch.ops.aten.unfold_backward", SavesNothing)
}
func (u unfoldGrad) Forward(in []*Tensor) *Tensor {
	dy := wide(in[0])
	x := newTensor(dy.mem.backend, dy.dtype, u.shape)
	for k := range u.size {
		to, from := x.alias(x.offset+k*x.stride[u.dim], dy.shape[:len(u.shape)], slices.Clone(x.stride)), sliced(dy, slice{len(u.shape), k, k + 1})
		to.stride[u.dim] *= u.step
		run(driver.Kernel{Code: driver.Add}, to, to, from.alias(from.offset, to.shape, from.stride[:len(u.shape)]))
	}
	dropTemporaries(in[0], dy)
	return narrow(x, in[0].dtype)
}
func (u unfoldGrad) VJP(d, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(u.unfold, d)} }

// Unfold returns a view of all slices of size elements along dim at distance step. dim counts
// the slices, and a new last dimension holds their elements. It is torch.Tensor.unfold.
func (t *Tensor) Unfold(dim, size, step int) *Tensor {
	t.given("unfold")
	d := axis("unfold", t, dim, len(t.shape))
	if size < 0 || size > t.shape[d] || step < 1 {
		fail("unfold", []*Tensor{t}, "size is %d and step is %d in dimension %d; want size at most %d and step at least 1", size, step, d, t.shape[d])
	}
	return apply(unfold{d, size, step}, t)
}

// fold returns a tensor of the given shape (n, c, …): for each element the sum of its
// occurrences in cols, (c, kernel…, n, places…), in the order of the kernel's elements.
func (w window) fold(cols *Tensor, shape, places []int) *Tensor {
	r := w.rank()
	full := slices.Clone(shape)
	for i := range r {
		full[len(full)-r+i] += w.lo[i] + w.hi[i]
	}
	x := newTensor(cols.mem.backend, cols.dtype, full)
	flipped := permuted(x, append([]int{1, 0}, seq(2 + r)[2:]...))
	cols = shaped(cols, append([]int{shape[1], w.taps(), shape[0]}, places...))
	w.each(func(i int, at []int) {
		to := w.tap(flipped, at, places)
		part := sliced(cols, slice{1, i, i + 1})
		run(driver.Kernel{Code: driver.Add}, to, to, part.alias(part.offset, to.shape, slices.Delete(slices.Clone(part.stride), 1, 2)))
	})
	y := w.unpad(x)
	if y != x {
		release(x)
	}
	return y
}

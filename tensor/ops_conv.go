package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// A convolution y of x and w, the gradient of x and the gradient of w are the three partial
// derivatives of one trilinear form Σ dy·conv(x, w), so the derivatives of each are the other
// two.
//
// All are matrix products. One matrix holds the kernel's window at each place, as a view
// ([contractInto]). It is copied only where x is padded with zeros, or where a backend reads
// another layout faster ([packing]). Neither the copy nor the order of a sum depends on
// anything but shapes and strides.

// conv is y[n,o,p] = Σ x[n,c,p·stride+k·dilation] w[o,c,k] + b[o] of x (n, c, …), w
// (o, c/groups, k…) and perhaps b (o): (n, o, …).
type conv struct {
	dims, groups int
	window
}

func (c conv) Info() Info {
	return info("conv"+nd(c.dims), "torch.nn.functional.conv"+nd(c.dims), SavesOperands)
}

func (c conv) Forward(in []*Tensor) *Tensor {
	sameDType(c.Info().Name, in)
	x, w := in[0], in[1]
	n, o := x.shape[0], w.shape[0]
	y := unsetTensor(x.mem.backend, x.dtype, append([]int{n, o}, c.places(x.shape[2:])...))
	if y.Numel() == 0 {
		return y
	}
	bias := biasOf(in, c.groups)
	c, x = c.strideless(x, y.shape[2:])
	l := c.packing(x, w.shape[1], c.plain())
	if l.inner && c.convolved(y, w, x, in[2:]) {
		return y
	}
	lo, hi := c.added()
	rows := l.packed(grouped(w, 0, c.groups), 2)
	l.padded(x, lo, hi, w.Numel(), true, func(first int, part *Tensor) {
		to := sliced(y, slice{0, first, first + part.shape[0]})
		c.product(l, byGroup(to, c.groups), rows, c.seen(part, lo, y.shape[2:]), bias)
	})
	l.release(rows)
	return y
}

// packing returns the layout for images x and sums over a number of channels in each group. In bfloat16 the channels are
// the inner ones if they fill blocks of a product and there are many images: each block then has a single
// element of the kernel, so that a backend can leave out those that meet zeros around an image
// ([driver.Convolver]). For few images the weight's own order is faster.
func (c conv) packing(x *Tensor, channels int, plain bool) packing {
	const block, many = 32, 16
	l := packingOf(x, c.groups, plain)
	l.inner = l.pack == 1 && x.dtype == BFloat16 && channels > 0 && channels%block == 0 && c.taps() > 1 && x.shape[0] >= many
	return l
}

// convolved sets y (n, o, places…) to the convolution of x (n, c, …) with w (o, c, kernel…), plus the bias if there is
// one, without adding zeros around the images. It reports whether the backend supports that.
func (c conv) convolved(y, w, x *Tensor, bias []*Tensor) bool {
	v, ok := x.mem.backend.(driver.Convolver)
	if !ok || c.groups > 1 {
		return false
	}
	var b *driver.View
	if len(bias) == 1 {
		view := bias[0].view()
		b = &view
	}
	return v.Convolve(driver.Window{Stride: c.stride, Dilation: c.dilation, Before: c.lo}, y.view(), w.view(), x.view(), b)
}

// strideless returns an equivalent convolution of the visited elements alone if the kernel
// has one element.
func (c conv) strideless(x *Tensor, places []int) (conv, *Tensor) {
	if c.taps() != 1 || x.Numel() == 0 || slices.ContainsFunc(slices.Concat(c.lo, c.hi), func(n int) bool { return n > 0 }) {
		return c, x
	}
	one := window{c.kernel, atMost(c.stride, 1), c.dilation, make([]int, c.dims), make([]int, c.dims)}
	for i, n := range places {
		x = every(x, 2+i, -c.lo[i], n, c.stride[i])
	}
	return conv{c.dims, c.groups, one}, x
}

// product sets y (groups, o/groups, n, places…) to w (groups, o/groups, c/groups,
// kernel…) times the window elements seen, plus bias.
func (c conv) product(l packing, y, w, seen, bias *Tensor) {
	w, seen = l.depth(w, 2, c.dims), l.depth(seen, 1, c.dims)
	contractInto([3]int{1, 1 + c.dims, len(w.shape) - 2}, y, w, seen, bias)
}

// biasOf returns the bias operand of a convolution as (groups, o/groups), or nil.
func biasOf(in []*Tensor, groups int) *Tensor {
	if len(in) < 3 {
		return nil
	}
	return grouped(in[2], 0, groups)
}

// grouped returns x with dimension d split into (groups, …).
func grouped(x *Tensor, d, groups int) *Tensor {
	n := x.shape[d] / groups
	return x.alias(x.offset, slices.Concat(x.shape[:d], []int{groups, n}, x.shape[d+1:]),
		slices.Concat(x.stride[:d], []int{n * x.stride[d], x.stride[d]}, x.stride[d+1:]))
}

// byGroup returns x (n, c, …) as (groups, c/groups, n, …).
func byGroup(x *Tensor, groups int) *Tensor {
	return permuted(grouped(x, 1, groups), append([]int{1, 2, 0}, seq(len(x.shape) + 1)[3:]...))
}

func (c conv) products(in []*Tensor, y *Tensor) int { return y.Numel() * size(in[1].shape[1:]) }

func (c conv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	if in[0].RequiresGrad() {
		out[0] = apply(convTranspose{c, in[0].shape[2:]}, dy, in[1])
	}
	if in[1].RequiresGrad() {
		out[1] = apply(convWeight{c}, in[0], dy)
	}
	if len(in) == 3 && in[2].RequiresGrad() {
		out[2] = dy.sumChannels()
	}
	return out
}

// sumChannels returns the sum of t (n, c, …) over all dimensions but c.
func (t *Tensor) sumChannels() *Tensor {
	return t.Sum(append([]int{0}, seq(len(t.shape))[2:]...)...)
}

// seen returns a view of the elements of x (n, c, …) in the window at each place, with added
// zeros before x: (groups, c/groups, kernel…, n, places…).
func (c conv) seen(x *Tensor, added, places []int) *Tensor {
	offset := x.offset
	for i, lo := range c.lo {
		offset += (added[i] - lo) * x.stride[2+i]
	}
	v := c.view(x.alias(offset, x.shape, x.stride), places)
	order := slices.Concat([]int{1}, seq(2 + 2*c.dims)[2+c.dims:], []int{0}, seq(2 + c.dims)[2:])
	return grouped(permuted(v, order), 0, c.groups)
}

// added returns the number of zeros that w adds before and after.
func (w window) added() (lo, hi []int) {
	return atLeast(w.lo, 0), atLeast(w.hi, 0)
}

func atLeast(list []int, least int) []int {
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = max(least, n)
	}
	return out
}

func atMost(list []int, most int) []int {
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = min(most, n)
	}
	return out
}

// convWeight is the adjoint of conv in w: dw[o,c,k] = Σ dy[n,o,p]
// x[n,c,p·stride+k·dilation] of x (n, c, …) and dy (n, o, …).
type convWeight struct{ conv }

func (c convWeight) Info() Info {
	return info("conv_weight"+nd(c.dims), "torch.nn.grad.conv"+nd(c.dims)+"_weight", SavesOperands)
}

func (c convWeight) Forward(in []*Tensor) *Tensor {
	sameDType(c.Info().Name, in)
	x, dy := in[0], in[1]
	places := dy.shape[2:]
	inner, x := c.strideless(x, places)
	l := packingOf(x, c.groups, inner.plain())
	shape := append([]int{dy.shape[1], x.shape[1] / c.groups}, c.kernel...)
	rows := l // packing of dy, which is not copied where places lie in packs
	if l.rows(dy) || c.groups > 1 && dy.shape[1]/c.groups%l.pack != 0 {
		rows.pack = 1
	}
	var sum *Tensor // sum over the images so far
	lo, hi := inner.added()
	l.padded(x, lo, hi, size(shape), false, func(first int, part *Tensor) {
		seen := inner.seen(part, lo, places)
		r := 2 + c.dims // number of dimensions before n
		seen = permuted(seen, slices.Concat([]int{0}, seq(len(seen.shape))[r:], seq(r)[1:]))
		d := x.dtype
		if part.shape[0] < x.shape[0] {
			d = wideOf(d)
		}
		y := rows.packed(sliced(dy, slice{0, first, first + part.shape[0]}), 1)
		next := l.unset(x.mem.backend, d, append([]int{y.shape[1], part.shape[1] / c.groups}, c.kernel...), 1)
		var before *Tensor
		if sum != nil {
			before = l.last(grouped(sum, 0, c.groups), 2, c.dims)
		}
		contractInto([3]int{1, 1 + c.dims, 1 + c.dims}, l.last(grouped(next, 0, c.groups), 2, c.dims), byGroup(y, c.groups), l.last(seen, r, c.dims), before)
		rows.release(y)
		if sum != nil {
			release(sum)
		}
		sum = next
	})
	if l.pack == 1 && rows.pack == 1 {
		return narrow(sum, x.dtype)
	}
	dw := unsetTensor(x.mem.backend, x.dtype, shape)
	run(driver.Kernel{Code: driver.Copy}, dw, sliced(sliced(sum, slice{0, 0, shape[0]}), slice{1, 0, shape[1]}))
	release(sum)
	return dw
}

func (c convWeight) products(in []*Tensor, y *Tensor) int {
	return in[1].Numel() * size(y.shape[1:])
}

func (c convWeight) VJP(h, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = apply(convTranspose{c.conv, in[0].shape[2:]}, in[1], h)
	}
	if in[1].RequiresGrad() {
		out[1] = apply(c.conv, in[0], h)
	}
	return out
}

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
// the inner ones if they fill blocks of a product: each block then has a single
// element of the kernel, so that a backend can leave out those that meet zeros around an image
// ([driver.Convolver]). The number of images must not matter, so that an image has the same bits in every batch.
func (c conv) packing(x *Tensor, channels int, plain bool) packing {
	const block = 32
	l := packingOf(x, c.groups, plain)
	l.inner = l.pack == 1 && x.dtype == BFloat16 && channels > 0 && channels%block == 0 && c.taps() > 1
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

// ConvOptions configures convolutions. Each list has one number for all dimensions, or one per
// dimension. The zero value is torch's default.
type ConvOptions struct {
	Stride   []int // step of the kernel; default 1
	Padding  []int // zeros added on both sides; default 0
	Dilation []int // distance between the kernel's elements; default 1
	Groups   int   // number of independent groups of channels; default 1
	Same     bool  // pads so that sizes do not change, with an odd zero at the end; excludes Padding. It is padding="same".
}

// Conv1d returns the convolution of t (n, c, l) with the weight w (o, c/groups, k), plus the
// bias b (o), which may be nil: (n, o, l'), where l' = (l + 2 padding - dilation (k-1) - 1) /
// stride + 1. The dimension n may be missing. Products and bias are summed in float32 and
// rounded once. It panics if the sizes do not match. It is torch.nn.functional.conv1d.
func Conv1d(t, w, b *Tensor, o ConvOptions) *Tensor { return t.convolve(1, w, b, o) }

// Conv2d is Conv1d of t (n, c, h, w) with w (o, c/groups, kh, kw). It is
// torch.nn.functional.conv2d.
func Conv2d(t, w, b *Tensor, o ConvOptions) *Tensor { return t.convolve(2, w, b, o) }

// Conv3d is Conv1d of t (n, c, d, h, w) with w (o, c/groups, kd, kh, kw). It is
// torch.nn.functional.conv3d.
func Conv3d(t, w, b *Tensor, o ConvOptions) *Tensor { return t.convolve(3, w, b, o) }

func (t *Tensor) convolve(dims int, w, b *Tensor, o ConvOptions) *Tensor {
	op := "conv" + nd(dims)
	in := operandsOf(op, dims, t, w, b)
	c := newConv(op, dims, w, o)
	return batched(dims, in[0], func(x *Tensor) *Tensor {
		in[0] = x
		if x.shape[1] != w.shape[1]*c.groups || w.shape[0]%c.groups != 0 {
			fail(op, in, "input has %d channels and Groups is %d; the weight expects %d channels, and its %d output channels must be a multiple of Groups", x.shape[1], c.groups, w.shape[1]*c.groups, w.shape[0])
		}
		if b != nil && !slices.Equal(b.shape, w.shape[:1]) {
			fail(op, in, "bias does not match the weight; want shape (%d,)", w.shape[0])
		}
		for i, n := range x.shape[2:] {
			if n+c.lo[i]+c.hi[i] < c.reach(i) {
				fail(op, in, "the kernel spans %d elements, but dimension %d has only %d with padding; use a smaller kernel or more padding", c.reach(i), 2+i, n+c.lo[i]+c.hi[i])
			}
		}
		return apply(c, in...)
	})
}

// operandsOf returns the operands of a convolution after checking their ranks.
func operandsOf(op string, dims int, x, w, b *Tensor) []*Tensor {
	given(op, x, w)
	in := []*Tensor{x, w}
	if b != nil {
		in = append(in, b)
	}
	if len(w.shape) != dims+2 || len(x.shape) != dims+1 && len(x.shape) != dims+2 {
		fail(op, in, "want an input of %d or %d dimensions and a weight of %d", dims+1, dims+2, dims+2)
	}
	return in
}

func newConv(op string, dims int, w *Tensor, o ConvOptions) conv {
	c := conv{dims, max(1, o.Groups), window{
		kernel:   slices.Clone(w.shape[2:]),
		stride:   perDimension(op, "stride", o.Stride, dims, 1, 1),
		dilation: perDimension(op, "dilation", o.Dilation, dims, 1, 1),
		lo:       perDimension(op, "padding", o.Padding, dims, 0, 0),
	}}
	if o.Groups < 0 || w.Numel() == 0 && slices.Contains(w.shape[2:], 0) {
		fail(op, []*Tensor{w}, "Groups is %d; want at least 1, and kernel sizes of at least 1", o.Groups)
	}
	c.hi = slices.Clone(c.lo)
	if o.Same {
		for i := range dims {
			if c.stride[i] != 1 || len(o.Padding) > 0 {
				fail(op, []*Tensor{w}, "Same with stride %v and padding %v; want stride 1 and no Padding", o.Stride, o.Padding)
			}
			total := c.reach(i) - 1
			c.lo[i], c.hi[i] = total/2, total-total/2
		}
	}
	return c
}

// batched calls f with x. If x has only channels and dims other dimensions, it has a leading
// dimension n of size 1 during the call.
func batched(dims int, x *Tensor, f func(x *Tensor) *Tensor) *Tensor {
	if len(x.shape) == dims+1 {
		return f(x.Unsqueeze(0)).Squeeze(0)
	}
	return f(x)
}

// convTBC is conv1d of x (time, n, c), w (k, c, o) and b (o).
type convTBC struct{ pad int }

func (convTBC) Info() Info {
	return info("conv_tbc", "torch.conv_tbc", SavesOperands)
}
func (c convTBC) f(in []*Tensor) *Tensor {
	y := Conv1d(in[0].Permute(1, 2, 0), in[1].Permute(2, 1, 0), in[2], ConvOptions{Padding: []int{c.pad}})
	return y.Permute(2, 0, 1)
}
func (c convTBC) Forward(in []*Tensor) *Tensor              { return compose(c.f, in) }
func (c convTBC) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// ConvTBC returns the convolution of t (l, n, c), padded with zeros on both sides, with the
// weight w (k, c, o), plus the bias b (o): (l', n, o). It is torch.conv_tbc.
func ConvTBC(t, w, b *Tensor, padding int) *Tensor {
	in := []*Tensor{t, w, b}
	given("conv_tbc", in...)
	if len(t.shape) != 3 || len(w.shape) != 3 || t.shape[2] != w.shape[1] || !slices.Equal(b.shape, w.shape[2:]) || padding < 0 {
		fail("conv_tbc", in, "padding is %d; want input (l, n, c), weight (k, c, o), bias (o,) and a padding of at least 0", padding)
	}
	return apply(convTBC{padding}, in...)
}

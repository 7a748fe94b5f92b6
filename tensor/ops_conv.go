package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// A convolution y of x and w, the gradient of x and that of w are the three
// partial derivatives of one trilinear form Σ dy·conv(x, w), so each one's
// derivatives are the other two.
//
// All are matrix products with the columns of x: what the kernel sees from each of
// its places, copied for as many images at a time as make about columnsAtOnce
// elements. Neither that nor the order of a sum depends on anything but shapes.

const columnsAtOnce = 1 << 20

// conv is y[n,o,p] = Σ x[n,c,p·stride+k·dilation] w[o,c,k] + b[o] of x (n, c, …), w
// (o, c/groups, k…) and perhaps b (o): (n, o, …).
type conv struct {
	dims, groups int
	window
}

func (c conv) Info() Info {
	return Info{"conv" + nd(c.dims), "torch.nn.functional.conv" + nd(c.dims), Lower, ReadsOperands}
}

func (c conv) Forward(in []*Tensor) *Tensor {
	sameDType(c.Info().Name, in)
	x, w := in[0], in[1]
	n, o := x.shape[0], w.shape[0]
	y := newTensor(x.mem.backend, x.dtype, append([]int{n, o}, c.places(x.shape[2:])...))
	if y.Numel() == 0 {
		return y
	}
	w = c.matrix(w)
	p := size(y.shape[2:])
	var bias *Tensor
	if len(in) == 3 {
		bias = in[2].alias(in[2].offset, []int{c.groups, o / c.groups, 1}, []int{o / c.groups * in[2].stride[0], in[2].stride[0], 0})
	}
	if c.plain() && p >= 32 {
		x = compact(x)
		c.product(shaped(y, []int{n, c.groups, o / c.groups, p}), w, shaped(x, []int{n, c.groups, x.shape[1] / c.groups, p}), bias)
		return y
	}
	c.parts(x, func(first, count int, cols *Tensor) {
		to := sliced(y, slice{0, first, first + count})
		if count == 1 {
			c.product(shaped(to, []int{c.groups, o / c.groups, p}), w, cols, bias)
			return
		}
		part := newTensor(x.mem.backend, x.dtype, []int{c.groups, o / c.groups, count * p})
		c.product(part, w, cols, bias)
		run(driver.Kernel{Code: driver.Copy}, shaped(to, []int{count, o, p}), permuted(shaped(part, []int{o, count, p}), []int{1, 0, 2}))
		release(part)
	})
	return y
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

// plain reports whether the columns are x itself.
func (c conv) plain() bool {
	return c.taps() == 1 && !c.pads() && !c.strides()
}

// strides reports whether the window leaves places out.
func (w window) strides() bool {
	return slices.ContainsFunc(w.stride, func(s int) bool { return s != 1 })
}

// matrix returns w as (groups, o/groups, c/groups·taps).
func (c conv) matrix(w *Tensor) *Tensor {
	o := w.shape[0]
	return shaped(compact(w), []int{c.groups, o / c.groups, w.shape[1] * c.taps()})
}

// product sets dst to w times cols, plus bias, each repeated to dst's leading
// dimensions.
func (c conv) product(dst, w, cols, bias *Tensor) {
	lead := dst.shape[:len(dst.shape)-2]
	over := func(t *Tensor) *Tensor {
		shape := append(slices.Clone(lead), t.shape[len(t.shape)-2:]...)
		return t.alias(t.offset, shape, expandStride(t, shape))
	}
	src := []*Tensor{over(w), over(cols)}
	if bias != nil {
		src = append(src, bias.alias(bias.offset, dst.shape, expandStride(bias, dst.shape)))
	}
	run(driver.Kernel{Code: driver.Matmul}, dst, src...)
}

// together returns how many images to handle at a time.
func (c conv) together(channels int, places []int) int {
	return max(1, columnsAtOnce/max(1, channels*c.taps()*size(places)))
}

// parts calls body with the columns (groups, c/groups·taps, count·places) of a few
// images of x at a time, from image first on. They are valid during the call.
func (c conv) parts(x *Tensor, body func(first, count int, cols *Tensor)) {
	n, channels := x.shape[0], x.shape[1]
	places := c.places(x.shape[2:])
	most := min(n, c.together(channels, places))
	p, k := size(places), channels/c.groups*c.taps()
	room := newTensor(x.mem.backend, x.dtype, []int{c.groups * k * most * p})
	r := c.rank()
	order := append(append([]int{1}, seq(2 + 2*r)[2+r:]...), append([]int{0}, seq(2 + r)[2:]...)...)
	for first := 0; first < n; first += most {
		count := min(most, n-first)
		part := sliced(x, slice{0, first, first + count})
		padded := c.pad(part, 0)
		seen := permuted(c.view(padded, places), order)
		cols := room.alias(0, seen.shape, rowMajor(seen.shape))
		run(driver.Kernel{Code: driver.Copy}, cols, seen)
		if padded != part {
			release(padded)
		}
		body(first, count, shaped(cols, []int{c.groups, k, count * p}))
	}
	release(room)
}

// gathered returns a few images of dy (n, o, …) as (groups, o/groups, count·places).
func (c conv) gathered(dy *Tensor, first, count int) *Tensor {
	o, p := dy.shape[1], size(dy.shape[2:])
	part := sliced(dy, slice{0, first, first + count})
	if count == 1 {
		return shaped(compact(part), []int{c.groups, o / c.groups, p})
	}
	order := seq(len(dy.shape))
	order[0], order[1] = 1, 0
	return shaped(compact(permuted(part, order)), []int{c.groups, o / c.groups, count * p})
}

// convTranspose is the adjoint of conv in x: Σ y[n,o,p] w[o,c,k] goes to
// x[n,c,p·stride+k·dilation], of y (n, o, …), w (o, c/groups, k…) and perhaps b (c):
// (n, c, sizes…).
type convTranspose struct {
	conv
	sizes []int
}

func (c convTranspose) Info() Info {
	return Info{"conv_transpose" + nd(c.dims), "torch.nn.functional.conv_transpose" + nd(c.dims), Lower, ReadsOperands}
}

func (c convTranspose) Forward(in []*Tensor) *Tensor {
	sameDType(c.Info().Name, in)
	if !c.strides() {
		return c.turned().Forward(append([]*Tensor{in[0], c.turn(in[1])}, in[2:]...))
	}
	y, w := in[0], in[1]
	n, channels, places := y.shape[0], w.shape[1]*c.groups, y.shape[2:]
	x := newTensor(y.mem.backend, y.dtype, append([]int{n, channels}, c.sizes...))
	acc := wideOf(y.dtype)
	k, p := w.shape[1]*c.taps(), size(places)
	wt := permuted(c.matrix(w), []int{0, 2, 1})
	most := min(n, c.together(channels, places))
	var bias *Tensor
	if len(in) == 3 {
		bias = shaped(convert(in[2], acc), append([]int{1, channels}, keepDims(c.sizes, seq(c.dims))...))
	}
	for first := 0; first < n && x.Numel() > 0; first += most {
		count := min(most, n-first)
		dy := c.gathered(y, first, count)
		cols := newTensor(y.mem.backend, acc, []int{c.groups, k, count * p})
		c.product(cols, wt, dy, nil)
		part := c.fold(cols, append([]int{count, channels}, c.sizes...), places)
		if bias != nil {
			runBroadcast(driver.Kernel{Code: driver.Add}, part, part, bias)
		}
		run(driver.Kernel{Code: driver.Copy}, sliced(x, slice{0, first, first + count}), part)
		release(cols, part)
	}
	return x
}

// turned returns the convolution that c is if it does not stride, of w as turn
// returns it: nothing has to be added up in memory.
func (c convTranspose) turned() conv {
	t := c.conv
	t.lo, t.hi = make([]int, c.dims), make([]int, c.dims)
	for i := range c.dims {
		t.lo[i], t.hi[i] = c.reach(i)-1-c.lo[i], c.reach(i)-1-c.hi[i]
	}
	return t
}

// turn returns w (o, c/groups, k…) as (c, o/groups, k…) with the kernel reversed.
func (c convTranspose) turn(w *Tensor) *Tensor {
	shape := append([]int{c.groups, w.shape[0] / c.groups}, w.shape[1:]...)
	stride, offset := append([]int{shape[1] * w.stride[0]}, w.stride...), w.offset
	for d := 3; d < len(shape); d++ {
		offset += (shape[d] - 1) * stride[d]
		stride[d] = -stride[d]
	}
	order := seq(len(shape))
	order[1], order[2] = 2, 1
	t := duplicate(permuted(w.alias(offset, shape, stride), order))
	return shaped(t, append([]int{shape[0] * shape[2], shape[1]}, shape[3:]...))
}

// fold returns the sums of cols, (c, kernel…, n, places…) in this order, that each
// element of a tensor of shape (n, c, …) is seen in, taken in the order of the
// kernel's elements.
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

func (c convTranspose) products(in []*Tensor, _ *Tensor) int {
	return in[0].Numel() * size(in[1].shape[1:])
}

func (c convTranspose) VJP(g, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	if in[0].RequiresGrad() {
		out[0] = apply(c.conv, g, in[1])
	}
	if in[1].RequiresGrad() {
		out[1] = apply(convWeight{c.conv}, g, in[0])
	}
	if len(in) == 3 && in[2].RequiresGrad() {
		out[2] = g.sumChannels()
	}
	return out
}

// convWeight is the adjoint of conv in w: dw[o,c,k] = Σ dy[n,o,p]
// x[n,c,p·stride+k·dilation] of x (n, c, …) and dy (n, o, …).
type convWeight struct{ conv }

func (c convWeight) Info() Info {
	return Info{"conv_weight" + nd(c.dims), "torch.nn.grad.conv" + nd(c.dims) + "_weight", Keep, ReadsOperands}
}

func (c convWeight) Forward(in []*Tensor) *Tensor {
	sameDType(c.Info().Name, in)
	x, dy := in[0], in[1]
	o, k := dy.shape[1], x.shape[1]/c.groups*c.taps()
	shape := []int{c.groups, o / c.groups, k}
	sum := newTensor(x.mem.backend, wideOf(x.dtype), shape)
	if dy.Numel() > 0 && k > 0 {
		next := newTensor(x.mem.backend, sum.dtype, shape)
		c.parts(x, func(first, count int, cols *Tensor) {
			c.product(next, c.gathered(dy, first, count), permuted(cols, []int{0, 2, 1}), sum)
			sum, next = next, sum
		})
		release(next)
	}
	return narrow(shaped(sum, append([]int{o, x.shape[1] / c.groups}, c.kernel...)), x.dtype)
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

package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// convTranspose is the adjoint of conv in x: Σ y[n,o,p] w[o,c,k] goes to
// x[n,c,p·stride+k·dilation], of y (n, o, …), w (o, c/groups, k…) and perhaps b (c):
// (n, c, sizes…).
type convTranspose struct {
	conv
	sizes []int
}

func (c convTranspose) Info() Info {
	return info("conv_transpose"+nd(c.dims), "torch.nn.functional.conv_transpose"+nd(c.dims), SavesOperands)
}

func (c convTranspose) Forward(in []*Tensor) *Tensor {
	sameDType(c.Info().Name, in)
	y, w := in[0], in[1]
	shape := append([]int{y.shape[0], w.shape[1] * c.groups}, c.sizes...)
	phases, met := c.phases(y.shape[2:])
	result := unsetTensor
	if !met { // unmet elements stay zero
		result = newTensor
	}
	x := result(y.mem.backend, y.dtype, shape)
	if x.Numel() == 0 {
		return x
	}
	l := c.packing(y, w.shape[0]/c.groups, !slices.ContainsFunc(phases, func(p phase) bool { return !p.plain() }))
	strided := slices.ContainsFunc(c.stride, func(n int) bool { return n > 1 })
	if l.inner && !strided && phases[0].convolved(x, permuted(w, append([]int{1, 0}, seq(len(w.shape))[2:]...)), y, in[2:]) {
		return x
	}
	bias := biasOf(in, c.groups)
	if bias != nil && !met {
		runBroadcast(driver.Kernel{Code: driver.Copy}, x, in[2].alias(in[2].offset, keepDims(shape, append(seq(c.dims + 2)[2:], 0)), append([]int{0, in[2].stride[0]}, make([]int, c.dims)...)))
	}
	lo, hi := make([]int, c.dims), make([]int, c.dims)
	for _, p := range phases {
		for i := range c.dims {
			lo[i], hi[i] = max(lo[i], p.lo[i]-(p.kernel[i]-1)*p.dilation[i]), max(hi[i], p.hi[i])
		}
	}
	// w as (groups, c/groups, o/groups, kernel…)
	rows := grouped(w, 0, c.groups)
	rows = l.packed(permuted(rows, append([]int{0, 2, 1}, seq(len(rows.shape))[3:]...)), 2)
	l.padded(y, lo, hi, w.Numel(), true, func(first int, part *Tensor) {
		to := sliced(x, slice{0, first, first + part.shape[0]})
		for _, p := range phases {
			dst, taps := to, rows
			for i := range c.dims {
				dst = every(dst, 2+i, p.first[i], p.count[i], c.stride[i])
				taps = every(taps, 3+i, p.tap[i], p.kernel[i], p.step[i])
			}
			p.product(l, byGroup(dst, c.groups), taps, p.seen(part, lo, p.count), bias)
		}
	})
	l.release(rows)
	return x
}

// every returns count elements of x along dimension d: first, first+step, and so on.
func every(x *Tensor, d, first, count, step int) *Tensor {
	shape, stride := slices.Clone(x.shape), slices.Clone(x.stride)
	shape[d], stride[d] = count, step*stride[d]
	return x.alias(x.offset+first*x.stride[d], shape, stride)
}

// phase is a convolution with negative dilation. It computes the elements of x in one
// residue class of the stride, with the kernel elements that reach only those: x[first + t·stride] = Σ y[t+j·dilation-lo] w[tap+j·step].
type phase struct {
	conv
	first, count []int // elements of x
	tap, step    []int // elements of w
}

// phases returns the phases of x, for y with the given places, and reports whether they cover
// all of x. In each dimension, the element at i+lo = q·stride + r meets the kernel elements k
// with k·dilation = e·stride + r, in y[q-e].
func (c convTranspose) phases(places []int) (list []phase, all bool) {
	list, all = []phase{{conv: conv{dims: c.dims, groups: c.groups}}}, true
	for i, n := range places {
		s, d := c.stride[i], c.dilation[i]
		step, apart := s/gcd(s, d), d/gcd(s, d)
		var next []phase
		for r := range s {
			first := ((r-c.lo[i])%s + s) % s
			count := max(0, (c.sizes[i]-first+s-1)/s)
			tap := 0
			for tap < min(step, c.kernel[i]) && tap*d%s != r {
				tap++
			}
			if tap == min(step, c.kernel[i]) { // no kernel element
				all = all && count == 0
				continue
			}
			if count == 0 {
				continue
			}
			lo := (tap*d-r)/s - (first+c.lo[i]-r)/s
			for _, p := range list {
				next = append(next, phase{
					conv{c.dims, c.groups, window{
						kernel:   append(slices.Clone(p.kernel), (c.kernel[i]-1-tap)/step+1),
						stride:   append(slices.Clone(p.stride), 1),
						dilation: append(slices.Clone(p.dilation), -apart),
						lo:       append(slices.Clone(p.lo), lo),
						hi:       append(slices.Clone(p.hi), count-lo-n),
					}},
					append(slices.Clone(p.first), first), append(slices.Clone(p.count), count),
					append(slices.Clone(p.tap), tap), append(slices.Clone(p.step), step),
				})
			}
		}
		list = next
	}
	return list, all
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
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

// ConvTransposeOptions configures transposed convolutions. The zero value is torch's default.
type ConvTransposeOptions struct {
	Stride        []int // distance in the result between neighbouring elements of the input; default 1
	Padding       []int // elements removed from both sides of the result; default 0
	OutputPadding []int // elements added at the end, fewer than the stride or the dilation; default 0
	Dilation      []int // distance between the kernel's elements; default 1
	Groups        int   // number of independent groups of channels; default 1
}

// ConvTranspose1d returns the transposed convolution of t (n, c, l) with the weight w (c,
// o/groups, k), plus the bias b (o), which may be nil: (n, o, l'), where l' = (l-1) stride - 2
// padding + dilation (k-1) + output padding + 1. The dimension n may be missing. It computes
// the gradient of Conv1d with respect to its input. Sums are in float32 and rounded once. It
// panics if the sizes do not match. It is torch.nn.functional.conv_transpose1d.
func ConvTranspose1d(t, w, b *Tensor, o ConvTransposeOptions) *Tensor {
	return t.convolveTransposed(1, w, b, o)
}

// ConvTranspose2d is ConvTranspose1d of t (n, c, h, w) with w (c, o/groups, kh, kw).
// It is torch.nn.functional.conv_transpose2d.
func ConvTranspose2d(t, w, b *Tensor, o ConvTransposeOptions) *Tensor {
	return t.convolveTransposed(2, w, b, o)
}

// ConvTranspose3d is ConvTranspose1d of t (n, c, d, h, w) with w (c, o/groups, kd,
// kh, kw). It is torch.nn.functional.conv_transpose3d.
func ConvTranspose3d(t, w, b *Tensor, o ConvTransposeOptions) *Tensor {
	return t.convolveTransposed(3, w, b, o)
}

func (t *Tensor) convolveTransposed(dims int, w, b *Tensor, o ConvTransposeOptions) *Tensor {
	op := "conv_transpose" + nd(dims)
	in := operandsOf(op, dims, t, w, b)
	c := newConv(op, dims, w, ConvOptions{Stride: o.Stride, Padding: o.Padding, Dilation: o.Dilation, Groups: o.Groups})
	more := perDimension(op, "output padding", o.OutputPadding, dims, 0, 0)
	return batched(dims, in[0], func(x *Tensor) *Tensor {
		in[0] = x
		if x.shape[1] != w.shape[0] || w.shape[0]%c.groups != 0 {
			fail(op, in, "input has %d channels and Groups is %d; the weight expects %d channels, a multiple of Groups", x.shape[1], c.groups, w.shape[0])
		}
		if b != nil && !slices.Equal(b.shape, []int{w.shape[1] * c.groups}) {
			fail(op, in, "bias does not match the weight; want shape (%d,)", w.shape[1]*c.groups)
		}
		sizes := make([]int, dims)
		for i, n := range x.shape[2:] {
			if more[i] >= c.stride[i] && more[i] >= c.dilation[i] {
				fail(op, in, "output padding is %d in dimension %d; want less than the stride %d or the dilation %d", more[i], 2+i, c.stride[i], c.dilation[i])
			}
			c.hi[i] = c.lo[i] - more[i] // so that the convolution of the result has n places
			sizes[i] = (n-1)*c.stride[i] - c.lo[i] - c.hi[i] + c.reach(i)
			if n < 1 || sizes[i] < 1 {
				fail(op, in, "the result would have %d elements along dimension %d; want at least 1", sizes[i], 2+i)
			}
		}
		return apply(convTranspose{c, sizes}, in...)
	})
}

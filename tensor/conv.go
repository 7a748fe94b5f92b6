package tensor

import (
	"slices"
)

// ConvOptions are what convolutions may be told, each as one number for all
// dimensions or one a dimension. The zero value is torch's default.
type ConvOptions struct {
	Stride   []int // steps of the kernel, 1
	Padding  []int // zeros added on both sides, 0
	Dilation []int // distance of the kernel's elements, 1
	Groups   int   // channels are cut into that many parts that do not see each other, 1
	Same     bool  // instead of Padding: as many zeros as keep the sizes, the odd one behind: padding="same"
}

// Conv1d returns the convolution of t (n, c, l) with w (o, c/groups, k), plus b (o),
// which may be nil: (n, o, l'), where l' = (l + 2 padding - dilation (k-1) - 1) /
// stride + 1. t may lack n. Products and bias are added in float32 and rounded once. It panics if sizes
// do not fit. It is torch.nn.functional.conv1d.
func (t *Tensor) Conv1d(w, b *Tensor, o ConvOptions) *Tensor { return t.convolve(1, w, b, o) }

// Conv2d is Conv1d of t (n, c, h, w) with w (o, c/groups, kh, kw). It is
// torch.nn.functional.conv2d.
func (t *Tensor) Conv2d(w, b *Tensor, o ConvOptions) *Tensor { return t.convolve(2, w, b, o) }

// Conv3d is Conv1d of t (n, c, d, h, w) with w (o, c/groups, kd, kh, kw). It is
// torch.nn.functional.conv3d.
func (t *Tensor) Conv3d(w, b *Tensor, o ConvOptions) *Tensor { return t.convolve(3, w, b, o) }

func (t *Tensor) convolve(dims int, w, b *Tensor, o ConvOptions) *Tensor {
	op := "conv" + nd(dims)
	in := operandsOf(op, dims, t, w, b)
	c := newConv(op, dims, w, o)
	return batched(dims, in[0], func(x *Tensor) *Tensor {
		in[0] = x
		if x.shape[1] != w.shape[1]*c.groups || w.shape[0]%c.groups != 0 {
			fail(op, in, "%d channels do not fit the weight in %d groups; expected %d channels, and %d results to be a multiple of the groups", x.shape[1], c.groups, w.shape[1]*c.groups, w.shape[0])
		}
		if b != nil && !slices.Equal(b.shape, w.shape[:1]) {
			fail(op, in, "the bias does not fit the weight; expected (%d,)", w.shape[0])
		}
		for i, n := range x.shape[2:] {
			if n+c.lo[i]+c.hi[i] < c.reach(i) {
				fail(op, in, "the kernel reaches over %d elements of dimension %d, which has %d with padding; expected at least as many", c.reach(i), 2+i, n+c.lo[i]+c.hi[i])
			}
		}
		return apply(c, in...)
	})
}

// ConvTransposeOptions are ConvOptions for a transposed convolution. The zero value
// is torch's default.
type ConvTransposeOptions struct {
	Stride        []int // distance between neighbouring elements of the operand in the result, 1
	Padding       []int // elements taken away from both sides of the result, 0
	OutputPadding []int // elements added behind, less than the stride or the dilation, 0
	Dilation      []int // distance of the kernel's elements, 1
	Groups        int   // channels are cut into that many parts that do not see each other, 1
}

// ConvTranspose1d returns the transposed convolution of t (n, c, l) with w (c,
// o/groups, k), plus b (o), which may be nil: (n, o, l'), where l' = (l-1) stride -
// 2 padding + dilation (k-1) + output padding + 1. t may lack n. It is what
// the derivative of Conv1d computes. Sums are in float32 and rounded once. It panics
// if sizes do not fit. It is torch.nn.functional.conv_transpose1d.
func (t *Tensor) ConvTranspose1d(w, b *Tensor, o ConvTransposeOptions) *Tensor {
	return t.convolveTransposed(1, w, b, o)
}

// ConvTranspose2d is ConvTranspose1d of t (n, c, h, w) with w (c, o/groups, kh, kw).
// It is torch.nn.functional.conv_transpose2d.
func (t *Tensor) ConvTranspose2d(w, b *Tensor, o ConvTransposeOptions) *Tensor {
	return t.convolveTransposed(2, w, b, o)
}

// ConvTranspose3d is ConvTranspose1d of t (n, c, d, h, w) with w (c, o/groups, kd,
// kh, kw). It is torch.nn.functional.conv_transpose3d.
func (t *Tensor) ConvTranspose3d(w, b *Tensor, o ConvTransposeOptions) *Tensor {
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
			fail(op, in, "%d channels do not fit the weight in %d groups; expected %d channels, a multiple of the groups", x.shape[1], c.groups, w.shape[0])
		}
		if b != nil && !slices.Equal(b.shape, []int{w.shape[1] * c.groups}) {
			fail(op, in, "the bias does not fit the weight; expected (%d,)", w.shape[1]*c.groups)
		}
		sizes := make([]int, dims)
		for i, n := range x.shape[2:] {
			if more[i] >= c.stride[i] && more[i] >= c.dilation[i] {
				fail(op, in, "output padding %d in dimension %d; expected less than the stride %d or the dilation %d", more[i], 2+i, c.stride[i], c.dilation[i])
			}
			c.hi[i] = c.lo[i] - more[i] // so that the kernel has n places again
			sizes[i] = (n-1)*c.stride[i] - c.lo[i] - c.hi[i] + c.reach(i)
			if n < 1 || sizes[i] < 1 {
				fail(op, in, "the result would have %d elements along dimension %d; expected 1 or more", sizes[i], 2+i)
			}
		}
		return apply(convTranspose{c, sizes}, in...)
	})
}

// operandsOf returns the operands of a convolution after a look at their ranks.
func operandsOf(op string, dims int, x, w, b *Tensor) []*Tensor {
	given(op, x, w)
	in := []*Tensor{x, w}
	if b != nil {
		in = append(in, b)
	}
	if len(w.shape) != dims+2 || len(x.shape) != dims+1 && len(x.shape) != dims+2 {
		fail(op, in, "the ranks do not fit; expected an input of %d or %d dimensions and a weight of %d", dims+1, dims+2, dims+2)
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
		fail(op, []*Tensor{w}, "a kernel without elements, or %d groups; expected sizes and groups of 1 or more", o.Groups)
	}
	c.hi = slices.Clone(c.lo)
	if o.Same {
		for i := range dims {
			if c.stride[i] != 1 || len(o.Padding) > 0 {
				fail(op, []*Tensor{w}, "stride %v and padding %v; expected stride 1 and no padding beside Same", o.Stride, o.Padding)
			}
			total := c.reach(i) - 1
			c.lo[i], c.hi[i] = total/2, total-total/2
		}
	}
	return c
}

// batched calls f with x, which a dimension n is put in front of for the call if it
// has not got one beside its channels and dims others.
func batched(dims int, x *Tensor, f func(x *Tensor) *Tensor) *Tensor {
	if len(x.shape) == dims+1 {
		return f(x.Unsqueeze(0)).Squeeze(0)
	}
	return f(x)
}

// convTBC is conv1d of x (time, n, c), w (k, c, o) and b (o).
type convTBC struct{ pad int }

func (convTBC) Info() Info {
	return Info{"conv_tbc", "torch.conv_tbc", Lower, ReadsOperands}
}
func (c convTBC) f(in []*Tensor) *Tensor {
	y := in[0].Permute(1, 2, 0).Conv1d(in[1].Permute(2, 1, 0), in[2], ConvOptions{Padding: []int{c.pad}})
	return y.Permute(2, 0, 1)
}
func (c convTBC) Forward(in []*Tensor) *Tensor              { return compose(c.f, in) }
func (c convTBC) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(c.f, dy, in) }

// ConvTBC returns the convolution of t (l, n, c) with w (k, c, o), plus b (o), t
// being padded by that many zeros on both sides: (l', n, o). It is torch.conv_tbc.
func (t *Tensor) ConvTBC(w, b *Tensor, padding int) *Tensor {
	t.given("conv_tbc")
	in := []*Tensor{t, w, b}
	if len(t.shape) != 3 || len(w.shape) != 3 || t.shape[2] != w.shape[1] || !slices.Equal(b.shape, w.shape[2:]) || padding < 0 {
		fail("conv_tbc", in, "padding %d; expected (l, n, c), (k, c, o) and (o,), and a padding of 0 or more", padding)
	}
	return apply(convTBC{padding}, in...)
}

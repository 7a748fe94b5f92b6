package tensor

import (
	"slices"
)

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
	t.given("conv_tbc")
	in := []*Tensor{t, w, b}
	if len(t.shape) != 3 || len(w.shape) != 3 || t.shape[2] != w.shape[1] || !slices.Equal(b.shape, w.shape[2:]) || padding < 0 {
		fail("conv_tbc", in, "padding is %d; want input (l, n, c), weight (k, c, o), bias (o,) and a padding of at least 0", padding)
	}
	return apply(convTBC{padding}, in...)
}

package nn

import (
	"fmt"
	"math"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// Convolution holds the state common to all convolution layers.
type Convolution struct {
	Weight *tensor.Tensor // (out, in/groups, kernel…); transposed: (in, out/groups, kernel…)
	Bias   *tensor.Tensor // (out), or nil

	name       string
	dims       int
	in, out    int
	transposed bool
	c          visionConfig
}

// Convolution layers over one, two or three dimensions: torch.nn.Conv1d and its
// variants.
type (
	Conv1d          struct{ Convolution }
	Conv2d          struct{ Convolution }
	Conv3d          struct{ Convolution }
	ConvTranspose1d struct{ Convolution }
	ConvTranspose2d struct{ Convolution }
	ConvTranspose3d struct{ Convolution }
)

// NewConv1d returns a float32 layer that convolves (n, in, l) to (n, out, l'). Weight and
// bias are drawn uniformly from ±1/√(in/groups·kernel), with torch's random numbers. It
// takes KernelSize, Stride, Padding, PaddingSame, PaddingMode, Dilation, Groups, Bias and
// InitFrom, and panics if sizes are invalid. It is torch.nn.Conv1d.
func NewConv1d(in, out, kernel int, options ...Option) *Conv1d {
	return &Conv1d{newConvolution("Conv1d", 1, in, out, kernel, options)}
}

// NewConv2d is NewConv1d for (n, in, h, w). It is torch.nn.Conv2d.
func NewConv2d(in, out, kernel int, options ...Option) *Conv2d {
	return &Conv2d{newConvolution("Conv2d", 2, in, out, kernel, options)}
}

// NewConv3d is NewConv1d for (n, in, d, h, w). It is torch.nn.Conv3d.
func NewConv3d(in, out, kernel int, options ...Option) *Conv3d {
	return &Conv3d{newConvolution("Conv3d", 3, in, out, kernel, options)}
}

// NewConvTranspose1d returns a float32 layer of the transposed convolution from (n, in, l)
// to (n, out, l'). Weight and bias are drawn uniformly from ±1/√(out/groups·kernel). It
// takes KernelSize, Stride, Padding, OutputPadding, Dilation, Groups, Bias and InitFrom.
// It is torch.nn.ConvTranspose1d.
func NewConvTranspose1d(in, out, kernel int, options ...Option) *ConvTranspose1d {
	return &ConvTranspose1d{newConvolution("ConvTranspose1d", 1, in, out, kernel, options)}
}

// NewConvTranspose2d is NewConvTranspose1d for (n, in, h, w). It is
// torch.nn.ConvTranspose2d.
func NewConvTranspose2d(in, out, kernel int, options ...Option) *ConvTranspose2d {
	return &ConvTranspose2d{newConvolution("ConvTranspose2d", 2, in, out, kernel, options)}
}

// NewConvTranspose3d is NewConvTranspose1d for (n, in, d, h, w). It is
// torch.nn.ConvTranspose3d.
func NewConvTranspose3d(in, out, kernel int, options ...Option) *ConvTranspose3d {
	return &ConvTranspose3d{newConvolution("ConvTranspose3d", 3, in, out, kernel, options)}
}

func newConvolution(name string, dims, in, out, kernel int, options []Option) Convolution {
	transposed := len(name) > 6
	takes := []string{"KernelSize", "Stride", "Padding", "Dilation", "Groups", "Bias", "InitFrom", "PaddingSame", "PaddingMode"}
	if transposed {
		takes = append(takes[:7], "OutputPadding")
	}
	op := "new_" + snake(name)
	all := configure(op, config{bias: true}, options, takes...)
	c := all.vision
	if len(c.kernel) == 0 {
		c.kernel = []int{kernel}
	}
	c.kernel = perDimension(c.kernel, dims, 0)
	c.stride, c.padding = perDimension(c.stride, dims, 1), perDimension(c.padding, dims, 0)
	c.dilation, c.outputPadding = perDimension(c.dilation, dims, 1), perDimension(c.outputPadding, dims, 0)
	c.groups = max(c.groups, 1)
	if c.mode == "" {
		c.mode = "zeros"
	}
	taps := 1
	for _, k := range c.kernel {
		taps *= k
	}
	if in < 1 || out < 1 || taps < 1 || in%c.groups != 0 || out%c.groups != 0 {
		panic(&tensor.Error{Op: op, Why: text.Sprintf("%d to %d channels, groups %d, kernel %v; want at least 1 each, and channels divisible by groups", in, out, c.groups, c.kernel)})
	}
	first, second := out, in/c.groups
	if transposed {
		first, second = in, out/c.groups
	}
	bound := 1 / math.Sqrt(float64(second*taps))
	l := Convolution{name: name, dims: dims, in: in, out: out, transposed: transposed, c: c}
	l.Weight = all.uniform(-bound, bound, append([]int{first, second}, c.kernel...)...).RequireGrad()
	if all.bias {
		l.Bias = all.uniform(-bound, bound, out).RequireGrad()
	}
	return l
}

// Forward convolves x.
func (l *Convolution) Forward(x *tensor.Tensor) *tensor.Tensor {
	if l.transposed {
		o := tensor.ConvTransposeOptions{Stride: l.c.stride, Padding: l.c.padding, OutputPadding: l.c.outputPadding, Dilation: l.c.dilation, Groups: l.c.groups}
		return [...]func(x, w, b *tensor.Tensor, o tensor.ConvTransposeOptions) *tensor.Tensor{tensor.ConvTranspose1d, tensor.ConvTranspose2d, tensor.ConvTranspose3d}[l.dims-1](x, l.Weight, l.Bias, o)
	}
	o := tensor.ConvOptions{Stride: l.c.stride, Padding: l.c.padding, Dilation: l.c.dilation, Groups: l.c.groups, Same: l.c.same}
	if l.c.mode != "zeros" {
		x = x.Pad(l.border(), tensor.PadOptions{Mode: l.c.mode})
		o.Padding, o.Same = nil, false
	} else if l.c.same {
		o.Padding = nil
	}
	return [...]func(x, w, b *tensor.Tensor, o tensor.ConvOptions) *tensor.Tensor{tensor.Conv1d, tensor.Conv2d, tensor.Conv3d}[l.dims-1](x, l.Weight, l.Bias, o)
}

// border returns the padding in the order that Pad takes.
func (l *Convolution) border() []int {
	var pad []int
	for d := l.dims - 1; d >= 0; d-- {
		lo, hi := l.c.padding[d], l.c.padding[d]
		if l.c.same {
			total := l.c.dilation[d] * (l.c.kernel[d] - 1)
			lo, hi = total/2, total-total/2
		}
		pad = append(pad, lo, hi)
	}
	return pad
}

// String returns what torch prints.
func (l *Convolution) String() string {
	s := fmt.Sprintf("%s(%d, %d, kernel_size=%s, stride=%s", l.name, l.in, l.out, tuple(l.c.kernel), tuple(l.c.stride))
	add := func(name string, list []int, usual int) {
		for _, n := range list {
			if n != usual {
				s += fmt.Sprintf(", %s=%s", name, tuple(list))
				return
			}
		}
	}
	if l.c.same {
		s += ", padding=same"
	} else {
		add("padding", l.c.padding, 0)
	}
	add("dilation", l.c.dilation, 1)
	add("output_padding", l.c.outputPadding, 0)
	if l.c.groups != 1 {
		s += fmt.Sprintf(", groups=%d", l.c.groups)
	}
	if l.Bias == nil {
		s += ", bias=False"
	}
	if l.c.mode != "zeros" {
		s += ", padding_mode=" + l.c.mode
	}
	return s + ")"
}

// NewUnfold returns a module that extracts the windows of (n, c, h, w). It takes KernelSize,
// Stride, Padding and Dilation. It is torch.nn.Unfold.
func NewUnfold(size int, options ...Option) *Func {
	window, o, text := unfolding("unfold", size, options)
	return &Func{"Unfold(" + text, func(x *tensor.Tensor) *tensor.Tensor { return x.Im2Col(window, o) }}
}

// NewFold returns a module that sums windows into (n, c, height, width), the transpose of
// Unfold. It takes KernelSize, Stride, Padding and Dilation. It is torch.nn.Fold.
func NewFold(height, width, size int, options ...Option) *Func {
	window, o, text := unfolding("fold", size, options)
	sizes := []int{height, width}
	return &Func{fmt.Sprintf("Fold(output_size=%s, %s", tuple(sizes), text), func(x *tensor.Tensor) *tensor.Tensor { return x.Col2Im(sizes, window, o) }}
}

func unfolding(op string, size int, options []Option) (window []int, o tensor.ConvOptions, text string) {
	c := configure(op, config{}, options, "KernelSize", "Stride", "Padding", "Dilation").vision
	if window = c.kernel; len(window) == 0 {
		window = []int{size}
	}
	text = fmt.Sprintf("kernel_size=%s, dilation=%s, padding=%s, stride=%s)", brief(window),
		brief(given(c.dilation, 1)), brief(given(c.padding, 0)), brief(given(c.stride, 1)))
	return window, tensor.ConvOptions{Stride: c.stride, Padding: c.padding, Dilation: c.dilation}, text
}

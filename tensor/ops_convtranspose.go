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

package tensor

import (
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// window describes how a kernel moves over the last dimensions of a tensor: in steps of stride,
// reading every dilation-th element, after lo elements have been added before and hi after
// (removed, if negative).
type window struct{ kernel, stride, dilation, lo, hi []int }

// rank returns the number of dimensions that the window moves along.
func (w window) rank() int { return len(w.kernel) }

// taps returns the number of elements of the kernel.
func (w window) taps() int { return size(w.kernel) }

// reach returns the extent of the kernel along dimension i.
func (w window) reach(i int) int { return w.dilation[i]*(w.kernel[i]-1) + 1 }

// places returns the number of places of the window along each dimension of the given sizes; it
// may be 0.
func (w window) places(sizes []int) []int {
	out := make([]int, len(sizes))
	for i, n := range sizes {
		if room := n + w.lo[i] + w.hi[i] - w.reach(i); room >= 0 {
			out[i] = room/w.stride[i] + 1
		}
	}
	return out
}

// tap returns a view of the elements of the padded x that the kernel's element at reads, one
// per place.
func (w window) tap(x *Tensor, at, places []int) *Tensor {
	lead := len(x.shape) - w.rank()
	shape, stride, offset := append(slices.Clone(x.shape[:lead]), places...), slices.Clone(x.stride), x.offset
	for i, k := range at {
		offset += k * w.dilation[i] * x.stride[lead+i]
		stride[lead+i] *= w.stride[i]
	}
	return x.alias(offset, shape, stride)
}

// view returns a view of the elements of the padded x that the kernel reads: (…, places…,
// kernel…).
func (w window) view(x *Tensor, places []int) *Tensor {
	at := make([]int, w.rank())
	v := w.tap(x, at, places)
	lead := len(x.shape) - w.rank()
	for i, k := range w.kernel {
		v.shape = append(v.shape, k)
		v.stride = append(v.stride, w.dilation[i]*x.stride[lead+i])
	}
	return v
}

// each calls body for every element of the kernel in row-major order; i is its number.
func (w window) each(body func(i int, at []int)) {
	at := make([]int, w.rank())
	for i := range w.taps() {
		body(i, at)
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < w.kernel[d] {
				break
			}
			at[d] = 0
		}
	}
}

// pads reports whether the window adds or removes elements.
func (w window) pads() bool {
	return slices.ContainsFunc(w.lo, func(n int) bool { return n != 0 }) || slices.ContainsFunc(w.hi, func(n int) bool { return n != 0 })
}

// pad returns x with its last dimensions padded with value, or x itself if there is nothing to
// pad.
func (w window) pad(x *Tensor, value float64) *Tensor {
	if !w.pads() {
		return x
	}
	lead := len(x.shape) - w.rank()
	shape := slices.Clone(x.shape)
	for i := range w.lo {
		shape[lead+i] += w.lo[i] + w.hi[i]
	}
	y := newTensor(x.mem.backend, x.dtype, shape)
	if value != 0 {
		run(driver.Kernel{Code: driver.Fill, Alpha: value}, y)
	}
	to, from := overlap(y, x, w.lo)
	run(driver.Kernel{Code: driver.Copy}, to, from)
	return y
}

// unpad is the adjoint of pad.
func (w window) unpad(x *Tensor) *Tensor {
	return w.shrunk().pad(x, 0)
}

// shrunk returns w with its padding negated.
func (w window) shrunk() window {
	w.lo, w.hi = scaledBy(w.lo, -1), scaledBy(w.hi, -1)
	return w
}

// overlap returns the parts of y and x that coincide when y's last dimensions are shifted by
// lo.
func overlap(y, x *Tensor, lo []int) (to, from *Tensor) {
	lead := len(x.shape) - len(lo)
	to, from = y, x
	for i, n := range lo {
		d := lead + i
		first, last := max(0, n), min(y.shape[d], n+x.shape[d])
		last = max(first, last)
		to = sliced(to, slice{d, first, last})
		from = sliced(from, slice{d, first - n, last - n})
	}
	return to, from
}

func scaledBy(list []int, c int) []int {
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = c * n
	}
	return out
}

// perDimension returns a window option with one number per dimension: list if it has n numbers,
// its only number n times, or otherwise n times.
func perDimension(op, name string, list []int, n, otherwise, least int) []int {
	out := make([]int, n)
	for i := range out {
		switch len(list) {
		case 0:
			out[i] = otherwise
		case 1:
			out[i] = list[0]
		case n:
			out[i] = list[i]
		default:
			panic(named(&Error{Op: op, Why: text.Sprintf("%s is %v, of length %d; want length 1 or %d", name, list, len(list), n)}))
		}
		if out[i] < least {
			panic(named(&Error{Op: op, Why: text.Sprintf("%s is %v; want numbers of at least %d", name, list, least)}))
		}
	}
	return out
}

// nd returns "1d" for 1.
func nd(dims int) string { return [...]string{"0d", "1d", "2d", "3d"}[dims] }

// plain reports whether the window sees every element once.
func (w window) plain() bool {
	return w.taps() == 1 && !slices.ContainsFunc(w.stride, func(n int) bool { return n != 1 }) && !w.pads()
}

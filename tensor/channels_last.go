package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// packing is how convolutions have what they multiply lie: as it is, or, where a backend
// reads several neighbours at once, channels last and padded with zeros to packs of as
// many. Either depends on shapes and strides alone.
type packing struct {
	packer driver.Packer // nil if the backend is none
	pack   int           // 1 for channels where they are
}

// packingOf returns the layout for images x (n, c, …) of a convolution; plain ones are
// products of matrices that lie well already if places do.
func packingOf(x *Tensor, groups int, plain bool) packing {
	p, ok := x.mem.backend.(driver.Packer)
	if !ok {
		return packing{nil, 1}
	}
	l := packing{p, p.Packs(x.dtype)}
	whole := x.shape[1]/groups%l.pack == 0
	if x.Numel() == 0 || groups > 1 && !whole || plain && whole && l.rows(x) {
		l.pack = 1
	}
	return l
}

// plain reports whether the window sees every element once.
func (w window) plain() bool {
	return w.taps() == 1 && !slices.ContainsFunc(w.stride, func(n int) bool { return n != 1 }) && !w.pads()
}

// rows reports whether the places of x (n, c, places…) lie in packs, a power of 2.
func (l packing) rows(x *Tensor) bool {
	return (size(x.shape[2:])|x.offset)%l.pack == 0 && slices.Equal(x.stride, rowMajor(x.shape))
}

// full returns how many channels there are with those that fill the last pack.
func (l packing) full(channels int) int { return (channels + l.pack - 1) / l.pack * l.pack }

// unset returns a tensor of which nothing is set, with the elements along dimension d side
// by side if there are packs.
func (l packing) unset(b driver.Backend, t DType, shape []int, d int) *Tensor {
	if l.pack == 1 {
		return unsetTensor(b, t, shape)
	}
	room := unsetTensor(b, t, append(slices.Delete(slices.Clone(shape), d, d+1), shape[d]))
	return permuted(room, slices.Insert(seq(len(shape)-1), d, len(shape)-1))
}

// pad sets dst, which is 0 where there is no packer, to x with zeros around, before[d] of
// them before it along dimension d.
func (l packing) pad(dst, x *Tensor, before []int) {
	if l.packer != nil {
		l.packer.Pad(dst.view(), x.view(), before)
		return
	}
	for d, n := range before {
		dst = sliced(dst, slice{d, n, n + x.shape[d]})
	}
	run(driver.Kernel{Code: driver.Copy}, dst, x)
}

// packed returns a copy of x with the elements along dimension d side by side, in packs,
// or x if there are none.
func (l packing) packed(x *Tensor, d int) *Tensor {
	if l.pack == 1 {
		return x
	}
	shape := slices.Clone(x.shape)
	shape[d] = l.full(shape[d])
	y := l.unset(x.mem.backend, x.dtype, shape, d)
	l.pad(y, x, make([]int, len(shape)))
	return y
}

// release frees a tensor that packed has returned, if it is a copy.
func (l packing) release(y *Tensor) {
	if l.pack > 1 {
		release(y)
	}
}

// last returns x with dimension d behind the next few if there are packs.
func (l packing) last(x *Tensor, d, few int) *Tensor {
	if l.pack == 1 {
		return x
	}
	return permuted(x, slices.Insert(slices.Delete(seq(len(x.shape)), d, d+1), d+few, d))
}

// depth is last for what is summed over, dimension d with the kernel's behind it: of many
// channels the outer dimension stays before them, so that what neighbouring elements of
// the kernel see of a few channels is read at nearly one time.
func (l packing) depth(x *Tensor, d, dims int) *Tensor {
	few := 4 * l.pack
	if n := x.shape[d]; l.pack == 1 || dims > 2 || n <= few || n%few != 0 {
		return l.last(x, d, dims)
	}
	return l.last(grouped(x, d, x.shape[d]/few), d+1, dims)
}

// cached is how many elements stay in the second cache of a core, beside what they become.
const cached = 3 << 17

// padded calls body with images of x (n, c, …), from image first on, with lo zeros before
// and hi behind: all of x where that is none. They are valid during the call. On a CPU
// there are so many that they stay in the cache, but at least 8 times as many elements as
// the weight has, so that packing it for each part costs little.
func (l packing) padded(x *Tensor, lo, hi []int, weight int, body func(first int, part *Tensor)) {
	full := slices.Clone(x.shape)
	for i := range lo {
		full[2+i] += lo[i] + hi[i]
	}
	if n := x.shape[0]; n == 0 || l.pack == 1 && slices.Equal(full, x.shape) {
		body(0, x)
		return
	}
	n, most := full[0], max(cached, 8*weight)
	if l.packer != nil {
		most = l.packer.Room() / x.dtype.Size()
	}
	full[1] = l.full(full[1])
	full[0] = min(n, max(1, most/max(1, size(full[1:]))))
	var room *Tensor
	if l.packer != nil {
		room = l.unset(x.mem.backend, x.dtype, full, 1)
	} else {
		room = newTensor(x.mem.backend, x.dtype, full)
	}
	before := append([]int{0, 0}, lo...)
	for first := 0; first < n; first += full[0] {
		part := sliced(room, slice{0, 0, min(full[0], n-first)})
		l.pad(part, sliced(x, slice{0, first, first + part.shape[0]}), before)
		body(first, part)
	}
	release(room)
}

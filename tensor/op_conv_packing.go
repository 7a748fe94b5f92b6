package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// packing is the memory layout of a convolution's factors: unchanged, or, for a backend that
// reads several neighbours at once, channels last and zero-padded to packs of that many. The
// layout depends on shapes and strides only.
type packing struct {
	packer driver.Packer // nil if the backend does not implement it
	pack   int           // channels in a pack; 1 leaves the layout unchanged
	inner  bool          // sums are over the kernel first, and then over channels
}

// packingOf returns the layout for the images x (n, c, …) of a convolution. Pointwise ones are
// matrix products, whose layout is already good if the places are contiguous.
func packingOf(x *Tensor, groups int, plain bool) packing {
	p, ok := x.mem.backend.(driver.Packer)
	if !ok {
		return packing{nil, 1, false}
	}
	l := packing{packer: p, pack: p.VectorWidth(x.dtype)}
	whole := x.shape[1]/groups%l.pack == 0
	if x.Numel() == 0 || groups > 1 && !whole || plain && whole && l.rows(x) {
		l.pack = 1
	}
	return l
}

// rows reports whether the places of x (n, c, places…) are contiguous in packs, a power of 2.
func (l packing) rows(x *Tensor) bool {
	return (size(x.shape[2:])|x.offset)%l.pack == 0 && slices.Equal(x.stride, rowMajor(x.shape))
}

// full returns the number of channels rounded up to whole packs.
func (l packing) full(channels int) int { return (channels + l.pack - 1) / l.pack * l.pack }

// unset returns an uninitialised tensor, with dimension d innermost in memory if channels are
// packed.
func (l packing) unset(b driver.Backend, t DType, shape []int, d int) *Tensor {
	if l.pack == 1 {
		return unsetTensor(b, t, shape)
	}
	room := unsetTensor(b, t, append(slices.Delete(slices.Clone(shape), d, d+1), shape[d]))
	return permuted(room, slices.Insert(seq(len(shape)-1), d, len(shape)-1))
}

// pad sets dst, which is zero if there is no packer, to x padded with zeros, before[d] of them
// before dimension d.
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

// packed returns a copy of x with dimension d innermost in memory, in packs, or x itself if
// channels are not packed.
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

// release frees a tensor returned by packed, if it is a copy.
func (l packing) release(y *Tensor) {
	if l.pack > 1 {
		release(y)
	}
}

// last returns x with dimension d moved after the next few if channels are packed or inner.
func (l packing) last(x *Tensor, d, few int) *Tensor {
	if l.pack == 1 && !l.inner {
		return x
	}
	return permuted(x, slices.Insert(slices.Delete(seq(len(x.shape)), d, d+1), d+few, d))
}

// depth is last for the dimensions that are summed over, dimension d with the kernel's behind
// it. If there are many channels, their outer dimension stays in front, so that neighbouring
// elements of the kernel read the same few channels at nearly the same time.
func (l packing) depth(x *Tensor, d, dims int) *Tensor {
	few := 4 * l.pack
	if n := x.shape[d]; l.pack == 1 || dims > 2 || n <= few || n%few != 0 {
		return l.last(x, d, dims)
	}
	return l.last(grouped(x, d, x.shape[d]/few), d+1, dims)
}

// cached is the number of input elements that fit in a core's second-level cache together with
// their results.
const cached = 3 << 17

// padded calls body with batches of the images x (n, c, …), from image first on, with lo zeros
// before and hi zeros after; without padding, with all of x. The batch is valid only during
// the call. On a CPU a batch fits in the cache, but has at least 8 times as many elements as
// the weight, so that packing the weight for each batch costs little. If alike is set, batches have
// about the same number of images there. It must not be set for a sum over images, whose order
// depends on the batches.
func (l packing) padded(x *Tensor, lo, hi []int, weight int, alike bool, body func(first int, part *Tensor)) {
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
		most = l.packer.ScratchLimit() / x.dtype.Size()
	}
	full[1] = l.full(full[1])
	full[0] = min(n, max(1, most/max(1, size(full[1:]))))
	if alike && l.packer == nil {
		batches := (n + full[0] - 1) / full[0]
		full[0] = (n + batches - 1) / batches
	}
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

package driver

// MemoryStats holds a backend's memory use in bytes.
type MemoryStats struct {
	// Live is the memory that was allocated and neither released nor found unreachable.
	Live int64
	// Peak is the largest Live since the start or the last ResetPeak.
	Peak int64
	// Reserved is Live plus the memory that the backend caches for reuse.
	Reserved int64
	// Limit is the memory that may be allocated, 0 if unknown.
	Limit int64
}

// MemoryReporter is implemented by backends that count their memory.
type MemoryReporter interface {
	Memory() MemoryStats
	// ResetPeak sets Peak to Live.
	ResetPeak()
}

// Releaser is implemented by backends that can free a buffer before it is
// unreachable. No view of the buffer may be used afterwards; a kernel that is
// given one panics. Releasing twice does nothing.
type Releaser interface {
	Release(b Buffer)
}

// Recycler is implemented by backends that reuse memory and can skip clearing it for callers
// that overwrite all of it.
type Recycler interface {
	// AllocUnset is Alloc without clearing: the contents are undefined.
	AllocUnset(n int) (Buffer, error)
}

// Accessor is implemented by backends whose memory the host can read and write directly.
type Accessor interface {
	// Load returns the 1, 2, 4 or 8 bytes of a buffer from off on, in the low bits.
	Load(b Buffer, off, bytes int) uint64
	// Store sets as many bytes of a buffer from off on to the low bits of bits.
	Store(b Buffer, off, bytes int, bits uint64)
}

// Mapper is implemented by backends whose memory is in the address space of the host.
type Mapper interface {
	// Map returns n bytes of a buffer from off on. They are valid while the buffer is reachable.
	Map(b Buffer, off, n int) []byte
}

// Sharer is implemented by devices whose memory and stream other libraries of the device can use.
type Sharer interface {
	// Share returns n bytes of a buffer from off on, as memory of the device: the host may pass its address to libraries, but not read
	// it. They are valid while the buffer is reachable.
	Share(b Buffer, off, n int) []byte
	// Enqueue calls f with the stream of all work, in the context of the device. done reports whether the work that f enqueued is done.
	// During the calls no other goroutine captures the stream. The caller is locked to its thread.
	Enqueue(f func(stream uintptr) error) (done func() (bool, error), err error)
}

// Launch is a kernel with its operands.
type Launch struct {
	Kernel Kernel
	Dst    View
	Src    []View
}

// Batcher is implemented by backends that run many kernels faster together than one after
// the other, such as the steps of an optimizer on all parameters.
type Batcher interface {
	// RunAll runs kernels in any order or concurrently: none writes memory that another
	// reads or writes.
	RunAll(list []Launch)
}

// Counts summarises the elements of a view.
type Counts struct {
	Count, Zeros           int
	Subnormals, Infs, NaNs int
	AbsMin, AbsMax         float64 // over the finite nonzero elements, NaN if there are none
}

// Counter is implemented by backends that can count on the device. For integers and bool
// Count finds only the zeros.
type Counter interface {
	Count(v View) Counts
}

// Packer is implemented by backends whose matrix products read several neighbours at once.
// Convolutions arrange operands for them channels last, padded with zeros to a multiple of
// the vector width.
type Packer interface {
	// VectorWidth returns the number of neighbours of a dtype read at once, 1 if layouts do not
	// matter.
	VectorWidth(d DType) int
	// ScratchLimit returns the largest size in bytes of a copy of images; larger inputs are copied
	// and multiplied in parts. It is constant, so that sums keep their order.
	ScratchLimit() int
	// Pad sets dst to src surrounded by zeros, with before[a] zeros in front along axis a; there
	// are at most 6 axes. dst has src's dtype and rank, is at least as large, and does not
	// overlap src.
	Pad(dst, src View, before []int)
}

// Convolver is implemented by backends that compute some convolutions without adding zeros around the images.
type Convolver interface {
	// Convolve sets dst (n, o, places…) to the convolution of x (n, c, sizes…) with w (o, c,
	// kernel…), plus bias (o) unless it is nil. The bits are those of [Contract] for images with
	// zeros around them, with sums over the kernel's axes and then c. It reports false for other
	// convolutions and for a w with an infinity or NaN; elements of dst are then undefined.
	Convolve(p Window, dst, w, x View, bias *View) bool
}

// Window describes the window of a convolution. Place p and kernel element k of each axis meet element p*Stride +
// k*Dilation - Before of the image; elements outside it are zeros.
type Window struct{ Stride, Dilation, Before []int }

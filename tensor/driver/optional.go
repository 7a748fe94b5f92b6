package driver

// MemoryStats counts bytes of a backend's buffers.
type MemoryStats struct {
	// Live is what is allocated: neither released nor found unreachable.
	Live int64
	// Peak is the largest Live since the start or the last ResetPeak.
	Peak int64
	// Reserved is Live and what the backend keeps to give it out again.
	Reserved int64
	// Mapped is that part of it which is no memory of Go's, whose figures lack it.
	Mapped int64
	// Limit is what may be allocated, 0 if that is not known.
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

// Recycler is implemented by backends that give out memory again, and need not clear
// it for those who write all of it.
type Recycler interface {
	// AllocUnset is Alloc of a buffer whose bytes may be anything.
	AllocUnset(n int) (Buffer, error)
}

// Launch is a kernel with its operands.
type Launch struct {
	Kernel Kernel
	Dst    View
	Src    []View
}

// Batcher is implemented by backends that run many kernels in less time than one after
// the other: the steps of an optimizer on parameters of all sizes.
type Batcher interface {
	// RunAll runs kernels in any order, or at once: none writes what another reads or
	// writes.
	RunAll(list []Launch)
}

// Counts says what is in a view.
type Counts struct {
	Count, Zeros           int
	Subnormals, Infs, NaNs int
	AbsMin, AbsMax         float64 // of the finite elements that are not 0, NaN if there is none
}

// Counter is implemented by backends that can count where the elements are. Of
// integers and bool Count finds the zeros only.
type Counter interface {
	Count(v View) Counts
}

// Packer is implemented by backends whose products read several neighbours at once.
// Convolutions lay out for them what they multiply: channels last, their number filled up
// to packs with zeros.
type Packer interface {
	// Packs returns how many neighbours of a dtype are read at once, 1 if layouts do not
	// matter.
	Packs(d DType) int
	// Room returns how many bytes a copy of images may take; of more, parts are copied and
	// multiplied one after the other. It never changes, so that sums keep their order.
	Room() int
	// Pad sets dst to src with zeros around it, and before[a] of them before it along axis
	// a, of 6 at the most. dst has src's dtype and rank, is no smaller, and does not overlap
	// it.
	Pad(dst, src View, before []int)
}

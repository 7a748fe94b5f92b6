// Package driver defines the interface of a compute backend: memory, and kernels that run on
// it. It covers shapes, strides and element types, but not autograd or autocast.
package driver

// Backend computes on one kind of device. A backend is safe for use by several
// goroutines at once.
type Backend interface {
	// Name returns the device's name, for example "cpu".
	Name() string
	// Alloc returns a zeroed buffer of n bytes, or an error that states the requested and
	// the available bytes.
	Alloc(n int) (Buffer, error)
	// Run computes dst from src. The caller has checked shapes and dtypes as required by the kernel's
	// comment; a backend panics on kernels that it does not offer (see [Backend.Offers]).
	// dst may be one of src where the comment allows it; otherwise they do not overlap.
	Run(k Kernel, dst View, src ...View)
	// Offers reports whether Run accepts k's code with dst's and src's dtypes.
	// Optional kernels may be declined: the caller then composes them from others.
	Offers(c Code, dst DType, src ...DType) bool
	// Read copies the buffer's bytes that start at off to p; Write copies p to the buffer. Both wait
	// for the work enqueued before.
	Read(p []byte, b Buffer, off int)
	Write(b Buffer, off int, p []byte)
	// Synchronize returns when all enqueued work is done.
	Synchronize()
}

// Failure is the panic value for errors that the device or earlier work on it has caused. Mistakes of the
// caller panic with other values.
type Failure struct{ Err error }

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Buffer is memory of one backend. It is released when unreachable.
type Buffer interface {
	// Bytes returns the size in bytes.
	Bytes() int
}

// View is a strided window on a buffer: element (i, j, …) of the view is element
// Offset + i*Stride[0] + j*Stride[1] + … of the buffer, counted in elements of
// DType. Elements repeat along an axis with stride 0 (broadcasting).
type View struct {
	Buffer Buffer
	DType  DType
	Offset int
	Shape  []int
	Stride []int
}

// Len returns the number of elements, 1 for a scalar.
func (v View) Len() int {
	n := 1
	for _, s := range v.Shape {
		n *= s
	}
	return n
}

// Contiguous reports whether elements lie in row-major order without gaps.
func (v View) Contiguous() bool {
	n := 1
	for i := len(v.Shape) - 1; i >= 0; i-- {
		if v.Shape[i] != 1 && v.Stride[i] != n {
			return false
		}
		n *= v.Shape[i]
	}
	return true
}

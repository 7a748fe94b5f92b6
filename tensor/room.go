package tensor

import (
	"fmt"
	"unsafe"

	"halfnote/tensor/driver"
)

// hostSlice returns n zeros on the host for op. It panics if n is negative or memory is short.
// All allocations whose size comes from the user are made here.
func hostSlice[E any](op string, n int) []E {
	if err := driver.Room(n, int(unsafe.Sizeof(*new(E)))); err != nil {
		panic(&Error{Op: op, Why: err.Error()})
	}
	return make([]E, n)
}

// hostViews returns a slice for n views. It panics if there is not enough memory for the views
// themselves.
func hostViews(op string, n int) []*Tensor {
	const each = 256 // approximate bytes of a view with its shape and strides
	if err := driver.Room(n, each); err != nil {
		panic(&Error{Op: op, Why: err.Error()})
	}
	return make([]*Tensor, n)
}

// checkLeast panics unless the argument n, called name, is at least least.
func checkLeast(op, name string, n, least int) {
	if n < least {
		panic(&Error{Op: op, Why: fmt.Sprintf("%s is %d; want at least %d", name, n, least)})
	}
}

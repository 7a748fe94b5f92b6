package tensor

import (
	"fmt"
	"unsafe"

	"halfnote/tensor/driver"
)

// hostSlice returns n zeros on the host for op, and panics if n is negative or memory is short:
// what is made from a number that a user has given is made here.
func hostSlice[E any](op string, n int) []E {
	if err := driver.Room(n, int(unsafe.Sizeof(*new(E)))); err != nil {
		panic(&Error{Op: op, Why: err.Error()})
	}
	return make([]E, n)
}

// hostViews returns room for n views, and panics if there is none for the views themselves.
func hostViews(op string, n int) []*Tensor {
	const each = 256 // bytes of a view with its shape and strides, about
	if err := driver.Room(n, each); err != nil {
		panic(&Error{Op: op, Why: err.Error()})
	}
	return make([]*Tensor, n)
}

// checkLeast panics unless n, which is called name, is least or more.
func checkLeast(op, name string, n, least int) {
	if n < least {
		panic(&Error{Op: op, Why: fmt.Sprintf("%s is %d; expected %d or more", name, n, least)})
	}
}

//go:build ignore

package slices

import "reflect"

// overlaps reports whether the memory of a and b overlaps.
func overlaps[E any](a, b []E) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	size := reflect.TypeOf(a).Elem().Size()
	x, y := reflect.ValueOf(a).Pointer(), reflect.ValueOf(b).Pointer()
	return size > 0 && x < y+uintptr(len(b))*size && y < x+uintptr(len(a))*size
}

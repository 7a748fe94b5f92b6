package data

import (
	"slices"
	"testing"
)

// TestElements checks that the table's sizes agree with the dtypes, and that names are unique.
func TestElements(t *testing.T) {
	var names []string
	for _, e := range elements {
		names = append(names, e.name)
		if e.dtype != 0 && (e.size*8 != e.bits || e.size > e.dtype.Size()) {
			t.Errorf("%s: got %d bytes and %d bits for dtype %v", e.name, e.size, e.bits, e.dtype)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(elements) {
		t.Errorf("a name occurs twice in %v", names)
	}
}

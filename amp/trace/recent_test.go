package trace

import "testing"

// TestRecent checks that a value is held until the end of the step after its own, for any distance between
// IDs.
func TestRecent(t *testing.T) {
	for _, stride := range []int{1, 3, 256, 1000} {
		var r recent[int]
		const tensors = 500
		for step := range 8 {
			first := step * tensors
			for i := first; i < first+tensors; i++ {
				r.put(i*stride, i)
			}
			for i := range first + tensors {
				v, ok := r.get(i * stride)
				if wanted := i >= first-tensors; ok && v != i || wanted && !ok && stride*2*tensors < mostPlaces || !wanted && ok {
					t.Fatalf("stride %d, step %d, value %d: got %d, %v", stride, step, i, v, ok)
				}
			}
			r.turn()
		}
		if len(r.places) > mostPlaces {
			t.Errorf("stride %d: got a table of %d places", stride, len(r.places))
		}
	}
	var r recent[int]
	r.put(0, 7)
	r.put(0, 8)
	if v, ok := r.get(0); v != 8 || !ok {
		t.Errorf("ID 0, stored twice: got %d, %v", v, ok)
	}
}

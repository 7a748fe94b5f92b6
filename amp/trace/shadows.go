package trace

import "halfnote/tensor"

// Shadows follows operations in float64 for diagnoses that want to see more than a
// recording with [Shadow] keeps: what each result would be had everything before been
// float64. It holds those of the last results, as far as memory goes, and is not safe
// for use by several goroutines at once.
type Shadows struct{ shadow shadow }

// Follow takes in an operation, views too, in the order in which they run. It returns
// what the rounding of the operation itself did; ok is false for changes in place and
// for what has no form in float64.
func (s *Shadows) Follow(e tensor.Event) (r Rounding, ok bool) {
	said, r := s.shadow.event(e)
	return r, said != nil
}

// Values returns what the elements of t would be, nil if that is not known.
func (s *Shadows) Values(t *tensor.Tensor) []float64 {
	v, ok := s.shadow.get(t)
	if !ok || *v.version != t.Version() {
		return nil
	}
	return v.Float64s()
}

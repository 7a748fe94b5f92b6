package trace

import "halfnote/tensor"

// Shadows recomputes operations in float64 for diagnoses that need more than a recording with
// [Shadow] keeps: the values of each result if all earlier operations were float64. It holds
// the latest results within a memory limit, and is not safe for concurrent use.
type Shadows struct{ shadow shadow }

// Follow observes an operation; call it for every operation, including views, in order. It
// returns the effect of the operation's own rounding; ok is false for in-place changes and for
// operations without a float64 form.
func (s *Shadows) Follow(e tensor.Event) (r Rounding, ok bool) {
	said, r := s.shadow.event(e)
	return r, said != nil
}

// Compare is Follow with the comparison of the result with float64.
func (s *Shadows) Compare(e tensor.Event) (c Shadowed, ok bool) {
	said, _ := s.shadow.event(e)
	if said == nil {
		return c, false
	}
	return *said, true
}

// Values returns the float64 values of t's elements, or nil if unknown.
func (s *Shadows) Values(t *tensor.Tensor) []float64 {
	v, ok := s.shadow.get(t)
	if !ok || *v.version != t.Version() {
		return nil
	}
	return v.Float64s()
}

package diagnose

import "slices"

// spread records an occurrence: the first operation of each module, forward and backward.
func (b *NonFinite) spread(p Occurrence) {
	const most = 40
	same := func(q Occurrence) bool { return q.Module == p.Module && q.Backward == p.Backward }
	if len(b.Spread) < most && !slices.ContainsFunc(b.Spread, same) && !(p.Module == b.Module && p.Backward == b.Backward) {
		b.Spread = append(b.Spread, p)
	}
}

// lineage lists the operations that led to a result, oldest first.
func (a *tracker) lineage(r *result) []Occurrence {
	const most = 6
	var list []Occurrence
	for len(list) < most {
		var next *result
		for _, id := range r.in {
			if of := a.results[id]; of != nil && (next == nil || next.place.Param != "" && of.place.Param == "") { // activations before weights
				next = of
			}
		}
		for next != nil && next.view != nil {
			next = next.view
		}
		if next == nil || next == r {
			break
		}
		list, r = append(list, next.Occurrence), next
	}
	slices.Reverse(list)
	return list
}

// grew returns the operation leading to r whose result first exceeded limit.
func (a *tracker) grew(r *result, limit float64) *Occurrence {
	for r != nil && r.Counts.AbsMax > limit {
		var next *result
		for _, id := range r.in {
			if of := a.results[id]; of != nil && of.Counts.AbsMax > limit {
				next = of
			}
		}
		if next == nil {
			return &r.Occurrence
		}
		r = next
	}
	return nil
}

// forget drops entries of old tensors, by ID, once there are many.
func forget[T any](known map[int]T, newest int) {
	const much = 1 << 17
	if len(known) < much {
		return
	}
	for id := range known {
		if id < newest-much/2 {
			delete(known, id)
		}
	}
}

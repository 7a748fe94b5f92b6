package trace

// recent holds values of at most some ten thousand tensors by ID: those put since the turn before
// last. IDs are given in order, so no hash is needed: a value is at its ID's place or soon after
// it, and places are added when all of these are taken.
type recent[T any] struct {
	places []place[T] // their number is a power of two
	turns  int
}

type place[T any] struct {
	id, turn int // turn is one more than the number of turns at the time of put
	value    T
}

const (
	fewPlaces  = 1 << 8
	mostPlaces = 1 << 16
	near       = 8 // number of places where a value may be
)

func (r *recent[T]) put(id int, v T) {
	if r.places == nil {
		r.places = make([]place[T], fewPlaces)
	}
	p := r.at(id)
	for p == nil {
		r.grow()
		p = r.at(id)
	}
	*p = place[T]{id, r.turns + 1, v}
}

// turn drops values put before the last turn.
func (r *recent[T]) turn() { r.turns++ }

func (r *recent[T]) get(id int) (v T, ok bool) {
	if r.places == nil {
		return v, false
	}
	for i := range near {
		if p := r.place(id + i); p.id == id && r.holds(p) {
			return p.value, true
		}
	}
	return v, false
}

func (r *recent[T]) place(i int) *place[T] { return &r.places[i&(len(r.places)-1)] }

func (r *recent[T]) holds(p *place[T]) bool { return p.turn > 0 && p.turn >= r.turns }

// at returns the place of id, or a free one for it, or nil if there must be more places.
func (r *recent[T]) at(id int) (free *place[T]) {
	for i := range near {
		p := r.place(id + i)
		switch {
		case !r.holds(p):
			if free == nil {
				free = p
			}
		case p.id == id:
			return p
		}
	}
	if free == nil && len(r.places) >= mostPlaces {
		return r.place(id)
	}
	return free
}

// grow doubles the places.
func (r *recent[T]) grow() {
	before := r.places
	r.places = make([]place[T], 2*len(before))
	for _, p := range before {
		if r.holds(&p) {
			if to := r.at(p.id); to != nil {
				*to = p
			}
		}
	}
}

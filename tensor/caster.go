package tensor

import "halfnote/tensor/internal/scope"

// Caster chooses the dtypes that operations run in.
type Caster interface {
	// Cast returns the operands that op shall run with, in[i] or a cast of it for
	// each i, as made by in[i].To. It must not change in. Casts and views are not
	// shown to it. It runs on the goroutine of the operation and may panic with
	// an error if op must not run.
	Cast(op Info, in []*Tensor) []*Tensor
}

// WithCaster runs body with c casting the operands of every operation of this
// goroutine. nil casts nothing.
func WithCaster(c Caster, body func()) {
	s := current()
	s.caster = c
	scope.Do(s, body)
}

// ActiveCaster returns the caster in force on this goroutine, or nil.
func ActiveCaster() Caster { return current().caster }

// offered returns in as the caster wants the operands of an operation of that name that
// is made of others here, but which torch lists as a whole, as cross_entropy_loss for
// the CPU.
func offered(name string, in ...*Tensor) []*Tensor {
	s := current()
	if s.caster == nil {
		return in
	}
	var e *Event
	if observers.load() != nil {
		e = new(Event)
	}
	return s.cast(Info{Name: name}, in, e)
}

// cast asks the caster, and notes in e, if it is observed, what was cast.
func (s state) cast(info Info, in []*Tensor, e *Event) []*Tensor {
	if e == nil {
		return s.caster.Cast(info, in)
	}
	var out []*Tensor
	c := s.caster
	s.casting = true
	before := ids.Load()
	scope.Do(s, func() { out = c.Cast(info, in) })
	for i, t := range out {
		if t != in[i] {
			// A tensor older than this call was taken from a cache.
			e.Casts = append(e.Casts, Cast{Operand: i, From: in[i].dtype, To: t.dtype, Cached: t.id <= before})
		}
	}
	return out
}

package tensor

import (
	"errors"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/tensor/internal/scope"
)

// The kinds of casters.
type (
	caster       = plumbing.Caster[Info, *Tensor]
	renewer      = plumbing.Renewer[Info, *Tensor]
	resultCaster = plumbing.ResultCaster[Info, *Tensor]
	moduleReader = plumbing.ModuleReader[Info, *Tensor]
	decomposer   = plumbing.Decomposer[Info, *Tensor]
)

// With runs body with c casting the operands of every operation of this goroutine. A nil c casts nothing.
func (casting) With(c caster, body func()) {
	s := current()
	s.caster = c
	s.do(body)
}

// Enter is With for the code that follows it. c casts the operands of this goroutine's operations until exit is called, or until the
// enclosing body run by With, NoGrad or a similar function returns. exit returns an error if it is called on another goroutine, a
// second time, or before the exit of a later Enter. A goroutine that ends without calling exit must call CloseScopes.
func (casting) Enter(c caster) (exit func() error) {
	s := current()
	s.caster = c
	entered := scope.Enter(&s)
	return func() error {
		switch {
		case entered.Exit():
			return nil
		case entered.Ended():
			return errors.New("the scope has already ended")
		}
		return errors.New("the scope is not the innermost one of this goroutine")
	}
}

// CloseScopes ends the scopes that the calling goroutine has entered and not left. It returns the casters of its calls of Enter,
// innermost first. Programs that run user code in goroutines call it at the end of each.
func (casting) CloseScopes() (left []caster) {
	for _, v := range scope.Close() {
		if s, ok := v.(*state); ok && s.caster != nil {
			left = append(left, s.caster)
		}
	}
	return left
}

// Active returns the caster in force on this goroutine, or nil.
func (casting) Active() caster { return current().caster }

// Enclosing returns the caster in force. During Backward, which has none, it returns the one in force where Backward was called. It may
// return nil.
func (casting) Enclosing() caster {
	s := current()
	if s.caster == nil {
		return s.suspended
	}
	return s.caster
}

// offered returns in, cast by the active caster. It serves an operation that is composed here
// but that torch's autocast lists as a whole, for example cross_entropy_loss on the CPU.
func offered(info Info, in ...*Tensor) []*Tensor {
	s := current()
	if s.caster == nil {
		return in
	}
	var e *observed
	if observers.load() != nil {
		e = new(observed)
	}
	return s.cast(info, in, e)
}

// castOf returns the operands that op runs with.
func (s state) castOf(op Op, in []*Tensor, e *observed) []*Tensor {
	d, ok := op.(derived)
	if !ok {
		return s.cast(op.Info(), in, e)
	}
	k := d.derived()
	given := slices.Delete(slices.Clone(in), k, k+1)
	out := slices.Insert(slices.Clone(s.cast(op.Info(), given, e)), k, in[k])
	if e != nil {
		for i := range e.Casts {
			if e.Casts[i].Operand >= k {
				e.Casts[i].Operand++
			}
		}
	}
	return out
}

// cast calls the caster and, if e is non-nil, records the casts in it.
func (s state) cast(info Info, in []*Tensor, e *observed) []*Tensor {
	if e == nil {
		out := s.caster.Cast(info, in)
		for i, t := range out {
			if t != in[i] {
				t.share() // the caster may keep it
			}
		}
		return out
	}
	var out []*Tensor
	before := ids.Load()
	now := innermost() // still s
	casting, source := now.casting, now.source
	now.casting, now.source = true, e.Source
	func() {
		defer func() { now.casting, now.source = casting, source }()
		out = s.caster.Cast(info, in)
	}()
	for i, t := range out {
		if t != in[i] {
			t.share() // the caster may keep it
			// A tensor older than this call came from a cache.
			e.Casts = append(e.Casts, Cast{Operand: i, ID: int(t.id), From: in[i].dtype, To: t.dtype, Cached: t.id <= before})
		}
	}
	return out
}

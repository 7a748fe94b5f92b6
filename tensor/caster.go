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

// withCaster is With of plumbing.Casting.
func withCaster(c caster, body func()) {
	s := current()
	s.caster = c
	s.do(body)
}

// enterCaster is Enter of plumbing.Casting.
func enterCaster(c caster) (exit func() error) {
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

// closeScopes is CloseScopes of plumbing.Casting.
func closeScopes() (left []caster) {
	for _, v := range scope.Close() {
		if s, ok := v.(*state); ok && s.caster != nil {
			left = append(left, s.caster)
		}
	}
	return left
}

// activeCaster is Active of plumbing.Casting.
func activeCaster() caster { return current().caster }

// enclosingCaster is Enclosing of plumbing.Casting.
func enclosingCaster() caster {
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

package tensor

import (
	"errors"
	"slices"

	"halfnote/tensor/internal/scope"
)

// Caster chooses the dtypes that operations run in.
type Caster interface {
	// Cast returns the operands that op shall run with, in[i] or a cast of it for
	// each i, as made by in[i].To. It must not change in. Casts and views are not
	// shown to it. It runs on the goroutine of the operation and may panic with
	// an error if op must not run.
	Cast(op Info, in []*Tensor) []*Tensor
}

// Renewer is a caster that keeps something, as casts of weights for reuse. Checkpoint
// runs its function under what Renew returns: the same rules, with nothing kept yet.
type Renewer interface {
	Caster
	Renew() Caster
}

// ResultCaster is a Caster that has a say in results too, as a cast of them, or a hook on
// their gradients.
type ResultCaster interface {
	Caster
	// Result returns what takes the place of op's result y, commonly y itself. in are
	// the operands as they were before Cast.
	Result(op Info, in []*Tensor, y *Tensor) *Tensor
}

// WithCaster runs body with c casting the operands of every operation of this
// goroutine. nil casts nothing.
func WithCaster(c Caster, body func()) {
	s := current()
	s.caster = c
	s.do(body)
}

// EnterCaster is WithCaster for code that follows: c casts the operands of this
// goroutine's operations until exit is called, or until the function around it ends that
// WithCaster, NoGrad or another of the kind runs. exit returns an error on another
// goroutine, a second time, or before that of a later EnterCaster. A goroutine that ends
// without exit must call CloseScopes.
func EnterCaster(c Caster) (exit func() error) {
	s := current()
	s.caster = c
	entered := scope.Enter(&s)
	return func() error {
		switch {
		case entered.Exit():
			return nil
		case entered.Ended():
			return errors.New("it has ended already")
		}
		return errors.New("it is not the innermost of this goroutine")
	}
}

// CloseScopes ends what the calling goroutine has entered and not left, and returns the
// casters of EnterCaster among it, the innermost first. It is for programs that run
// other people's code in goroutines, at the end of each.
func CloseScopes() (left []Caster) {
	for _, v := range scope.Close() {
		if s, ok := v.(*state); ok && s.caster != nil {
			left = append(left, s.caster)
		}
	}
	return left
}

// ActiveCaster returns the caster in force on this goroutine, or nil.
func ActiveCaster() Caster { return current().caster }

// EnclosingCaster returns the caster in force, or in Backward, where none is, the one
// that was in force where Backward was called, or nil.
func EnclosingCaster() Caster {
	s := current()
	if s.caster == nil {
		return s.suspended
	}
	return s.caster
}

// offered returns in as the caster wants the operands of an operation that is made of
// others here, but not in torch, which lists it as a whole, as cross_entropy_loss for the
// CPU.
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

// castOf returns the operands that op shall run with.
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

// cast asks the caster, and notes in e, if it is observed, what was cast.
func (s state) cast(info Info, in []*Tensor, e *observed) []*Tensor {
	if e == nil {
		return s.caster.Cast(info, in)
	}
	var out []*Tensor
	before := ids.Load()
	now := innermost() // s, still
	casting, source := now.casting, now.source
	now.casting, now.source = true, e.Source
	func() {
		defer func() { now.casting, now.source = casting, source }()
		out = s.caster.Cast(info, in)
	}()
	for i, t := range out {
		if t != in[i] {
			// A tensor older than this call was taken from a cache.
			e.Casts = append(e.Casts, Cast{Operand: i, ID: int(t.id), From: in[i].dtype, To: t.dtype, Cached: t.id <= before})
		}
	}
	return out
}

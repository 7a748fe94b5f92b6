package live

import "halfnote/interp/engine"

// Defers are the deferred calls of one call of a function. They run one by one
// whatever panics in them, as Go has it: a later panic takes the place of an
// earlier one, and recover ends the one at hand.
type Defers struct {
	r     *Registry
	calls []deferredCall
	panic *engine.Panic
}

type deferredCall struct {
	f      func()
	direct bool
}

// Defers returns an empty list.
func (r *Registry) Defers() *Defers { return &Defers{r: r} }

// Push defers a call.
func (d *Defers) Push(f func()) { d.calls = append(d.calls, deferredCall{f, false}) }

// PushDirect defers a call of nothing but a function that may call recover, which
// finds the list by Called.
func (d *Defers) PushDirect(f func()) { d.calls = append(d.calls, deferredCall{f, true}) }

// Run makes the calls, last in first out, when the function returns or panics with
// value v. It panics if a panic is left.
func (d *Defers) Run(v any) {
	if v != nil {
		d.panic = d.r.Recovered(v)
	}
	for len(d.calls) > 0 {
		last := len(d.calls) - 1
		c := d.calls[last]
		d.calls = d.calls[:last]
		d.call(c)
	}
	if d.panic != nil {
		if d.r.Raise != nil {
			d.r.Raise(d.panic)
		}
		panic(d.panic.Value)
	}
}

func (d *Defers) call(c deferredCall) {
	defer func() {
		if v := recover(); v != nil {
			d.panic = d.r.Recovered(v)
		}
	}()
	if c.direct && d.panic != nil {
		id := ID()
		d.r.expect(id, d)
		defer d.r.expect(id, nil)
	}
	c.f()
}

func (r *Registry) expect(id uint64, d *Defers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d == nil {
		delete(r.direct, id)
		return
	}
	r.direct[id] = d
}

// Called is what functions call first that call recover: it returns the list whose
// call of the function is under way, an empty one if that is none.
func (r *Registry) Called() *Defers {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.direct) > 0 {
		id := ID()
		if d := r.direct[id]; d != nil {
			delete(r.direct, id)
			return d
		}
	}
	return &Defers{r: r}
}

// Recover is the built-in recover, in a function that is called by d. What stops a
// cell cannot be recovered from.
func (d *Defers) Recover() any {
	if d.panic == nil {
		return nil
	}
	v := d.panic.Value
	if _, ok := v.(Interrupted); ok {
		return nil
	}
	d.panic = nil
	if d.r.Words != nil {
		v = d.r.Words(v)
	}
	return v
}

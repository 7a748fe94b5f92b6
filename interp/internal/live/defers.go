package live

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	"halfnote/internal/goid"
	"halfnote/interp/internal/engine"
)

// Defers are the deferred calls of one call of a function. As in Go, they run one by
// one even if some panic: a later panic replaces an earlier one, and recover ends the
// current one.
type Defers struct {
	r     *Registry
	calls []deferredCall
	panic *engine.Panic
}

type deferredCall struct {
	f     func()
	calls int // calls of interpreted functions, the last of which may call recover
}

// Defers returns an empty list.
func (r *Registry) Defers() *Defers { return &Defers{r: r} }

// Push defers a call.
func (d *Defers) Push(f func()) { d.calls = append(d.calls, deferredCall{f, 0}) }

// PushCall defers a call of a function that may call recover; the function finds the list
// with Called. calls is its distance in calls of interpreted functions, where f is the first. Functions between them that
// are not known here call Forward.
func (d *Defers) PushCall(calls int, f func()) { d.calls = append(d.calls, deferredCall{f, calls}) }

// Run makes the calls, last in first out, when the function returns or panics with
// value v. It panics if a panic remains.
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
		d.r.attached.Load().Raise(d.panic)
		panic(d.panic.Value)
	}
}

func (d *Defers) call(c deferredCall) {
	defer func() {
		if v := recover(); v != nil {
			d.panic = d.r.Recovered(v)
		}
	}()
	if c.calls > 0 && d.panic != nil {
		id := goid.Current()
		d.r.expect(id, expected{d, d.r.Depth() + c.calls})
		defer d.r.expect(id, expected{})
	}
	c.f()
}

// Forward is for a function that calls another in its place, over that many calls of interpreted functions: if a list of
// deferred calls waits for the function, it waits for the other.
func (r *Registry) Forward(calls int) { r.forward(0, calls) }

// Through is Forward for code that is not interpreted: the next function calls another in its place.
func (r *Registry) Through() { r.forward(1, 1) }

// forward makes a list of deferred calls that waits for a function, which is that many calls away, wait for one that is further away by calls.
func (r *Registry) forward(away, calls int) {
	if !r.expects() {
		return
	}
	id, depth := goid.Current(), r.Depth()+away
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.expected[id]; e.Defers != nil && e.depth == depth {
		r.expected[id] = expected{e.Defers, depth + calls}
	}
}

// expected is a list of deferred calls that waits for the function it has called, at a
// call depth.
type expected struct {
	*Defers
	depth int
}

// expects reports whether a list of any goroutine is expected.
func (r *Registry) expects() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.expected) > 0
}

// expectedIn returns the list that is expected in a goroutine.
func (r *Registry) expectedIn(id uint64) expected {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.expected[id]
}

func (r *Registry) expect(id uint64, e expected) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Defers == nil {
		delete(r.expected, id)
		return
	}
	r.expected[id] = e
}

// Called returns the list that is calling the function, or an empty list if there is none.
// Functions that call recover call it first.
func (r *Registry) Called() *Defers {
	var e expected
	if r.expects() {
		e = r.expectedIn(goid.Current())
	}
	if e.Defers == nil || r.Depth() != e.depth || !direct() {
		return &Defers{r: r}
	}
	return e.Defers
}

// direct reports whether only the interpreter lies between a list and the function that it calls. Where there is compiled code, such as that of
// sync.OnceFunc, that is what is deferred, and not the function that it calls.
func direct() bool {
	var pcs [256]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "live.(*Defers).call") {
			return true
		}
		if !more || !slices.ContainsFunc(interpreter, func(path string) bool { return strings.HasPrefix(f.Function, path) }) {
			return false
		}
	}
}

// interpreter lists what begins the names of functions that lie between two interpreted ones.
var interpreter = []string{"runtime.", "reflect.", "github.com/traefik/yaegi/", strings.TrimSuffix(reflect.TypeFor[Registry]().PkgPath(), "live")}

// Recover implements the built-in recover in a function that d calls. It does not recover
// from a value that stops a cell.
func (d *Defers) Recover() any {
	if d.panic == nil {
		return nil
	}
	v := d.panic.Value
	if _, ok := v.(interface{ StopsCell() }); ok {
		return nil
	}
	d.panic = nil
	if d.r.Words != nil {
		v = d.r.Words(v)
	}
	return v
}

// Barrier calls f. A panic in f is raised again here, without the stack of f.
func Barrier(f func()) {
	if v := caught(f); v != nil {
		panic(v)
	}
}

func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

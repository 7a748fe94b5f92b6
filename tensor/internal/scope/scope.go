// Package scope holds a value for the duration of a call, per goroutine.
//
// Go has no goroutine-local storage, but each goroutine has a number that is unique in the
// life of the program. A goroutine started inside a scope does not inherit it, just as a
// thread does not inherit torch's autocast state.
package scope

import (
	"sync"
	"sync/atomic"

	"halfnote/internal/goid"
)

var open atomic.Int64 // scopes open on all goroutines; Current returns at once if there are none

// goroutine is a goroutine with scopes. Only that goroutine uses innermost.
type goroutine struct {
	id        uint64
	innermost *Scope
	next      atomic.Pointer[goroutine] // next in the same part
}

// parts holds the goroutines with scopes, by id modulo the number of parts. Every operation
// on a tensor reads them, so reading does not take the lock.
var parts [256]struct {
	sync.Mutex // held for changes
	first      atomic.Pointer[goroutine]
}

// find returns the calling goroutine. If it has no scope, find adds it, or returns nil if add
// is false.
func find(add bool) *goroutine {
	id := goid.Current()
	part := &parts[id%uint64(len(parts))]
	for g := part.first.Load(); g != nil; g = g.next.Load() {
		if g.id == id {
			return g
		}
	}
	if !add {
		return nil
	}
	g := &goroutine{id: id}
	part.Lock()
	defer part.Unlock()
	g.next.Store(part.first.Load())
	part.first.Store(g)
	return g
}

// forget removes g, which has no scope left, from its part.
func (g *goroutine) forget() {
	part := &parts[g.id%uint64(len(parts))]
	part.Lock()
	defer part.Unlock()
	at := &part.first
	for at.Load() != g {
		at = &at.Load().next
	}
	at.Store(g.next.Load())
}

// Scope is an open scope.
type Scope struct {
	value any
	outer *Scope
	of    *goroutine
	ended bool
}

// Do runs body with v as the current value of the calling goroutine. The previous
// value is current again when body returns, panics or ends its goroutine; scopes
// that body has entered and not exited end with it.
func Do(v any, body func()) {
	s := Enter(v)
	defer s.end()
	body()
}

// Enter makes v the current value of the calling goroutine until Exit or until the
// scope around it ends. A goroutine must not end before its scopes.
func Enter(v any) *Scope {
	g := find(true)
	s := &Scope{value: v, of: g, outer: g.innermost}
	g.innermost = s
	open.Add(1)
	return s
}

// Exit ends s and reports whether it did. It does not unless s is the innermost scope of the
// calling goroutine.
func (s *Scope) Exit() bool {
	if s.ended || goid.Current() != s.of.id || s.of.innermost != s {
		return false
	}
	s.pop()
	return true
}

// Ended reports whether s has ended.
func (s *Scope) Ended() bool { return s.ended }

// Close ends all scopes of the calling goroutine, and returns their values, the
// innermost first.
func Close() (values []any) {
	if open.Load() == 0 {
		return nil
	}
	g := find(false)
	for g != nil && g.innermost != nil {
		values = append(values, g.innermost.value)
		g.innermost.pop()
	}
	return values
}

// end ends s and the scopes inside it.
func (s *Scope) end() {
	for !s.ended {
		s.of.innermost.pop()
	}
}

func (s *Scope) pop() {
	s.ended = true
	open.Add(-1)
	if s.of.innermost = s.outer; s.outer == nil {
		s.of.forget()
	}
}

// Current returns the innermost value of the calling goroutine, or nil.
func Current() any {
	if open.Load() == 0 {
		return nil
	}
	if g := find(false); g != nil {
		return g.innermost.value
	}
	return nil
}

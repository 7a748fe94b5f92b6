// Package scope holds a value for the duration of a call, per goroutine.
//
// Go has no goroutine-local storage. A goroutine that has called
// [runtime.LockOSThread], however, has its thread to itself, so while a scope is
// open the thread's id names the goroutine. A goroutine started inside a scope
// does not inherit it, as a thread does not inherit torch's autocast state.
package scope

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var (
	open   atomic.Int64 // scopes open on all goroutines; 0 makes Current free
	values sync.Map     // thread id to innermost *Scope
)

// Scope is an open scope.
type Scope struct {
	value any
	outer *Scope
	id    int // of the thread
	ended bool
}

// Do runs body with v as the current value of the calling goroutine. The value
// before is current again when body returns, panics or ends its goroutine; scopes
// that body has entered and not exited end with it.
func Do(v any, body func()) {
	s := Enter(v)
	defer s.end()
	body()
}

// Enter makes v the current value of the calling goroutine until Exit or until the
// scope around it ends. A goroutine must not end before its scopes.
func Enter(v any) *Scope {
	runtime.LockOSThread()
	s := &Scope{value: v, id: threadID()}
	if outer, nested := values.Load(s.id); nested {
		s.outer = outer.(*Scope)
	}
	values.Store(s.id, s)
	open.Add(1)
	return s
}

// Exit ends s and reports whether it could: it must be the innermost scope of the
// calling goroutine.
func (s *Scope) Exit() bool {
	if s.ended || threadID() != s.id || innermost(s.id) != s {
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
	id := threadID()
	for s := innermost(id); s != nil; s = innermost(id) {
		values = append(values, s.value)
		s.pop()
	}
	return values
}

// end ends s and the scopes inside it.
func (s *Scope) end() {
	for !s.ended {
		innermost(s.id).pop()
	}
}

func (s *Scope) pop() {
	s.ended = true
	open.Add(-1)
	if s.outer != nil {
		values.Store(s.id, s.outer)
	} else {
		values.Delete(s.id)
	}
	runtime.UnlockOSThread()
}

func innermost(id int) *Scope {
	v, _ := values.Load(id)
	s, _ := v.(*Scope)
	return s
}

// Current returns the innermost value of the calling goroutine, or nil.
func Current() any {
	if open.Load() == 0 {
		return nil
	}
	if s := innermost(threadID()); s != nil {
		return s.value
	}
	return nil
}

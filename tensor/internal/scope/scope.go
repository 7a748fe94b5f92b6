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

var open atomic.Int64 // scopes open on all goroutines; 0 makes Current free

// thread is one with scopes. Only the goroutine that has it to itself looks inside.
type thread struct {
	id        int
	innermost *Scope
}

// threads are all of them, by id modulo the number of parts, so that those that look
// themselves up at once seldom wait for each other.
var threads [64]struct {
	mu   sync.Mutex
	byID map[int]*thread
}

// find returns the calling goroutine's thread, nil if it has no scope and none is to be
// made.
func find(make bool) *thread {
	id := threadID()
	part := &threads[uint(id)%uint(len(threads))]
	part.mu.Lock()
	defer part.mu.Unlock()
	t := part.byID[id]
	if t == nil && make {
		if part.byID == nil {
			part.byID = map[int]*thread{}
		}
		t = &thread{id: id}
		part.byID[id] = t
	}
	return t
}

// forget takes t, which has no scope any more, out of the threads.
func (t *thread) forget() {
	part := &threads[uint(t.id)%uint(len(threads))]
	part.mu.Lock()
	defer part.mu.Unlock()
	delete(part.byID, t.id)
}

// Scope is an open scope.
type Scope struct {
	value  any
	outer  *Scope
	thread *thread
	ended  bool
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
	t := find(true)
	s := &Scope{value: v, thread: t, outer: t.innermost}
	t.innermost = s
	open.Add(1)
	return s
}

// Exit ends s and reports whether it could: it must be the innermost scope of the
// calling goroutine.
func (s *Scope) Exit() bool {
	if s.ended || threadID() != s.thread.id || s.thread.innermost != s {
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
	t := find(false)
	for t != nil && t.innermost != nil {
		values = append(values, t.innermost.value)
		t.innermost.pop()
	}
	return values
}

// end ends s and the scopes inside it.
func (s *Scope) end() {
	for !s.ended {
		s.thread.innermost.pop()
	}
}

func (s *Scope) pop() {
	s.ended = true
	open.Add(-1)
	if s.thread.innermost = s.outer; s.outer == nil {
		s.thread.forget()
	}
	runtime.UnlockOSThread()
}

// Current returns the innermost value of the calling goroutine, or nil.
func Current() any {
	if open.Load() == 0 {
		return nil
	}
	if t := find(false); t != nil {
		return t.innermost.value
	}
	return nil
}

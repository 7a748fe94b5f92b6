package support

import (
	"fmt"

	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/live"
)

// NewTypes returns the types of a session's cells at run time. Functions of cells that compiled code calls in its own goroutines run as
// callbacks of the cells.
func NewTypes(l *live.Registry) *dynamic.Space {
	t := dynamic.NewSpace()
	t.Foreign, t.Through = l.Foreign, l.Through
	t.Guard = func(call func()) error { return guarded(l, call) }
	return t
}

// guarded calls a function in a goroutine that compiled code has started, and returns what it panicked with. net/http
// recovers from one value.
func guarded(l *live.Registry, call func()) error {
	aborts := false
	p := l.Guard(func() {
		defer func() {
			if v := recover(); v != nil && v == abort {
				aborts = true
			} else if v != nil {
				panic(v)
			}
		}()
		call()
	})
	switch {
	case aborts:
		panic(abort)
	case p == nil:
		return nil
	}
	return fmt.Errorf("panic: %v", p.Value)
}

package engine

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestFrames checks that frames returns the same calls as the runtime's own trace, through
// reflected calls, functions deferred during panics, goroutines and inlined functions.
func TestFrames(t *testing.T) {
	c := Calls{Runs: func(f string) bool { return strings.HasSuffix(f, ".nested") }}
	check := func(want int) {
		t.Helper()
		if got := c.Depth(); got != want {
			t.Errorf("got %d calls, want %d", got, want)
		}
		all := make([]uintptr, 10000)
		var names []string
		frames := runtime.CallersFrames(all[:runtime.Callers(1, all)])
		for f, more := frames.Next(); ; f, more = frames.Next() {
			if c.Runs(f.Function) {
				names = append(names, f.Function)
			}
			if !more {
				break
			}
		}
		if len(names) != want {
			t.Errorf("got %d frames from the runtime, want %d", len(names), want)
		}
	}
	check(0)
	for _, n := range []int{1, 2, 5, 300, 1500} {
		nested(n, func() { check(n) })
		check(0)
		nested(n, func() {
			func() {
				defer func() {
					recover()
					check(n)
				}()
				defer func() { nested(2, func() { check(n + 2) }) }()
				panic("some")
			}()
			check(n)
		})
		done := make(chan bool)
		go nested(n, func() {
			defer close(done)
			check(n)
		})
		<-done
	}
}

//go:noinline
func nested(n int, f func()) {
	if n == 1 {
		inlined(f)
		return
	}
	if n%2 == 0 {
		reflect.ValueOf(nested).Call([]reflect.Value{reflect.ValueOf(n - 1), reflect.ValueOf(f)})
	} else {
		between(n-1, f)
	}
}

func inlined(f func()) { f() }

func between(n int, f func()) { nested(n, f) }

func BenchmarkDepth(b *testing.B) {
	c := Calls{Runs: func(f string) bool { return strings.HasSuffix(f, ".nested") }}
	nested(50, func() {
		for b.Loop() {
			c.Depth()
		}
	})
}

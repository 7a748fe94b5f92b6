//go:build unix

package interp

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"halfnote/internal/testenv"
)

// deep declares functions that panic at a depth of calls, and functions that recover.
const deep = `import "sync"
func down(n int) int { if n == 0 { panic("bottom") }; return down(n-1) + 1 }
type T struct{ a int }
func (t T) Ping(n int) int { if n == 0 { panic("bottom") }; return t.Pong(n-1) + 1 }
func (t T) Pong(n int) int { if n == 0 { panic("bottom") }; return t.Ping(n-1) + 1 }
var done int
func deferring(n int) { defer func() { done++ }(); if n == 0 { panic("bottom") }; deferring(n-1) }
func again(n int) { defer func() { if r := recover(); r != nil { panic(r) } }(); if n == 0 { panic("bottom") }; again(n-1) }
func replacing(n int) { defer func() { panic("bottom") }(); if n == 0 { panic("top") }; replacing(n-1) }
var mu sync.RWMutex
func locking(n int) { mu.RLock(); defer mu.RUnlock(); if n == 0 { panic("bottom") }; locking(n-1) }
var literal func(int)
literal = func(n int) { if n == 0 { panic("bottom") }; literal(n-1) }
type walker interface{ walk(n int) }
type node struct{ next walker }
func (x *node) walk(n int) { if n == 0 { panic("bottom") }; x.next.walk(n-1) }
ring := &node{}
ring.next = ring
func sorting(n int) { if n == 0 { panic("bottom") }; sort.Slice([]int{1, 2}, func(i, j int) bool { sorting(n-1); return false }) }
func caught(f func()) (r any) { defer func() { r = recover() }(); f(); return nil }`

// deepCalls lists calls that panic n calls deep, where n replaces %d.
var deepCalls = []string{
	"down(%d)", "T{}.Ping(%d)", "deferring(%d)", "again(%d)", "replacing(%d)", "locking(%d)",
	"literal(%d)", "ring.walk(%d)", "sorting(%d)",
}

// raisesAgain are the calls of which each level panics again.
var raisesAgain = map[string]bool{"again(%d)": true, "replacing(%d)": true}

// shareOf returns the calls that a run includes: one in three by default.
func shareOf(t *testing.T, calls []string) (share []string) {
	n := testenv.Share(t, 6)
	for i := 0; i < len(calls); i += n {
		share = append(share, calls[i])
	}
	return share
}

// TestUnwindingGrowth checks that the work of a panic is linear in the number of calls that
// it unwinds, and not quadratic, even if there are other goroutines. These wait, because
// the test measures the processor time of the whole process. Compiled cells unwind as every Go program
// does: calls that raise a panic again at each level, on top of the calls before, take quadratic time.
func TestUnwindingGrowth(t *testing.T) {
	for _, engine := range tested(t) {
		t.Run(engine, func(t *testing.T) {
			s := newSessionOn(t, engine)
			evalAll(t, s, deep, "wait := make(chan int)\ngo func() { <-wait }()")
			for _, call := range shareOf(t, deepCalls) {
				if engine != Compiled || !raisesAgain[call] {
					unwindingGrows(t, s, call)
				}
			}
		})
	}
}

// unwindingGrows compares the least work of panics 300 and 2400 calls deep: linear
// growth is by a factor of 8, quadratic growth by 64.
func unwindingGrows(t *testing.T, s *Session, call string) {
	t.Helper()
	const few, many, limit = 300, 8 * 300, 28
	best := map[int]float64{few: math.Inf(1), many: math.Inf(1)}
	for range 20 { // other work of the process, such as a garbage collection, may disturb several
		for n := range best {
			start := processorTime(t)
			code := "caught(func() { " + fmt.Sprintf(call, n) + " })"
			if got := evalFor(t, s, 10, code, ""); got != "= bottom\n" {
				t.Errorf("%s: got %s", code, got)
				return
			}
			best[n] = min(best[n], processorTime(t)-start)
		}
		if best[many] < limit*best[few] {
			t.Logf("%-14s %d deep %.0f ms, %d deep %.0f ms", call, few, 1e3*best[few], many, 1e3*best[many])
			return
		}
	}
	t.Errorf("%s: %d calls deep takes %.1f times as long as %d (%.0f ms), want less than %d times",
		call, many, best[many]/best[few], few, 1e3*best[few], limit)
}

// processorTime returns the processor time of the process in seconds.
func processorTime(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// TestUnwindingWithBusyGoroutine checks that deep panics and runaway recursion end
// while another goroutine runs without a pause, and that an interrupted cell ends while
// panics unwind.
func TestUnwindingWithBusyGoroutine(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(procs, " processors"), func(t *testing.T) {
			if procs != 2 {
				testenv.Long(t)
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			s := newSession(t)
			evalAll(t, s, deep, "go func() { for {} }()")
			caughtCalls, endless := shareOf(t, deepCalls), shareOf(t, []string{"T{}.Ping(%d)", "down(%d)", "deferring(%d)", "locking(%d)", "ring.walk(%d)"})
			if procs == 1 { // every change of goroutine waits 10 ms for the busy one
				caughtCalls, endless = caughtCalls[:1], endless[:1]
			}
			for _, call := range caughtCalls {
				code := "caught(func() { " + fmt.Sprintf(call, 500) + " })"
				if got := evalFor(t, s, 10, code, ""); got != "= bottom\n" {
					t.Errorf("%s: got %s", code, got)
				}
			}
			for _, call := range endless {
				code := fmt.Sprintf(call, 1<<40)
				if got := evalFor(t, s, 20, code, ""); !strings.Contains(got, "calls nest more than 10000 deep") {
					t.Errorf("%s: got %s, want the error of a runaway recursion", code, got)
				}
			}
			got := evalFor(t, s, 30, "for { caught(func() { T{}.Ping(1000) }) }", "200ms")
			if !strings.HasPrefix(got, "Interrupted") || strings.Contains(got, "left behind") {
				t.Errorf("an interrupt while panics unwind: got %s", got)
			}
			if got := evalFor(t, s, 31, "caught(func() { down(10) })", ""); got != "= bottom\n" {
				t.Errorf("afterwards: got %s", got)
			}
		})
	}
}

// TestUnwindingRunsDeferredCalls checks that a panic runs every deferred call that it
// passes, including those of compiled functions, and that a later panic replaces an earlier
// one.
func TestUnwindingRunsDeferredCalls(t *testing.T) {
	s := newSession(t)
	evalAll(t, s, deep)
	for _, c := range []struct{ code, want string }{
		{"caught(func() { deferring(99) }); done", "= 100\n"},
		{"caught(func() { locking(99) }); mu.TryLock()", "= true\n"},
		{`caught(func() { replacing(99) })`, "= bottom\n"},
		{`func named() (n int) { defer func() { recover(); n++ }(); n = 6; deferring(3); return 1 }` + "\nnamed()", "= 7\n"},
		{`func never() { defer func() { done = 0 }(); panic("always") }` + "\ncaught(never)", "= always\n"},
		{"done", "= 0\n"},
	} {
		if got := evalFor(t, s, 2, c.code, ""); got != c.want {
			t.Errorf("%s: got %s, want %s", c.code, got, c.want)
		}
	}
}

// evalAll runs cells and fails the test if one has output.
func evalAll(t testing.TB, s *Session, cells ...string) {
	t.Helper()
	for i, code := range cells {
		if got := evalFor(t, s, i+1, code, ""); got != "" {
			t.Fatal(got)
		}
	}
}

package live

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"halfnote/internal/goid"
	"halfnote/internal/text"
	"halfnote/interp/internal/engine"
)

// stride is the number of function entries between two calls of Call. looks is the number of
// calls of Call between two checks of the depth, which take longer.
const stride, looks = 100, 10

// Interrupted is the value of the panic that unwinds a stopped goroutine.
type Interrupted struct{}

func (Interrupted) Error() string { return "interrupted" }

// StopsCell keeps recover from stopping the panic.
func (Interrupted) StopsCell() {}

// Goexit is the value of the panic that implements runtime.Goexit in a cell.
type Goexit struct{}

func (Goexit) Error() string { return "runtime.Goexit ended the cell" }

// TooDeep is the value of the panic of endless recursion.
type TooDeep struct{ Limit int }

func (t TooDeep) Error() string {
	return fmt.Sprintf("calls nest more than %d deep: endless recursion?", t.Limit)
}

// RuntimeError makes TooDeep a runtime.Error, as Go's own error would be if a program could
// recover from it.
func (TooDeep) RuntimeError() {}

// Overflow is the value of the panic of a goroutine whose stack is full, as by compiled code that recurses over a value.
type Overflow struct{ Limit int }

func (o Overflow) Error() string {
	return fmt.Sprintf("stack overflow: the calls of a goroutine need more than %s: a value nested too deep, or endless recursion?", text.Bytes(int64(o.Limit)))
}

// RuntimeError makes Overflow a runtime.Error.
func (Overflow) RuntimeError() {}

// Poll ends the calling goroutine if it has been told to stop. Deferred functions then run undisturbed. If code has recovered the panic, as fmt does
// for a String method, the goroutine continues, and Poll ends it again.
func (r *Registry) Poll() {
	if held := r.holding.Load(); held != nil {
		<-*held
	}
	if !r.Current().root().stopped.Load() {
		return
	}
	if !r.unwinds(goid.Current()) || !panicking() {
		panic(Interrupted{})
	}
}

// unwinds records that a goroutine ends, and reports whether it did so already.
func (r *Registry) unwinds(id uint64) (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	again = r.unwinding[id]
	r.unwinding[id] = true
	return again
}

// PollOften is Poll for places that are reached often, such as loops, with the mark of the place. Where it takes long to identify the calling goroutine, it
// does so only once in a while, and may return although the goroutine has been told to stop.
func (r *Registry) PollOften(mark int) {
	r.yield()
	if goid.Fast() || r.others.Load() == 0 || r.spaced.due() {
		r.answer(mark)
		r.Poll()
	}
}

// spaced spaces the polls of each goroutine, by the time of its last one. Goroutines are told apart by the addresses of their
// stacks: one that polls every second must not wait for one that polls every microsecond, as it would with
// one time, or one count of polls, for all. That two of them share an entry is rare, and then only delays an interrupt.
type spaced [1024]atomic.Int64

// pollEvery is much longer than runtime.Stack takes, and much shorter than the time in which a user expects an interrupt.
const pollEvery = time.Millisecond

// due reports whether the calling goroutine should poll.
func (s *spaced) due() bool {
	const smallest = 2048 // bytes of a stack
	var here byte
	last := &s[uintptr(unsafe.Pointer(&here))/smallest%uintptr(len(s))]
	now := int64(time.Since(epoch))
	if before := last.Load(); before != 0 && now-before < int64(pollEvery) {
		return false
	}
	last.Store(now)
	return true
}

var epoch = time.Now()

// panicking reports whether a deferred function that runs because of a panic calls the
// caller.
func panicking() bool {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(0, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 4*n)
		n = runtime.Callers(0, pcs)
	}
	for frames, more := runtime.CallersFrames(pcs[:n]), n > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "runtime.gopanic" {
			return true
		}
	}
	return false
}

// Call ends calls that nest too deep. Functions call it at every stride-th entry, with the counter of
// entries; mark is the function's position. Call halts the engine if that affects no other goroutine, and panics
// otherwise.
func (r *Registry) Call(counter *int32, mark int) {
	atomic.StoreInt32(counter, stride)
	r.yield()
	if atomic.LoadUint32(&r.flag) != 0 {
		r.answer(mark)
		r.Poll()
	}
	if r.looks.Add(1)%looks != 0 || !r.attached.Load().calls.Deeper(r.limit+r.limit/10) { // barriers take part of it
		return
	}
	if r.others.Load() == 0 && r.runs(goid.Current()) {
		if resume, ok := r.halt(); ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.resume, r.halted, r.deepest = resume, r.current.Load(), mark
			return
		}
	}
	panic(TooDeep{r.limit})
}

// runs reports whether a goroutine is the one that runs the running cell.
func (r *Registry) runs(id uint64) bool { return r.cell(id) == r.current.Load() }

// Flag returns the variable that loops test.
func (r *Registry) Flag() *uint32 { return &r.flag }

// Calls returns the counter of function entries of code that has only one.
func (r *Registry) Calls() *int32 { return &r.calls }

// Counters returns the counters of function entries of code that has several, each in a separate cache line.
func (r *Registry) Counters() *[engine.Counters][16]int32 { return r.counters }

// hurry makes the next entries of functions call Call.
func (r *Registry) hurry() {
	atomic.StoreInt32(&r.calls, -1)
	for i := range r.counters {
		atomic.StoreInt32(&r.counters[i][0], -1)
	}
}

// Descend counts a function entry, and reports whether to call Call.
func (r *Registry) Descend() bool { return atomic.AddInt32(&r.calls, -1) < 0 }

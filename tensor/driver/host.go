package driver

import (
	"sync"
	"sync/atomic"
)

// Host holds the functions that the program around the tensor library provides, such as a kernel
// that runs a user's cells. Each may be nil. They may be called on any goroutine.
type Host struct {
	// Poll is called through [Poll] every few milliseconds while a kernel runs, on the goroutine that
	// called Run, so it may access that goroutine's state. It may panic to abandon the kernel: Run
	// then waits until no worker uses the operands, leaves dst partly written, and the panic
	// propagates.
	Poll func()
	// Source returns the line of the user's program that the calling goroutine runs, for example
	// "In[3], line 5", or "" if unknown.
	Source func() string
	// Tracing is called when the first user of [Source] registers and when the last one leaves, so
	// that a program tracks its lines only while they are needed. [SetHost] calls it with the current state.
	Tracing func(on bool)
}

var host atomic.Pointer[Host]

// tracers counts the users of [Source].
var tracers struct {
	sync.Mutex
	n int
}

// SetHost replaces the host and returns the previous one. The zero Host, the default, does nothing.
func SetHost(h Host) (old Host) {
	tracers.Lock()
	defer tracers.Unlock()
	if p := host.Swap(&h); p != nil {
		old = *p
	}
	if h.Tracing != nil {
		h.Tracing(tracers.n > 0)
	}
	return old
}

// Poll calls the host's Poll.
func Poll() {
	if h := host.Load(); h != nil && h.Poll != nil {
		h.Poll()
	}
}

// Source returns the host's Source, or "".
func Source() string {
	if h := host.Load(); h != nil && h.Source != nil {
		return h.Source()
	}
	return ""
}

// SetTracing registers a user of [Source], or removes one if on is false.
func SetTracing(on bool) {
	tracers.Lock()
	defer tracers.Unlock()
	before := tracers.n > 0
	if tracers.n--; on {
		tracers.n += 2
	}
	if h := host.Load(); h != nil && h.Tracing != nil {
		if now := tracers.n > 0; now != before {
			h.Tracing(now)
		}
	}
}

package driver

import "sync/atomic"

// Graph is work of one device that was noted once, to be done again and again with the
// memory and the numbers of then. It is safe for use by several goroutines at once.
type Graph interface {
	// Replay enqueues the work. It panics if the graph has been freed.
	Replay()
	// Free gives up the graph. Tensors that the noted function made stay valid. Freeing twice
	// does nothing.
	Free()
}

// Capturer is implemented by backends that can note what a function asks of them, without
// doing it.
type Capturer interface {
	// Capture calls step and returns what it enqueued, all on the calling goroutine; other
	// goroutines wait meanwhile for their turn with the device. The error says what step
	// did that cannot be noted. If step panics otherwise the panic goes on.
	Capture(step func()) (Graph, error)
}

// capture is the one that is under way: see [SetCapture].
type capture struct {
	mine   func() bool
	refuse func(why error)
	since  uint64
}

var (
	captured atomic.Pointer[capture]
	clock    atomic.Pointer[func() uint64]
)

// SetCapture says that a capture begins, of which there is one at a time: mine reports
// whether the calling goroutine's work is noted, refuse has it fail. nil says that it has
// ended.
func SetCapture(mine func() bool, refuse func(why error)) {
	if mine == nil {
		captured.Store(nil)
		return
	}
	c := &capture{mine: mine, refuse: refuse}
	if f := clock.Load(); f != nil {
		c.since = (*f)()
	}
	captured.Store(c)
}

// Capturing reports whether the calling goroutine's work is noted for a graph, and the time
// of [SetClock] when that began: values that were there before may be others at a replay.
func Capturing() (since uint64, on bool) {
	c := captured.Load()
	if c == nil || !c.mine() {
		return 0, false
	}
	return c.since, true
}

// RefuseCapture has the calling goroutine's capture fail with an error, which the caller
// panics with.
func RefuseCapture(why error) {
	if c := captured.Load(); c != nil && c.mine() {
		c.refuse(why)
	}
}

// SetClock sets what counts time for [Capturing]: the number of the last thing that was
// made.
func SetClock(f func() uint64) { clock.Store(&f) }

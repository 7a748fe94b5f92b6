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

// Recorder is a capture that is under way.
type Recorder interface {
	// Mine reports whether the calling goroutine's work is noted.
	Mine() bool
	// Refuse has the capture fail with an error, which the caller panics with.
	Refuse(why error)
	// OnReplay has f called before each replay, on the goroutine that calls it. A panic of f
	// keeps it from being done.
	OnReplay(f func())
	// Alloc returns memory that no other work of the graph uses, as it does that of buffers
	// which were let go of, so that it keeps from replay to replay what it holds. Its bytes may
	// be anything.
	Alloc(n int) (Buffer, error)
	// Preset writes p to a buffer, from off on, when the capture is over: what replays begin
	// with and change.
	Preset(b Buffer, off int, p []byte)
}

// recording is the capture that is under way, and when it began.
type recording struct {
	Recorder
	since uint64
}

var (
	recorded atomic.Pointer[recording]
	clock    atomic.Pointer[func() uint64]
)

// SetRecorder says that a capture begins, of which there is one at a time. nil says that it
// has ended.
func SetRecorder(r Recorder) {
	if r == nil {
		recorded.Store(nil)
		return
	}
	now := &recording{Recorder: r}
	if f := clock.Load(); f != nil {
		now.since = (*f)()
	}
	recorded.Store(now)
}

// Recording returns the capture that notes the calling goroutine's work, and the time of
// [SetClock] when that began, nil if there is none. Values that were there before may be
// others at a replay.
func Recording() (r Recorder, since uint64) {
	now := recorded.Load()
	if now == nil || !now.Mine() {
		return nil, 0
	}
	return now.Recorder, now.since
}

var replays atomic.Uint64

// CountReplay says that memory is about to change by a Replay of a graph, which no count of
// changes in place tells of.
func CountReplay() { replays.Add(1) }

// Replays returns how many there have been.
func Replays() uint64 { return replays.Load() }

// SetClock sets what counts time for [Recording]: the number of the last thing that was
// made.
func SetClock(f func() uint64) { clock.Store(&f) }

package driver

import "sync/atomic"

// Graph is recorded work of one device, replayed with the memory and the scalars of the
// capture. It is safe for use by several goroutines at once.
type Graph interface {
	// Replay enqueues the work. It panics if the graph has been freed.
	Replay()
	// Free releases the graph. Tensors that the recorded function made stay valid. Freeing
	// twice does nothing.
	Free()
}

// Capturer is implemented by backends that can record the work of a function without running it.
type Capturer interface {
	// Capture calls step and returns the work it enqueued, all on the calling goroutine;
	// other goroutines wait for the device meanwhile. The error names the operation of step
	// that cannot be captured. Any other panic of step propagates.
	Capture(step func()) (Graph, error)
}

// Recorder is a capture in progress.
type Recorder interface {
	// Mine reports whether the work of the calling goroutine is being captured.
	Mine() bool
	// Refuse makes the capture fail with an error, with which the caller panics.
	Refuse(why error)
	// OnReplay registers f to be called before each replay, on the replaying goroutine. A
	// panic of f prevents the replay.
	OnReplay(f func())
	// Alloc returns memory whose contents persist from replay to replay: unlike a released
	// buffer's, no other work of the graph uses it. Its initial bytes are undefined.
	Alloc(n int) (Buffer, error)
	// Preset writes p to a buffer at off when the capture ends: the initial values that
	// replays then change.
	Preset(b Buffer, off int, p []byte)
}

// recording is the capture in progress and the time it began.
type recording struct {
	Recorder
	since uint64
}

var (
	recorded atomic.Pointer[recording]
	clock    atomic.Pointer[func() uint64]
)

// SetRecorder announces the start of a capture, or its end if r is nil. There is at most one capture at a
// time.
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

// Recording returns the capture of the calling goroutine's work and the [SetClock] time at
// which it began, or nil. Values from before that time may differ at a replay.
func Recording() (r Recorder, since uint64) {
	now := recorded.Load()
	if now == nil || !now.Mine() {
		return nil, 0
	}
	return now.Recorder, now.since
}

var replays atomic.Uint64

// CountReplay announces that a Replay is about to change memory. Counts of in-place changes do not include
// the changes of a replay.
func CountReplay() { replays.Add(1) }

// Replays returns the number of replays so far.
func Replays() uint64 { return replays.Load() }

// SetClock sets the clock of [Recording], which returns the number of the object made last.
func SetClock(f func() uint64) { clock.Store(&f) }

package tensor

import (
	"fmt"

	"halfnote/tensor/driver"
)

// What a graph of a GPU's work takes heed of: it is noted once and done again, when memory
// holds other values, and the CPU takes no part in it. See driver.Capturer.

func init() { driver.SetClock(ids.Load) }

// Capturing reports whether a graph of a GPU's work is being captured by this goroutine: what
// it computes there is noted, not done. It is torch.cuda.is_current_stream_capturing.
func Capturing() bool {
	_, on := driver.Capturing()
	return on
}

// NotInGraph panics if a graph is being captured by this goroutine, whose Capture returns it
// as an error: op cannot be part of it. why says what is wrong and
// what was expected.
func NotInGraph(op, why string) {
	if Capturing() {
		e := &Error{Op: op, Why: "a graph is being captured: " + why}
		driver.RefuseCapture(e)
		panic(e)
	}
}

// replayed reports whether t's values may be others when what this goroutine does now is
// done again: a graph is being captured, and t is older.
func (t *Tensor) replayed() bool {
	since, on := driver.Capturing()
	return on && t.mem.id <= since
}

// sameInReplays panics if values of t, which is on the CPU, would be those of today at every
// replay.
func (t *Tensor) sameInReplays(op string) {
	if t.replayed() {
		NotInGraph(op, fmt.Sprintf("a tensor of shape %s is on the CPU, of which each replay would take the values of now; expected one on the GPU that is there before, into which Assign puts new values before a Replay", shapeString(t.shape)))
	}
}

// drawing panics if numbers that op draws on the CPU would be the same in every replay.
func drawing(op string) {
	NotInGraph(op, "its numbers are drawn on the CPU, and each replay would take the same; expected them to be drawn before a Replay and put into a tensor of the GPU with Assign, or Dropout, which draws anew in each")
}

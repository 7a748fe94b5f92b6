package interp

import "sync/atomic"

// Poll ends the calling goroutine, by a panic, if its cell has been told to stop.
// Long-running compiled code should call it every few milliseconds; it costs one load.
func (s *Session) Poll() {
	if atomic.LoadUint32(s.live.Flag()) != 0 {
		s.live.PollOften(0)
	}
}

// CaptureProcessOutput directs the output of compiled code to os.Stdout and os.Stderr
// to the running cell, before it ends, and that of packages log and log/slog to the
// cell that logs, until restore is called. It changes variables of the process, so it
// serves only one session: a kernel's.
func CaptureProcessOutput(s *Session) (restore func(), err error) { return s.stdio.Capture() }

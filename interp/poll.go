package interp

import "sync/atomic"

// Poll ends the calling goroutine, by a panic, if its cell has been told to stop.
// Long-running compiled code should call it every few milliseconds; it costs one load.
func (s *Session) Poll() {
	if atomic.LoadUint32(s.live.Flag()) != 0 {
		s.live.Poll()
	}
}

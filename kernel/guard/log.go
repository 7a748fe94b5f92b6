package guard

import (
	"sync"
	"time"
)

// lines prints up to perSpan lines in each span and counts the rest, so that a flood of
// peers does not flood the log.
type lines struct {
	print func(format string, args ...any)

	mu      sync.Mutex
	since   time.Time // start of the current span
	printed int
	omitted int
}

const (
	perSpan = 10
	span    = 10 * time.Second
)

func (l *lines) printf(format string, args ...any) {
	if l.print == nil {
		return
	}
	l.mu.Lock()
	omitted := 0
	if now := time.Now(); now.Sub(l.since) > span {
		omitted, l.since, l.printed, l.omitted = l.omitted, now, 0, 0
	}
	show := l.printed < perSpan
	if show {
		l.printed++
	} else {
		l.omitted++
	}
	l.mu.Unlock()
	if omitted > 0 {
		l.print("guard: %d lines omitted", omitted)
	}
	if show {
		l.print(format, args...)
	}
}

package kernel

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// logger writes lines, at most maxLines a second: whoever floods a socket with
// rubbish must not flood the log as well.
type logger struct {
	mu      sync.Mutex
	w       io.Writer
	second  time.Time
	lines   int
	dropped int
}

const maxLines = 20

func newLogger(w io.Writer) *logger {
	if w == nil {
		w = io.Discard
	}
	return &logger{w: w}
}

// Write logs one line; it is what zmq4's own logger writes to.
func (l *logger) Write(p []byte) (int, error) {
	l.Printf("%s", bytes.TrimSpace(p))
	return len(p), nil
}

// Printf logs one line.
func (l *logger) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.second) >= time.Second {
		if l.dropped > 0 {
			fmt.Fprintf(l.w, "kernel: %d more lines\n", l.dropped)
		}
		l.second, l.lines, l.dropped = now, 0, 0
	}
	if l.lines++; l.lines > maxLines {
		l.dropped++
		return
	}
	fmt.Fprintf(l.w, "kernel: "+format+"\n", args...)
}

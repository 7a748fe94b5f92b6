package kernel

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// logger writes at most maxLines lines a second: a client that floods a socket with
// invalid messages must not flood the log as well.
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

// Write logs one line; zmq4's own logger calls it.
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
			fmt.Fprintf(l.w, "kernel: %d lines omitted\n", l.dropped)
		}
		l.second, l.lines, l.dropped = now, 0, 0
	}
	if l.lines++; l.lines > maxLines {
		l.dropped++
		return
	}
	fmt.Fprintf(l.w, "kernel: "+format+"\n", args...)
}

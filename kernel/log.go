package kernel

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Log writes at most maxLines lines a second: a client that floods a socket with
// invalid messages must not flood the log as well.
type Log struct {
	mu      sync.Mutex
	w       io.Writer
	second  time.Time
	lines   int
	dropped int
}

const maxLines = 20

// NewLog returns a log that writes to w; nil discards the lines.
func NewLog(w io.Writer) *Log {
	if w == nil {
		w = io.Discard
	}
	return &Log{w: w}
}

// Write logs one line; the loggers of other packages call it.
func (l *Log) Write(p []byte) (int, error) {
	l.Printf("%s", bytes.TrimSpace(p))
	return len(p), nil
}

// Printf logs one line.
func (l *Log) Printf(format string, args ...any) {
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

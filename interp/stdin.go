package interp

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"halfnote/interp/internal/live"
	"halfnote/kernel"
)

// stdin is standard input: the lines that the reader of the running cell answers.
type stdin struct {
	live *live.Registry
	turn chan struct{} // held by who reads

	mu   sync.Mutex
	of   *live.Cell // which rest is of
	rest []byte     // of the last answer, not read yet
	shut *live.Cell // which has been told that there are no answers
}

func newStdin(l *live.Registry) *stdin { return &stdin{live: l, turn: make(chan struct{}, 1)} }

// endOfInput is the answer that ends the input, the character that Ctrl-D gives:
// jupyter console sends it then.
const endOfInput = "\x04"

// read is Read for a cell, as that of a terminal: it returns no more than a line. The
// question is what the cell has printed since its last line. Where nobody can be
// asked the input is at its end, and the cell says so.
func (s *stdin) read(c *live.Cell, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-c.Ctx.Done():
		return 0, s.over(c, c.Ctx.Err())
	}
	defer func() { <-s.turn }()
	if n := s.take(c, p); n > 0 {
		return n, nil
	}
	in, ok := c.Out.(kernel.Inputter)
	if !ok {
		return 0, s.over(c, errors.New("there is no front end"))
	}
	line, err := in.Input(c.Ctx, c.TakeLine(), false)
	if err != nil {
		return 0, s.over(c, err)
	}
	if line == endOfInput {
		return 0, io.EOF
	}
	s.mu.Lock()
	s.of, s.rest = c, []byte(line+"\n")
	s.mu.Unlock()
	return s.take(c, p), nil
}

// take returns what is left of the cell's last answer.
func (s *stdin) take(c *live.Cell, p []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of != c {
		s.of, s.rest = nil, nil
		return 0
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n
}

// over is the end of the input of a cell that cannot ask: because it is told to
// stop, which ends its goroutine here, or because there is nobody to ask, which it
// says once.
func (s *stdin) over(c *live.Cell, why error) error {
	if c.Ctx.Err() != nil {
		s.live.Poll()
		why = errors.New("the cell has ended")
	}
	s.mu.Lock()
	told := s.shut == c
	s.shut = c
	s.mu.Unlock()
	if !told {
		fmt.Fprintf(c.Stderr(), "note: standard input is at its end: %v\n", why)
	}
	return io.EOF
}

package stdio

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"halfnote/interp/internal/live"
	"halfnote/kernel/eval"
)

// stdin is standard input: the lines that the running cell's front end sends.
type stdin struct {
	live *live.Registry
	turn chan struct{} // held by the reader

	mu   sync.Mutex
	of   *live.Cell // cell that owns rest
	rest []byte     // unread part of the last answer
	shut *live.Cell // cell that has been told that there is no input
}

func newStdin(l *live.Registry) *stdin { return &stdin{live: l, turn: make(chan struct{}, 1)} }

// endOfInput is the answer that ends the input: the character of Ctrl-D, which jupyter
// console sends.
const endOfInput = "\x04"

// ErrNoFrontEnd reports that nothing can answer a prompt.
var ErrNoFrontEnd = errors.New("there is no front end")

// read implements Read for a cell. Like a terminal, it returns at most one line. The prompt
// is the cell's output since its last line. Without a front end, the input is at its end,
// and a note says so.
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
	in, ok := c.Out.(eval.Inputter)
	if !ok {
		return 0, s.over(c, ErrNoFrontEnd)
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

// take returns the rest of the cell's last answer.
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

// over ends the input of a cell that cannot ask. If the cell has been told to stop, its
// goroutine ends here; if there is no front end, a note says so once.
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

package live

import (
	"bytes"
	"io"
	"sync"
)

// Stdout and Stderr return the streams of the calling cell.
func (r *Registry) Stdout() io.Writer { return stream{r, (*Cell).Stdout} }

func (r *Registry) Stderr() io.Writer { return stream{r, (*Cell).Stderr} }

type stream struct {
	r  *Registry
	of func(*Cell) io.Writer
}

func (s stream) Write(p []byte) (int, error) {
	if s.r.Before != nil {
		s.r.Before()
	}
	return s.of(s.r.Current()).Write(p)
}

// Stdout returns the cell's standard output.
func (c *Cell) Stdout() io.Writer { return lined{c} }

// Stderr returns the cell's standard error.
func (c *Cell) Stderr() io.Writer { return c.Out.Stderr() }

// lined is a cell's standard output. It keeps the unfinished line.
type lined struct{ c *Cell }

func (l lined) Write(p []byte) (int, error) {
	l.c.line.add(p)
	return l.c.Out.Stdout().Write(p)
}

// TakeLine returns the cell's output since the last end of a line, which is probably a
// prompt, and forgets it.
func (c *Cell) TakeLine() string { return c.line.take() }

// lastLine is the output since the last end of a line.
type lastLine struct {
	mu   sync.Mutex
	text []byte
}

// maxLine is the number of bytes kept from the end of a line.
const maxLine = 1000

func (l *lastLine) add(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := bytes.LastIndexAny(p, "\r\n"); i >= 0 {
		l.text, p = l.text[:0], p[i+1:]
	}
	l.text = append(l.text, p...)
	if n := len(l.text) - maxLine; n > 0 {
		l.text = append(l.text[:0], l.text[n:]...)
	}
}

func (l *lastLine) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := string(bytes.ToValidUTF8(l.text, nil))
	l.text = l.text[:0]
	return text
}

package interp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"

	"halfnote/interp/internal/live"
)

// stdio stands for os.Stdout and os.Stderr in cells. They must be files, so each
// is a pipe whose other end is copied to the cell. Nothing is opened before a cell
// mentions one of them.
type stdio struct {
	live *live.Registry

	mu    sync.Mutex
	pipes [2]*pipe // stdout, stderr
}

func newStdio(l *live.Registry) *stdio { return &stdio{live: l} }

// variable returns the stand-in for os.Stdout or os.Stderr, addressable, and an
// invalid value for any other variable. From the first time that a cell mentions
// one, what it writes to the files and what it prints keep their order.
func (s *stdio) variable(path, name string) reflect.Value {
	i := map[string]int{"os.Stdout": 0, "os.Stderr": 1}
	n, ok := i[path+"."+name]
	if !ok {
		return reflect.Value{}
	}
	p := s.open(n)
	if p == nil {
		return reflect.Value{}
	}
	s.live.Before = s.flush
	return reflect.ValueOf(&p.file).Elem()
}

// open returns the pipe of os.Stdout, 0, or os.Stderr, 1, nil if there can be none.
func (s *stdio) open(n int) *pipe {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipes[n] == nil {
		of := func() io.Writer { return s.live.Current().Out.Stdout() }
		if n == 1 {
			of = func() io.Writer { return s.live.Current().Out.Stderr() }
		}
		p, err := newPipe(of)
		if err != nil {
			return nil
		}
		s.pipes[n] = p
	}
	return s.pipes[n]
}

// flush waits until what was written to the files has reached the cell, so that it
// comes before what is written to the cell directly.
func (s *stdio) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pipes {
		if p != nil {
			p.flush()
		}
	}
}

func (s *stdio) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.pipes {
		if p != nil {
			p.w.Close()
			s.pipes[i] = nil
		}
	}
	s.live.Before = nil
}

// pipe copies what is written to a file to wherever to says at that time.
type pipe struct {
	file  *os.File // what cells write to; they may replace it
	w     *os.File
	count int
	seen  chan int // numbers of the marks that have come out
}

// mark is what flush writes: bytes that no text contains.
var flushMark = []byte("\x00\xff\x00halfnote flush\x00\xff\x00")

func newPipe(to func() io.Writer) (*pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("interp: no pipe for a cell's standard output: %w", err)
	}
	p := &pipe{file: w, w: w, seen: make(chan int, 1)}
	go p.copy(r, to)
	return p, nil
}

func (p *pipe) copy(r *os.File, to func() io.Writer) {
	defer close(p.seen)
	defer r.Close()
	var pending []byte
	buf := make([]byte, 32<<10)
	marks := 0
	for {
		n, err := r.Read(buf)
		pending = append(pending, buf[:n]...)
		for {
			i := bytes.Index(pending, flushMark)
			if i < 0 {
				break
			}
			to().Write(pending[:i])
			pending = pending[i+len(flushMark):]
			marks++
			p.seen <- marks
		}
		keep := 0 // the end may be the start of a mark
		for k := min(len(flushMark)-1, len(pending)); k > 0; k-- {
			if bytes.HasSuffix(pending, flushMark[:k]) {
				keep = k
				break
			}
		}
		if out := pending[:len(pending)-keep]; len(out) > 0 {
			to().Write(out)
			pending = append([]byte(nil), pending[len(out):]...)
		}
		if err != nil {
			return
		}
	}
}

func (p *pipe) flush() {
	if _, err := p.w.Write(flushMark); err != nil {
		return
	}
	p.count++
	for n := range p.seen {
		if n >= p.count {
			return
		}
	}
}

// CaptureProcessOutput makes what compiled code writes to os.Stdout and os.Stderr
// appear in the cell that is running, before the cell ends, until restore is
// called. The variables are the process's, so it serves one session: a kernel's
// only one.
func CaptureProcessOutput(s *Session) (restore func(), err error) {
	stdout, stderr := s.stdio.open(0), s.stdio.open(1)
	if stdout == nil || stderr == nil {
		return nil, errors.New("interp: no pipes for os.Stdout and os.Stderr")
	}
	o, e := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = stdout.w, stderr.w
	return func() { os.Stdout, os.Stderr = o, e }, nil
}

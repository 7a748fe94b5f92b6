// Package stdio gives cells their standard input, output and error: os.Stdin, os.Stdout and os.Stderr,
// the functions of package fmt that print and scan, and, for a process with one session, the output of
// compiled code. Which cell reads or writes is up to package live.
package stdio

import (
	"errors"
	"io"
	"log"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/interp/internal/live"
)

// Streams provides os.Stdin, os.Stdout and os.Stderr in cells. Where they must be files,
// the last two are pipes that are copied to the running cell, and the first is at its
// end. Nothing is opened before a cell mentions one of them.
type Streams struct {
	live *live.Registry
	in   *stdin

	used atomic.Bool // the files may have been written to

	mu    sync.Mutex
	pipes [3]*pipe // stdout and stderr
	// vars are the values of os.Stdin and so on in cells, which may replace them; files
	// are their initial values.
	vars, files [3]*os.File
}

var stdNames = [3]string{"Stdin", "Stdout", "Stderr"}

// New returns the streams of the cells of a session.
func New(l *live.Registry) *Streams { return &Streams{live: l, in: newStdin(l)} }

// Variable returns the addressable stand-in for one of the standard streams, which the cell may use
// as a file from now on, and an invalid value for any other variable.
func (s *Streams) Variable(path, name string) reflect.Value {
	v := s.variable(path, name)
	if v.IsValid() {
		s.used.Store(true)
	}
	return v
}

func (s *Streams) variable(path, name string) reflect.Value {
	n := slices.Index(stdNames[:], name)
	if path != "os" || n < 0 {
		return reflect.Value{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open(n) != nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(&s.vars[n]).Elem()
}

// open makes the file of a standard stream.
func (s *Streams) open(n int) error {
	if s.vars[n] != nil {
		return nil
	}
	var err error
	if n == 0 {
		s.vars[n], err = os.Open(os.DevNull)
	} else {
		of := (*live.Cell).Stdout
		if n == 2 {
			of = (*live.Cell).Stderr
		}
		if s.pipes[n], err = newPipe(func() io.Writer { return of(s.live.Current()) }); err == nil {
			s.vars[n] = s.pipes[n].w
		}
	}
	s.files[n] = s.vars[n]
	return err
}

// Flush waits until everything written to the files has reached the cell, so that it
// precedes text written to the cell directly.
func (s *Streams) Flush() {
	if !s.used.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pipes {
		if p != nil {
			p.flush()
		}
	}
}

// Close closes the files that the streams have opened.
func (s *Streams) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, f := range s.files {
		if f != nil {
			f.Close()
			s.pipes[n], s.vars[n], s.files[n] = nil, nil, nil
		}
	}
}

// Capture directs the output of compiled code to os.Stdout and os.Stderr to the running cell,
// before it ends, and that of packages log and log/slog to the cell that logs, until restore is
// called. It changes variables of the process.
func (s *Streams) Capture() (restore func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(s.open(1), s.open(2)); err != nil {
		return nil, err
	}
	s.used.Store(true)
	o, e, l := os.Stdout, os.Stderr, log.Writer()
	os.Stdout, os.Stderr = s.pipes[1].w, s.pipes[2].w
	log.SetOutput(s.live.Stderr()) // written in the goroutine that logs
	return func() {
		os.Stdout, os.Stderr = o, e
		log.SetOutput(l)
	}, nil
}

//go:build unix

package interp

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// pipe copies what is written to a file to wherever to says at that time.
type pipe struct {
	w    *os.File // what cells write to
	read syscall.RawConn
	to   func() io.Writer

	mu  sync.Mutex // one reader at a time, until what it read has been written
	buf []byte
}

func newPipe(to func() io.Writer) (*pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("interp: cannot open a pipe for a cell's standard output: %w", err)
	}
	p := &pipe{w: w, to: to, buf: make([]byte, 32<<10)}
	if p.read, err = r.SyscallConn(); err != nil {
		return nil, fmt.Errorf("interp: cannot read the pipe for a cell's standard output: %w", err)
	}
	go func() {
		defer r.Close()
		_ = p.read.Read(p.copy)
	}()
	return p, nil
}

// copy copies what is in the pipe. It reports whether the pipe has been closed;
// what comes later it does not wait for.
func (p *pipe) copy(fd uintptr) (closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		n, err := syscall.Read(int(fd), p.buf)
		switch {
		case n > 0:
			p.to().Write(p.buf[:n])
		case err != syscall.EINTR:
			return err != syscall.EAGAIN
		}
	}
}

// flush copies what has been written to the file so far.
func (p *pipe) flush() { _ = p.read.Control(func(fd uintptr) { p.copy(fd) }) }

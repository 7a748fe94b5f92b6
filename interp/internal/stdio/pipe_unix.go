//go:build unix

package stdio

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// pipe copies everything written to a file to the current writer, which to returns.
type pipe struct {
	w    *os.File // the end that cells write to
	read syscall.RawConn
	to   func() io.Writer

	mu  sync.Mutex // held by a reader until it has written the bytes that it read
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

// copy copies the current contents of the pipe without waiting for more. It reports
// whether the pipe has been closed.
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

// flush copies everything written to the file so far.
func (p *pipe) flush() { _ = p.read.Control(func(fd uintptr) { p.copy(fd) }) }

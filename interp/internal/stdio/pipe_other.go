//go:build !unix

package stdio

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// pipe copies everything written to a file to the current writer, which to returns.
type pipe struct {
	w     *os.File // the end that cells write to
	count int      // number of marks written
	out   int      // number of the last mark read
	seen  chan int // numbers of marks as they are read
}

// flushMark is the text that flush writes: bytes that do not occur in text.
var flushMark = []byte("\x00\xff\x00halfnote flush\x00\xff\x00")

func newPipe(to func() io.Writer) (*pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("interp: cannot open a pipe for a cell's standard output: %w", err)
	}
	p := &pipe{w: w, seen: make(chan int, 1)}
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

// flush waits until everything written to the file so far has been copied.
func (p *pipe) flush() {
	if _, err := p.w.Write(flushMark); err == nil {
		p.count++
	}
	for p.out < p.count {
		n, ok := <-p.seen
		if !ok {
			return
		}
		p.out = n
	}
}

//go:build !unix

package interp

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// pipe copies what is written to a file to wherever to says at that time.
type pipe struct {
	w     *os.File // what cells write to
	count int      // marks that went in
	out   int      // the last one that came out
	seen  chan int // their numbers, as they come out
}

// flushMark is what flush writes: bytes that no text contains.
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

// flush waits until what has been written to the file so far has been copied.
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

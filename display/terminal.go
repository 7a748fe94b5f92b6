package display

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// terminal is the output of programs outside a notebook.
var terminal = &printer{out: func() (io.Writer, bool) {
	info, err := os.Stdout.Stat()
	return os.Stdout, err == nil && info.Mode()&os.ModeCharDevice != 0
}}

// printer is a Sink that prints text/plain. On a terminal an update replaces the text printed
// last if that is one line; otherwise it is printed below.
type printer struct {
	out func() (w io.Writer, isTerminal bool)

	mu   sync.Mutex
	open string // ID of the output on the cursor's line
}

func (p *printer) Display(b Bundle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(b)
}

func (p *printer) Update(b Bundle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text := b.String(); p.open != "" && p.open == b.ID && !strings.Contains(text, "\n") {
		w, _ := p.out()
		fmt.Fprint(w, "\r\x1b[K", text)
		return
	}
	p.print(b)
}

func (p *printer) print(b Bundle) {
	w, tty := p.out()
	p.newline(w)
	if text := b.String(); tty && b.ID != "" && !strings.Contains(text, "\n") {
		fmt.Fprint(w, text)
		p.open = b.ID
	} else {
		fmt.Fprintln(w, text)
	}
}

// end marks the output of that ID as final.
func (p *printer) end(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == id {
		w, _ := p.out()
		p.newline(w)
	}
}

func (p *printer) newline(w io.Writer) {
	if p.open != "" {
		fmt.Fprintln(w)
		p.open = ""
	}
}

// Clear does nothing: printed text stays.
func (p *printer) Clear(bool) {}

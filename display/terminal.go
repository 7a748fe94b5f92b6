package display

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// terminal is where a program outside a notebook shows things.
var terminal = &printer{out: func() (io.Writer, bool) {
	info, err := os.Stdout.Stat()
	return os.Stdout, err == nil && info.Mode()&os.ModeCharDevice != 0
}}

// printer is a Sink that prints text/plain. On a terminal an update of what was
// printed last replaces it, if it is one line; else it is printed below.
type printer struct {
	out func() (w io.Writer, isTerminal bool)

	mu   sync.Mutex
	open string // the ID whose line the cursor stands on
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

// end says that the output of that ID will not change any more.
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

// Clear does nothing: what is printed stays.
func (p *printer) Clear(bool) {}

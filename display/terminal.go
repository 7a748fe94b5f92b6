package display

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// terminal is the output of programs outside a notebook.
var terminal = &Printer{out: func() (io.Writer, bool) {
	info, err := os.Stdout.Stat()
	return os.Stdout, err == nil && info.Mode()&os.ModeCharDevice != 0
}}

// Printer is a [Sink] that prints text/plain. On a terminal, an update rewrites the line that shows
// the output, as long as only such lines follow. Elsewhere, as in a log, it is printed below; of a
// progress bar or a changing chart, the log has a line after 10 seconds and then ever more rarely.
type Printer struct {
	out func() (w io.Writer, isTerminal bool)

	mu    sync.Mutex
	lines []line          // lines at the end of a terminal that can be rewritten
	logs  map[string]pace // by ID
}

// NewPrinter returns a printer to w, which is a terminal or not. A nil w discards everything.
func NewPrinter(w io.Writer, isTerminal bool) *Printer {
	if w == nil {
		w = io.Discard
	}
	return &Printer{out: func() (io.Writer, bool) { return w, isTerminal }}
}

// to returns where p prints.
func (p *Printer) to() (w io.Writer, isTerminal bool) {
	if p.out == nil {
		return io.Discard, false
	}
	return p.out()
}

// lineSink is a Sink that shows outputs as lines of text.
type lineSink interface {
	// pass replaces the output by a state that another one follows.
	pass(Bundle)
	// end marks the output of that ID as final.
	end(id string)
}

// line is a line of a terminal.
type line struct {
	id    string
	ended bool
}

// maxLines is the maximum number of lines that can be rewritten: a terminal shows them all.
const maxLines = 12

// pace is when and how often the states of an output are logged.
type pace struct {
	next time.Time
	gap  time.Duration
}

// States are logged first after logFirst, and then at intervals that double up to logMost.
const (
	logFirst = 10 * time.Second
	logMost  = 5 * time.Minute
)

// Display implements Sink.
func (p *Printer) Display(b Bundle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, tty := p.to()
	if b.ID == "" || !isLine(b) {
		p.print(w, b)
		return
	}
	if !tty {
		p.print(w, b)
		if p.logs == nil {
			p.logs = map[string]pace{}
		}
		p.logs[b.ID] = pace{time.Now().Add(logFirst), logFirst}
		return
	}
	p.add(w, b)
}

// Update implements Sink.
func (p *Printer) Update(b Bundle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, tty := p.to()
	switch {
	case tty && p.rewrite(w, b):
	case tty && b.ID != "" && isLine(b):
		p.add(w, b)
	default:
		p.print(w, b)
	}
}

func (p *Printer) pass(b Bundle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, tty := p.to()
	if tty {
		if !p.rewrite(w, b) && isLine(b) {
			p.add(w, b)
		}
		return
	}
	if l, now := p.logs[b.ID], time.Now(); !now.Before(l.next) && l.gap > 0 {
		p.print(w, b)
		l.gap = min(2*l.gap, logMost)
		l.next = now.Add(l.gap)
		p.logs[b.ID] = l
	}
}

func (p *Printer) end(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.logs, id)
	running := false
	for i := range p.lines {
		p.lines[i].ended = p.lines[i].ended || p.lines[i].id == id
		running = running || !p.lines[i].ended
	}
	if !running {
		w, _ := p.to()
		p.newline(w)
	}
}

// Newline ends the lines that can be rewritten, so that other text can follow. Later updates of their
// outputs begin new ones.
func (p *Printer) Newline() {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, _ := p.to()
	p.newline(w)
}

func (p *Printer) newline(w io.Writer) {
	if len(p.lines) > 0 {
		fmt.Fprintln(w)
		p.lines = nil
	}
}

// print prints an output that is not rewritten.
func (p *Printer) print(w io.Writer, b Bundle) {
	p.newline(w)
	fmt.Fprintln(w, b.String())
}

// Codes of ECMA-48 and, for the wrapping of long lines, of xterm.
const (
	clearLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrapAgain = "\x1b[?7h"
)

// add prints a line that can be rewritten.
func (p *Printer) add(w io.Writer, b Bundle) {
	if len(p.lines) == maxLines {
		p.lines = p.lines[1:]
	}
	text := noWrap + b.String() + wrapAgain
	if len(p.lines) > 0 {
		text = "\n" + text
	}
	io.WriteString(w, text)
	p.lines = append(p.lines, line{id: b.ID})
}

// rewrite rewrites the line of an output and reports whether it can be.
func (p *Printer) rewrite(w io.Writer, b Bundle) bool {
	if !isLine(b) {
		return false
	}
	for i, l := range p.lines {
		if l.id != b.ID {
			continue
		}
		text := clearLine + noWrap + b.String() + wrapAgain
		if up := len(p.lines) - 1 - i; up > 0 {
			text = fmt.Sprintf("\x1b[%dA%s\x1b[%dB", up, text, up)
		}
		io.WriteString(w, text)
		p.lines[i].ended = false
		return true
	}
	return false
}

func isLine(b Bundle) bool { return !strings.Contains(b.String(), "\n") }

// Clear does nothing: printed text stays.
func (p *Printer) Clear(bool) {}

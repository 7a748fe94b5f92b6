package interp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"halfnote/interp/engine"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/symbols"
	"halfnote/kernel"
)

var errLeft = errors.New("left behind")

// execute runs the unit's function.
func (s *Session) execute(c *cell) error {
	s.makeRoom(c)
	c.run = &live.Cell{N: c.n, Out: c.out}
	err, left := s.live.Run(c.run, c.ctx.Done(), s.opts.Grace, func() error {
		if err := s.packages.start(c.starts); err != nil {
			return err
		}
		err := c.program.Run()
		if p, ok := err.(*engine.Panic); ok {
			s.debugger.panicked(p)
		}
		return err
	})
	s.stdio.flush()
	s.widgets.Flush()
	s.debugger.cellEnds()
	if left {
		return errLeft
	}
	if p, ok := c.run.Cause().(*engine.Panic); ok && err == nil { // a goroutine panicked too late to stop the cell
		return p
	}
	return err
}

// traceback describes the panic that ended a cell.
func (s *Session) traceback(c *cell, p *engine.Panic) *kernel.Error {
	if _, ok := p.Value.(live.Interrupted); ok {
		cause := c.run.Cause()
		if cause == nil {
			return s.interrupted(c, p)
		}
		if other, ok := cause.(*engine.Panic); ok { // one of the cell's goroutines panicked
			p = other
		} else {
			p.Value = cause
		}
	}
	switch p.Value.(type) {
	case symbols.Exit, mapaccess.Conflict:
		s.live.Stop(c.run) // also stops its goroutines
	}
	return s.describe(p)
}

// describe shows a panic: its message and the frames in cells.
func (s *Session) describe(p *engine.Panic) *kernel.Error {
	e := &kernel.Error{Name: "Panic"}
	if _, ok := p.Value.(live.TooDeep); ok && len(p.Frames) > 1 { // the frames are all alike
		p.Frames, p.Skipped = p.Frames[:1], 0
	}
	kind := "panic: "
	v := goWords(p.Value)
	switch v := v.(type) {
	case symbols.Exit:
		kind = ""
		e.Name, e.Value = "Exit", v.Error()
	case live.Goexit:
		kind = ""
		e.Name, e.Value = "Goexit", v.Error()
	case live.Deadlock:
		kind = "fatal error: "
		e.Name, e.Value = "Deadlock", v.Error()
	case mapaccess.Conflict:
		kind = "fatal error: "
		e.Name, e.Value = "ConcurrentMapAccess", v.Error()
	case live.TooMuch:
		e.Name, e.Value = "OutOfMemory", v.Error()
	case error:
		e.Value = safely(v.Error)
	case fmt.Stringer:
		e.Value = safely(v.String)
	case string:
		e.Value = v
	default:
		e.Value = safely(func() string { return dynamic.Sprint(v) })
	}
	lines := strings.Split(e.Value, "\n")
	e.Traceback = append(e.Traceback, headline(kind, lines[0]))
	e.Traceback = append(e.Traceback, lines[1:]...)
	e.Traceback = append(e.Traceback, s.frames(p)...)
	e.Value = lines[0]
	return e
}

// headline is the first line of a panic's description. kind ends in ": " or is empty.
func headline(kind, text string) string {
	if kind == "" {
		return bold(text)
	}
	return alarm(strings.TrimSuffix(kind, " ")) + " " + bold(text)
}

// safely calls a method of a panic's value.
func safely(f func() string) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("(its text is not available: %v)", r)
		}
	}()
	return f()
}

// frames shows the interpreted calls, innermost first, with their lines. Recursive
// calls are folded.
func (s *Session) frames(p *engine.Panic) []string {
	var list []string
	folded := 0
	fold := func() {
		if folded > 0 {
			list = append(list, dim(fmt.Sprintf("  … %d more of the same", folded)))
		}
		folded = 0
	}
	if n := len(p.Inside); n > 1 { // a single one is the call that the cell shows
		list = append(list, dim(fmt.Sprintf("  … %d calls inside %s", n, packagesOf(p.Inside))))
	}
	inside := len(list)
	last := "-"
	seen := map[string]bool{}
	for _, f := range s.named(p.Frames) {
		base, _, _ := strings.Cut(f.Func, ".")
		label, ok := s.labels[base]
		if !ok {
			continue // not in a cell
		}
		if label != "" {
			label = "in " + label + strings.Repeat(", in a function literal", strings.Count(f.Func, ".func"))
		}
		where := label
		var excerpt []string
		var marks []mark
		if seen[f.Func] && !f.Pos.IsValid() {
			marks = s.recursing(f.Func)
		} else if m, ok := s.markOf(f); ok {
			marks = []mark{m}
		}
		seen[f.Func] = true
		if len(marks) > 0 {
			where = s.lines(marks)
			if label != "" {
				where += ", " + label
			}
		}
		if len(marks) == 1 && marks[0].file != nil {
			m := marks[0]
			excerpt = underlined(m.file.text, span{line: m.line, col: m.col})
		} else if len(marks) == 1 {
			m := marks[0]
			cell, _, _ := m.place()
			at, note := s.marked(m), ""
			if len(list) == inside { // the origin of the panic
				call, shapes := s.operands(p.Value, m)
				at, note = cmp.Or(call, at), shapes
				if !explainsItself(p.Value) {
					note = s.mentioned(m, at, note)
				}
			}
			excerpt = s.excerpt(cell, at)
			if note != "" {
				excerpt = append(excerpt, "        "+bold("where: ")+note)
			}
		}
		if f.Func == last {
			if f.Func == base { // literals share a name
				folded++
			}
			continue
		}
		fold()
		last = f.Func
		if where == "" {
			continue
		}
		list = append(list, where)
		list = append(list, excerpt...)
	}
	fold()
	if p.Skipped > 0 {
		list = append(list, dim(fmt.Sprintf("  … %d more calls", p.Skipped)))
	}
	return list
}

// packagesOf returns the packages of compiled functions such as
// "halfnote/tensor.(*Tensor).MatMul", each once.
func packagesOf(functions []string) string {
	var names []string
	for _, f := range functions {
		f = f[strings.LastIndexByte(f, '/')+1:]
		name, _, _ := strings.Cut(f, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// recursing lists the places from which a function may call itself: all active calls of
// it share one mark, that of the innermost.
func (s *Session) recursing(fn string) (list []mark) {
	for _, m := range s.marks {
		if m.again == fn {
			list = append(list, m)
		}
	}
	return list
}

// lines formats the lines of the marks of one function.
func (s *Session) lines(marks []mark) string {
	cell, line, _ := marks[0].place()
	text, last := place(cell, line, 0), line
	if f := marks[0].file; f != nil {
		text = fmt.Sprintf("%s, line %d", bold(f.name), line)
	}
	for _, m := range marks[1:] {
		if _, line, _ := m.place(); line != last {
			text += fmt.Sprintf(" or %d", line)
			last = line
		}
	}
	return text
}

// interrupted describes a cell that was stopped. p is nil if it did not stop.
func (s *Session) interrupted(c *cell, p *engine.Panic) *kernel.Error {
	e := &kernel.Error{Name: "Interrupted", Value: "the cell was stopped; variables and functions are intact"}
	if limit, ok := context.Cause(c.ctx).(timeLimit); ok {
		e.Value = limit.Error() + "; variables and functions are intact"
	}
	if p == nil {
		e.Value = "the cell did not stop: it is waiting inside compiled code and was left behind; if later cells behave strangely, restart the kernel"
	}
	e.Traceback = []string{alarm("Interrupted:") + " " + e.Value}
	if p != nil {
		e.Traceback = append(e.Traceback, s.frames(p)...)
	}
	return e
}

// place formats the place of a line and column in a cell.
func place(cell, line, col int) string {
	if col > 0 {
		return fmt.Sprintf("%s, line %d, column %d", bold(inLabel(cell)), line, col)
	}
	return fmt.Sprintf("%s, line %d", bold(inLabel(cell)), line)
}

// The text of errors has the front end's own colour, because no colour has a contrast of 4.5:1 with
// both a white and a black page. What needs a colour brings its own background.

func bold(s string) string { return "\x1b[1m" + s + "\x1b[0m" }
func dim(s string) string  { return "\x1b[2m" + s + "\x1b[0m" }

// alarm is white on red, of the 256 colours that terminals share: #ffffff on #af0000.
func alarm(s string) string { return "\x1b[1;38;5;231;48;5;124m" + s + "\x1b[0m" }

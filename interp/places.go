package interp

import (
	"fmt"
	"go/token"
	"strings"

	"halfnote/interp/lower"
)

// mark is a place in a cell that may fail. In a declaration it is relative to the
// declaration's start, because the cell may be run again under another number.
type mark struct {
	src       *source     // nil in statements
	file      *sourceFile // file of a package that is run from source, otherwise nil
	cell      int
	line, col int
	fn        string // engine name of the function that contains the mark
	whole     bool   // a statement, not one operation
	again     string // engine name of the function, if it may call itself there
}

func (m mark) place() (cell, line, col int) {
	if m.src == nil {
		return m.cell, m.line, m.col
	}
	if m.line == 0 {
		return m.src.cell, m.src.item.line, m.src.item.col + m.col
	}
	return m.src.cell, m.src.item.line + m.line, m.col
}

func (s *Session) markAt(c *cell, m lower.Mark) mark {
	at := c.fset.Position(m.Pos)
	if f := s.packages.file(at.Filename); f != nil {
		return mark{file: f, line: at.Line, col: at.Column, fn: m.Func, whole: m.Whole, again: m.Again}
	}
	for _, f := range c.decls {
		if f.tok == c.fset.File(m.Pos) {
			r := mark{src: f.src, line: at.Line - f.src.item.line, col: at.Column, fn: m.Func, whole: m.Whole, again: m.Again}
			if r.line == 0 {
				r.col -= f.src.item.col
			}
			return r
		}
	}
	return mark{cell: cellOf(at.Filename), line: at.Line, col: at.Column, fn: m.Func, whole: m.Whole, again: m.Again}
}

// noteMarks records the places of a unit that may fail, and returns the number of
// earlier marks.
func (s *Session) noteMarks(c *cell, list []lower.Mark) (base int) {
	s.placing.Lock()
	defer s.placing.Unlock()
	base = len(s.marks)
	for _, m := range list {
		s.marks = append(s.marks, s.markAt(c, m))
	}
	return base
}

// unmark forgets the marks from base on.
func (s *Session) unmark(base int) {
	s.placing.Lock()
	defer s.placing.Unlock()
	s.marks = s.marks[:base]
}

// unsupported returns the error of a cell that is valid Go but that the engine cannot
// run.
func unsupported(c *cell, err error) error {
	p := problem{cell: c.n, line: 1, col: 1}
	what := err.Error()
	if u, ok := err.(*lower.Unsupported); ok {
		p = c.placed(u.Pos, p)
	} else if pos, rest, ok := position(what); ok {
		what = rest
		if pos.Line > 0 {
			p.line, p.col = pos.Line, pos.Column
			if n := cellOf(pos.Filename); n != 0 {
				p.cell = n
			}
		}
	}
	p.msg = "valid Go, but not supported by the interpreter yet: " + versioned.ReplaceAllString(what, "$1")
	return &rejected{"Unsupported", []problem{p}}
}

func (c *cell) placed(pos token.Pos, p problem) problem {
	if at := c.fset.Position(pos); at.IsValid() && cellOf(at.Filename) != 0 {
		p.cell, p.line, p.col = cellOf(at.Filename), at.Line, at.Column
	}
	return p
}

// position splits "file:line:col: " off the front of a message.
func position(msg string) (pos token.Position, rest string, ok bool) {
	parts := strings.SplitN(msg, ":", 4)
	if len(parts) < 4 {
		return pos, msg, false
	}
	if _, err := fmt.Sscan(parts[1], &pos.Line); err != nil {
		return pos, msg, false
	}
	if _, err := fmt.Sscan(parts[2], &pos.Column); err != nil {
		return pos, msg, false
	}
	pos.Filename = parts[0]
	return pos, strings.TrimSpace(parts[3]), true
}

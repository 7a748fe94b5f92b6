package interp

import (
	"fmt"
	"go/scanner"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/kernel"
)

// problem is one thing wrong with a cell, at a place of it; line and col count
// from 1, col in bytes.
type problem struct {
	cell      int // In[n]
	line, col int
	msg       string
}

func problemf(line, col int, format string, args ...any) problem {
	return problem{line: line, col: col, msg: fmt.Sprintf(format, args...)}
}

// in says which cell problems belong to.
func in(n int, list []problem) []problem {
	for i := range list {
		list[i].cell = n
	}
	return list
}

// rejected is the error of a cell that is not valid Go.
type rejected struct {
	name     string
	problems []problem
}

func (r *rejected) Error() string {
	var lines []string
	for _, p := range r.problems {
		lines = append(lines, fmt.Sprintf("In[%d]:%d:%d: %s", p.cell, p.line, p.col, p.msg))
	}
	return strings.Join(lines, "\n")
}

// report shows every problem with its line and a caret.
func (s *Session) report(r *rejected) *kernel.Error {
	e := &kernel.Error{Name: r.name}
	for i, p := range r.problems {
		if i > 0 {
			e.Traceback = append(e.Traceback, "")
		}
		e.Traceback = append(e.Traceback, fmt.Sprintf("%s: %s", place(p.cell, p.line, p.col), bold(red(p.msg))))
		e.Traceback = append(e.Traceback, s.excerpt(p.cell, p.line, p.col)...)
	}
	if len(r.problems) > 0 {
		p := r.problems[0]
		e.Value = fmt.Sprintf("In[%d]:%d:%d: %s", p.cell, p.line, p.col, p.msg)
		if n := len(r.problems) - 1; n > 0 {
			e.Value += fmt.Sprintf(" (and %d more)", n)
		}
	}
	return e
}

// syntax turns errors of the parser into problems; the positions are those of
// the cell, by line directives.
func syntax(err error) []problem {
	list, ok := err.(scanner.ErrorList)
	if !ok {
		return []problem{{line: 1, col: 1, msg: err.Error()}}
	}
	var ps []problem
	for _, e := range list {
		ps = append(ps, problem{cell: cellOf(e.Pos.Filename), line: e.Pos.Line, col: e.Pos.Column, msg: e.Msg})
	}
	return ps
}

// cellOf returns the n of a file name In[n], or 0.
func cellOf(file string) int {
	if s, ok := strings.CutPrefix(file, "In["); ok {
		n, _ := strconv.Atoi(strings.TrimSuffix(s, "]"))
		return n
	}
	return 0
}

var versioned = regexp.MustCompile(`\b([\pL_][\pL\pN_]*?)__(\d+)\b`)

// problemOf describes an error of the type checker. Versions of types that newer
// ones have replaced get a readable name.
func (c *cell) problemOf(e types.Error) problem {
	at := e.Fset.Position(e.Pos)
	msg := versioned.ReplaceAllStringFunc(e.Msg, func(name string) string {
		for _, b := range c.env.old {
			if b.check == name {
				return fmt.Sprintf("%s (of In[%d])", b.name, b.cell)
			}
		}
		for b := range c.retired {
			if b.check == name {
				return fmt.Sprintf("%s (of In[%d])", b.name, b.cell)
			}
		}
		return name
	})
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		msg += importHint(name)
	}
	return problem{cell: cellOf(at.Filename), line: at.Line, col: at.Column, msg: msg}
}

// importHint says which packages an undefined name could stand for.
func importHint(name string) string {
	var found []string
	for _, path := range exports.Packages() {
		if exports.Name(path) == name {
			found = append(found, fmt.Sprintf("import %q", path))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return " (" + strings.Join(found, " or ") + "?)"
}

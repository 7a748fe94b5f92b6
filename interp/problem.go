package interp

import (
	"fmt"
	"go/scanner"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"halfnote/kernel"
)

// problem is a mistake at a place in a cell; line and col count from 1, col in bytes.
type problem struct {
	cell      int // number of In[n]
	line, col int
	msg       string
	at        span   // span to underline; the zero span is the word at line and col
	hint      string // suggested fixes, in lines
}

func problemf(line, col int, format string, args ...any) problem {
	return problem{line: line, col: col, msg: fmt.Sprintf(format, args...)}
}

// in sets the cell of problems.
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
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", inLabel(p.cell), p.line, p.col, p.msg))
	}
	return strings.Join(lines, "\n")
}

// report shows every problem as a block: message and place, the line with the mistake
// underlined, and a hint.
func (s *Session) report(r *rejected) *kernel.Error {
	e := &kernel.Error{Name: r.name}
	for i, p := range r.problems {
		if i > 0 {
			e.Traceback = append(e.Traceback, "")
		}
		lines := strings.Split(p.msg, "\n")
		e.Traceback = append(e.Traceback, fmt.Sprintf("%s: %s", place(p.cell, p.line, p.col), bold(lines[0])))
		at := p.at
		if at.line == 0 {
			at = span{line: p.line, col: p.col}
		}
		e.Traceback = append(e.Traceback, s.excerpt(p.cell, at)...)
		for _, line := range lines[1:] {
			e.Traceback = append(e.Traceback, "        "+strings.TrimSpace(line))
		}
		if p.hint != "" {
			for line := range strings.SplitSeq(p.hint, "\n") {
				e.Traceback = append(e.Traceback, "        "+bold("hint: ")+line)
			}
		}
	}
	if len(r.problems) > 0 {
		p := r.problems[0]
		e.Value = fmt.Sprintf("%s:%d:%d: %s", inLabel(p.cell), p.line, p.col, p.msg)
		if n := len(r.problems) - 1; n > 0 {
			e.Value += fmt.Sprintf(" (and %d more)", n)
		}
	}
	return e
}

// syntax turns errors of the parser into problems; line directives make the positions
// those of the cell.
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

// inLabel returns the label of a cell in its front end. Uncounted cells have negative
// numbers.
func inLabel(n int) string {
	if n < 0 {
		return "In[ ]"
	}
	return fmt.Sprintf("In[%d]", n)
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

// problemOf describes an error of the type checker, with readable names for replaced
// versions of types.
func (c *cell) problemOf(e types.Error, a *attempt) problem {
	at := e.Fset.Position(e.Pos)
	return problem{
		cell: cellOf(at.Filename), line: at.Line, col: at.Column,
		msg: c.readable(e.Msg), at: spanOf(e), hint: c.hint(e, a),
	}
}

// readable replaces the session's internal names in a message of the checker with the
// names in the cells.
func (c *cell) readable(msg string) string {
	if strings.Contains(msg, retiredMark) {
		msg = retiredType.ReplaceAllString(msg, "$1.$2 (of the old package)")
		msg = quotedType.ReplaceAllString(msg, "$1.$2")
	}
	return versioned.ReplaceAllStringFunc(msg, func(name string) string {
		if n, ok := strings.CutPrefix(name, "Out__"); ok {
			return "Out[" + n + "]"
		}
		if name == inName {
			return "In"
		}
		for _, b := range c.env.old {
			if b.check == name {
				return fmt.Sprintf("%s (of %s)", b.name, inLabel(b.cell))
			}
		}
		for b := range c.retired {
			if b.check == name {
				return fmt.Sprintf("%s (of %s)", b.name, inLabel(b.cell))
			}
		}
		return name
	})
}

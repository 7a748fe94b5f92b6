package syntax

import (
	"fmt"
	"go/scanner"
	"regexp"
	"strconv"
	"strings"

	"halfnote/interp/internal/ansi"
)

// Problem is a mistake at a place in a cell. Line and Col count from 1, Col in bytes.
type Problem struct {
	Cell      int // number of In[n]
	Line, Col int
	Msg       string
	At        Span   // span to underline; the zero span is the word at line and col
	Hint      string // suggested fixes, in lines
}

// Problemf returns a problem with a formatted message.
func Problemf(line, col int, format string, args ...any) Problem {
	return Problem{Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// In sets the cell of problems.
func In(n int, list []Problem) []Problem {
	for i := range list {
		list[i].Cell = n
	}
	return list
}

// Rejected is the error of a cell that is not valid Go.
type Rejected struct {
	Name     string // of the error, for example "CompileError"
	Problems []Problem
}

// Error lists the problems with their places.
func (r *Rejected) Error() string {
	var lines []string
	for _, p := range r.Problems {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", Label(p.Cell), p.Line, p.Col, p.Msg))
	}
	return strings.Join(lines, "\n")
}

// Problems turns errors of the parser into problems; line directives make the positions
// those of the cell.
func Problems(err error) []Problem {
	list, ok := err.(scanner.ErrorList)
	if !ok {
		return []Problem{{Line: 1, Col: 1, Msg: err.Error()}}
	}
	var ps []Problem
	for _, e := range list {
		ps = append(ps, Problem{Cell: CellOf(e.Pos.Filename), Line: e.Pos.Line, Col: e.Pos.Column, Msg: e.Msg})
	}
	return ps
}

// Label returns the label of a cell in its front end. Uncounted cells have negative
// numbers.
func Label(n int) string {
	if n < 0 {
		return "In[ ]"
	}
	return fmt.Sprintf("In[%d]", n)
}

// CellOf returns the n of a file name In[n], or 0.
func CellOf(file string) int {
	if s, ok := strings.CutPrefix(file, "In["); ok {
		n, _ := strconv.Atoi(strings.TrimSuffix(s, "]"))
		return n
	}
	return 0
}

// Versioned matches the session's name of a replaced version of a declaration, T__3, and captures the
// name in the cell and the version.
var Versioned = regexp.MustCompile(`\b([\pL_][\pL\pN_]*?)__(\d+)\b`)

// Place formats the place of a line and column in a cell.
func Place(cell, line, col int) string {
	if col > 0 {
		return fmt.Sprintf("%s, line %d, column %d", ansi.Bold(Label(cell)), line, col)
	}
	return fmt.Sprintf("%s, line %d", ansi.Bold(Label(cell)), line)
}

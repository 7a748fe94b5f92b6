// Package magic holds the commands that cells give to the session, such as %cd and %%timeit.
//
// A Magic is a value: its name, the form of its arguments, its help, what it applies to, and its function.
// A file of this package adds it to the table in init: help, completion, formatting and export read the table. Only export
// knows by name the magics that change what later cells mean: %run, %xdel and %reset. The function gets a Call, which holds the arguments and the Host.
// The package does not know the session: Host says what magics need of it.
package magic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/internal/text"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// Magic is a command to the session. "%name args" is a separate line between
// statements; "%%name args" is the first line of a cell and applies to the rest of it.
type Magic struct {
	Name string
	// Args is the form of the arguments, such as "[-n N] STATEMENT". Completion offers files for FILE,
	// folders for FOLDER, and cells that have left goroutines for "CELL…".
	Args string
	// Help says what the magic does. Its first line stands in lists of magics; all of it is
	// shown by "%name?".
	Help  string
	Takes Content
	// Runs reports whether the magic runs its Go code once, as if the code stood alone: a program that
	// is exported contains the code.
	Runs bool
	Run  func(*Call) eval.Result
}

// Content is what a magic applies to: the rest of its line or, for "%%", of the cell.
type Content int

const (
	Words Content = iota // words, or nothing
	Go                   // Go code
	Text                 // text that is not Go
)

// Call is one use of a magic.
type Call struct {
	*Magics
	Ctx  context.Context
	Cell eval.Cell // Cell.Code is the code that the magic applies to, at its place in the cell
	Out  eval.Output
	Args string
	Body string // lines below the magic, for "%%"
	Line int    // line of the cell, from 1
	// Variable and Assign are "x" and ":=" or "=" in x := !command, and Col is the column.
	Variable, Assign string
	Col              int
}

// table holds the magics, sorted by name. It does not change after init.
var table []Magic

// add adds a magic to the table. It is called in init.
func add(m Magic) {
	i, found := slices.BinarySearchFunc(table, m.Name, func(m Magic, name string) int { return strings.Compare(m.Name, name) })
	if found {
		panic("magic: there are two magics " + m.Name)
	}
	table = slices.Insert(table, i, m)
}

// Find returns the magic with a name, or nil.
func Find(name string) *Magic {
	i := slices.IndexFunc(table, func(m Magic) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &table[i]
}

// Runs reports whether a magic runs its Go code once, as if the code stood alone.
func Runs(name string) bool {
	m := Find(name)
	return m != nil && m.Runs
}

// Forms describes the magics for completion and help.
func Forms() (list []assist.Magic) {
	for _, m := range table {
		list = append(list, assist.Magic{Name: m.Name, Args: m.Args, Help: m.Help, TakesGo: m.Takes == Go, TakesText: m.Takes == Text})
	}
	return list
}

// wrong returns the error of a misused magic.
func (c *Call) wrong(format string, args ...any) eval.Result {
	return eval.Result{Err: c.Report(&syntax.Rejected{Name: "MagicError", Problems: []syntax.Problem{{Cell: c.Cell.Count, Line: c.Line, Col: 1,
		Msg: fmt.Sprintf(format, args...)}}})}
}

// shown returns the result of a magic that shows a text.
func shown(text string) eval.Result { return result(display.Text(text)) }

// result returns the result of a magic whose value is displayed.
func result(b display.Bundle) eval.Result { return eval.Result{Value: &b} }

// paged returns the result of a magic that shows a page.
func paged(b display.Bundle) eval.Result {
	return eval.Result{Payload: []eval.Payload{{Source: "page", Data: b}}}
}

// short returns the beginning of a text, on one line.
func short(s string) string {
	return text.Cut(strings.Join(strings.Fields(s), " "), 60)
}

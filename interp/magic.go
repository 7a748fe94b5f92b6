package interp

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/near"
	"halfnote/kernel"
)

// magic is a command to the session. "%name args" is a separate line between
// statements; "%%name args" is the first line of a cell and applies to the rest of it.
type magic struct {
	name, args, help string
	run              func(*Session, call) kernel.Result
}

// call is one use of a magic.
type call struct {
	ctx  context.Context
	in   kernel.Cell // in.Code is the code that the magic applies to, at its place in the cell
	out  kernel.Output
	args string
	body string // lines below the magic, for "%%"
	line int    // line of the cell, from 1
	// captured receives the standard output of a command; if nil, the cell does.
	captured *bytes.Buffer
}

// magics is sorted by name. It is set in init because help reads it.
var magics []magic

func init() {
	magics = []magic{
		{"!", "command", "runs a shell command; x := !command assigns the lines of its output to x", (*Session).magicShell},
		{"%%bash", "", "runs the cell as a bash script", (*Session).magicBash},
		{"%%sh", "", "runs the cell as a POSIX shell script", (*Session).magicSh},
		{"%%time", "", "runs the cell and prints how long it took", (*Session).magicTime},
		{"%%timeit", "[-n N] [-r R]", "runs the cell many times and prints the time per run", (*Session).magicTimeit},
		{"%%timeout", "300ms", "runs the cell and interrupts it after that time", (*Session).magicTimeout},
		{"%%writefile", "[-a] FILE", "writes the cell to a file; -a appends to it", (*Session).magicWritefile},
		{"%cd", "[FOLDER]", "changes the working folder, by default to the home folder; - is the previous one", (*Session).magicCd},
		{"%env", "[NAME[=VALUE]]", "lists the environment variables, or shows or sets one", (*Session).magicEnv},
		{"%export", "FILE", "writes the cells so far as a Go program", (*Session).magicExport},
		{"%help", "", "lists packages, tasks and commands; so does ?", (*Session).magicHelp},
		{"%history", "[-n]", "shows the cells so far; -n adds their numbers", (*Session).magicHistory},
		{"%load", "FILE [N]", "loads a file, or code cell N of a notebook, into the cell", (*Session).magicLoad},
		{"%lsmagic", "", "lists the magics", (*Session).magicList},
		{"%pinfo", "NAME", "shows what a name means, like NAME?", (*Session).magicInfo},
		{"%pwd", "", "shows the working folder", (*Session).magicPwd},
		{"%reset", "[out]", "forgets all variables, functions, types and imports; with out, only the displayed values", (*Session).magicReset},
		{"%theme", "[light|dark|auto]", "shows or sets the colours of charts; auto follows the reader's system", (*Session).magicTheme},
		{"%time", "STATEMENT", "runs a statement and prints how long it took", (*Session).magicTime},
		{"%timeit", "[-n N] [-r R] STATEMENT", "runs a statement many times and prints the time per run", (*Session).magicTimeit},
		{"%vars", "", "lists the variables with their types and values", (*Session).magicVars},
		{"%who", "", "lists the variables, like %vars", (*Session).magicVars},
	}
}

// magic runs a cell that contains magics or asks about a name. ok is false for a cell
// that is only Go.
func (s *Session) magic(ctx context.Context, in kernel.Cell, out kernel.Output) (r kernel.Result, ok bool) {
	if page, ok := s.help(in.Code); ok {
		return kernel.Result{Payload: []kernel.Payload{page}}, true
	}
	list := segments(in.Code, s.isValue)
	if len(list) == 1 && list[0].magic == "" {
		return kernel.Result{}, false
	}
	for _, g := range list { // reports errors before any segment runs
		if g.magic != "" && (findMagic(g.magic) == nil || g.late()) {
			return kernel.Result{Err: s.unknownMagic(in.Count, g)}, true
		}
		if g.magic == "" && completeness(g).Status != "complete" { // neither a magic nor Go: reports the error
			if r := s.segment(ctx, in, out, g); r.Err != nil {
				return r, true
			}
		}
	}
	var pages []kernel.Payload
	for i, g := range list {
		if r = s.segment(ctx, in, out, g); r.Err != nil {
			return r, true
		}
		pages = append(pages, r.Payload...)
		if i < len(list)-1 && g.magic != "" && r.Value != nil {
			out.Display(*r.Value)
		}
	}
	r.Payload = pages
	return r, true
}

func (s *Session) segment(ctx context.Context, in kernel.Cell, out kernel.Output, g segment) kernel.Result {
	in.Code = g.code
	if g.magic == "" {
		return s.run(ctx, in, out)
	}
	c := call{ctx: ctx, in: in, out: out, args: g.args, body: g.body, line: g.line}
	if g.variable != "" {
		return s.capture(c, g)
	}
	return findMagic(g.magic).run(s, c)
}

func findMagic(name string) *magic {
	i := slices.IndexFunc(magics, func(m magic) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	return &magics[i]
}

// unknownMagic suggests the magics with similar names.
func (s *Session) unknownMagic(cell int, g segment) *kernel.Error {
	p := problem{cell: cell, line: g.line, col: g.col, at: span{g.line, g.col, g.col + len(g.magic)},
		msg: "unknown magic " + g.magic, hint: "%lsmagic lists the magics"}
	var bare, full []string
	for _, m := range magics {
		bare = append(bare, strings.TrimLeft(m.name, "%"))
	}
	for _, name := range near.Names(strings.TrimLeft(g.magic, "%"), bare, 2) {
		for i, m := range magics {
			if bare[i] == name {
				full = append(full, m.name)
			}
		}
	}
	if len(full) > 0 {
		p.hint = fmt.Sprintf("did you mean %s?", strings.Join(full, " or "))
	}
	if h := foreignMagics[g.magic]; h != "" {
		p.hint = h
	}
	if findMagic(g.magic) != nil {
		p.msg, p.hint = g.magic+" applies to the cell below it", "make it the first line of the cell"
	}
	return s.report(&rejected{"UnknownMagic", []problem{p}})
}

// wrong returns the error of a misused magic.
func (s *Session) wrong(c call, format string, args ...any) kernel.Result {
	return kernel.Result{Err: s.report(&rejected{"MagicError", []problem{{cell: c.in.Count, line: c.line, col: 1,
		msg: fmt.Sprintf(format, args...)}}})}
}

// magicMatches returns the magics for completion.
func magicMatches() []kernel.Match {
	var list []kernel.Match
	for _, m := range magics {
		if m.name != "!" {
			list = append(list, kernel.Match{Text: m.name, Type: "magic", Signature: m.args})
		}
	}
	return list
}

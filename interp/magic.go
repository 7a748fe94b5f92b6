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
// The first line of help stands in lists of magics; all of it is shown by "%name?".
type magic struct {
	name, args, help string
	takes            content
	run              func(*Session, call) kernel.Result
}

// content is what a magic applies to: the rest of its line or, for "%%", of the cell.
type content int

const (
	takesWords content = iota // words, or nothing
	takesGo                   // Go code
	takesText                 // text that is not Go
)

// call is one use of a magic.
type call struct {
	ctx  context.Context
	in   kernel.Cell // in.Code is the code that the magic applies to, at its place in the cell
	out  kernel.Output
	args string
	body string // lines below the magic, for "%%"
	line int    // line of the cell, from 1
	// captured and capturedErr receive the output of a command; if nil, the cell does.
	captured, capturedErr *bytes.Buffer
}

// magics is sorted by name. It is set in init because help reads it.
var magics []magic

func init() {
	magics = []magic{
		{"!", "command", "runs a shell command; x := !command assigns the lines of its output to x\nIn braces, a Go expression of the session is replaced by its value: !echo {x + 1}.", takesText, (*Session).magicShell},
		{"%%bash", "[OPTIONS]", "runs the cell as a bash script\nThe options --out NAME and --err NAME assign the lines of its output to variables. {expressions} in the first line are replaced by their values: %%bash -s {x}.", takesText, (*Session).magicBash},
		{"%%capture", "[NAME]", "runs the cell and keeps its output in a variable instead of showing it\nThe variable is a display.Captured. The options --no-stdout, --no-stderr and --no-display show that part of the output.", takesGo, (*Session).magicCapture},
		{"%%debug", "", "runs the cell and, if it panics, shows the variables of every active call", takesGo, (*Session).magicDebugCell},
		{"%%gofmt", "", "formats the cell as gofmt does, and removes this line", takesGo, (*Session).magicGofmt},
		{"%%html", "", "shows the cell as HTML", takesText, (*Session).magicHTML},
		{"%%latex", "", "shows the cell as mathematics in LaTeX", takesText, (*Session).magicLaTeX},
		{"%%markdown", "", "shows the cell as Markdown", takesText, (*Session).magicMarkdown},
		{"%%prun", "", "runs the cell under the CPU profiler and shows its slowest lines and a flame graph", takesGo, (*Session).magicProfile},
		{"%%python", "[OPTIONS]", "runs the cell as a Python script, in a separate process", takesText, (*Session).magicPython},
		{"%%script", "PROGRAM [ARGUMENTS]", "runs a program that reads the cell\nThe options --out NAME and --err NAME before the program assign the lines of its output to variables.", takesText, (*Session).magicScript},
		{"%%sh", "[OPTIONS]", "runs the cell as a POSIX shell script, like %%bash", takesText, (*Session).magicSh},
		{"%%time", "", "runs the cell and prints how long it took", takesGo, (*Session).magicTime},
		{"%%timeit", "[-n N] [-r R]", "runs the cell many times and prints the time per run", takesGo, (*Session).magicTimeit},
		{"%%timeout", "300ms", "runs the cell and interrupts it after that time", takesGo, (*Session).magicTimeout},
		{"%%writefile", "[-a] FILE", "writes the cell to a file; -a appends to it", takesText, (*Session).magicWritefile},
		{"%cd", "[FOLDER]", "changes the working folder, by default to the home folder; - is the previous one", takesWords, (*Session).magicCd},
		{"%charts", "[interactive|picture]", "shows or sets the form of charts; interactive ones show values under the pointer, and zoom", takesWords, (*Session).magicCharts},
		{"%debug", "", "after a panic, runs that cell again and shows the variables of every call that was active at the panic", takesWords, (*Session).magicDebug},
		{"%env", "[NAME[=VALUE]]", "lists the environment variables, or shows or sets one", takesWords, (*Session).magicEnv},
		{"%export", "FILE", "writes the cells so far as a Go program", takesWords, (*Session).magicExport},
		{"%help", "[NAME|WORDS]", "lists packages, tasks and commands, as ? does, or those about some words; with a name, shows its documentation", takesWords, (*Session).magicHelp},
		{"%history", "[-n] [CELLS]", "shows the cells so far, or those listed, such as 2-4 7; -n adds their numbers", takesWords, (*Session).magicHistory},
		{"%load", "FILE [N]", "loads a file, or code cell N of a notebook, into the cell", takesWords, (*Session).magicLoad},
		{"%lsmagic", "", "lists the magics", takesWords, (*Session).magicList},
		{"%output", "[CELLS]", "shows the output of earlier cells again, such as 3, 2-4 or ~1/3, or lists the cells that have output\n~1/3 is cell 3 of the kernel before this one. The output is complete, with charts, also of a cell that ran while the browser was closed.", takesWords, (*Session).magicOutput},
		{"%pinfo", "NAME", "shows what a name means, like NAME?", takesGo, (*Session).magicInfo},
		{"%pinfo2", "NAME", "shows what a name means and its source, like NAME??", takesGo, (*Session).magicInfo2},
		{"%prun", "STATEMENT", "runs a statement under the CPU profiler and shows the slowest lines and a flame graph\nFunctions of earlier cells count line by line too. Interpreted lines take longer than without the profiler.", takesGo, (*Session).magicProfile},
		{"%pwd", "", "shows the working folder", takesWords, (*Session).magicPwd},
		{"%recall", "[CELLS|TEXT]", "puts earlier cells into a new cell\nCELLS is a list such as 2-4 7, TEXT a text that the cell contains. Without either, it is the previous cell.", takesWords, (*Session).magicRecall},
		{"%reset", "[out]", "forgets all variables, functions, types and imports; with out, only the displayed values", takesWords, (*Session).magicReset},
		{"%run", "FILE", "runs the code cells of a notebook, or a Go file, as if they were in this cell\nTheir output is displayed, but not the values of their last expressions. A Go program also runs main.", takesWords, (*Session).magicRun},
		{"%save", "[-a] FILE [CELLS]", "writes cells to a file, for %run and %load; -a appends to it\nCELLS is a list such as 2-4 7; without it, all cells so far are written. %export writes a Go program.", takesWords, (*Session).magicSave},
		{"%theme", "[light|dark|auto]", "shows or sets the colours of charts; auto follows the reader's system", takesWords, (*Session).magicTheme},
		{"%time", "STATEMENT", "runs a statement and prints how long it took", takesGo, (*Session).magicTime},
		{"%timeit", "[-n N] [-r R] STATEMENT", "runs a statement many times and prints the time per run", takesGo, (*Session).magicTimeit},
		{"%vars", "[TYPE…]", "the same as %whos", takesGo, (*Session).magicVars},
		{"%who", "[TYPE…]", "lists the names of variables, or of those with a type\n%who int Tensor lists those of type int or *tensor.Tensor; %who func, %who type and %who const list these declarations.", takesGo, (*Session).magicWho},
		{"%whos", "[TYPE…]", "lists variables with their types and values; types select as for %who", takesGo, (*Session).magicVars},
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

// eval runs a cell, with or without magics.
func (s *Session) eval(ctx context.Context, in kernel.Cell, out kernel.Output) kernel.Result {
	if r, ok := s.magic(ctx, in, out); ok {
		return r
	}
	return s.run(ctx, in, out)
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

// takesOnly reports whether the magic, which may be nil, applies to that content.
func (m *magic) takesOnly(x content) bool { return m != nil && m.takes == x }

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

package interp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"halfnote/display"
	"halfnote/kernel"
)

// magic is a command that a cell gives to the session. "%name args" is a line of
// its own before the Go of a cell; "%%name args" is the first line of a cell and
// applies to the rest of it.
type magic struct {
	name, args, help string
	run              func(*Session, call) kernel.Result
}

// call is one use of a magic.
type call struct {
	ctx  context.Context
	in   kernel.Cell // whose code is what the magic applies to
	out  kernel.Output
	args string
}

// magics is set in init because help reads it.
var magics []magic

func init() {
	magics = []magic{
		{"%%time", "", "runs the cell and says how long it took", (*Session).magicTime},
		{"%%timeout", "300ms", "runs the cell and interrupts it after that time", (*Session).magicTimeout},
		{"%help", "", "says what cells can do", (*Session).magicHelp},
		{"%reset", "", "forgets all variables, functions, types and imports", (*Session).magicReset},
		{"%time", "statement", "runs a statement and says how long it took", (*Session).magicTime},
		{"%vars", "", "lists the variables with their types and values", (*Session).magicVars},
	}
}

// magic runs a cell that begins with magics, or that asks what a name means. ok is
// false for a cell of Go alone.
func (s *Session) magic(ctx context.Context, in kernel.Cell, out kernel.Output) (r kernel.Result, ok bool) {
	if page, ok := s.help(in.Code); ok {
		return kernel.Result{Payload: []kernel.Payload{page}}, true
	}
	if !isMagic(in.Code) {
		return kernel.Result{}, false
	}
	lines := strings.SplitAfter(in.Code, "\n")
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		if !strings.HasPrefix(text, "%") {
			break
		}
		name, args, _ := strings.Cut(text, " ")
		args = strings.TrimSpace(args)
		n := slices.IndexFunc(magics, func(m magic) bool { return m.name == name })
		if n < 0 {
			return kernel.Result{Err: s.unknownMagic(in.Count, i+1, name)}, true
		}
		lines[i] = "\n" // the lines below keep their numbers
		c := call{ctx: ctx, in: in, out: out, args: args}
		if strings.HasPrefix(name, "%%") {
			c.in.Code = strings.Join(lines, "")
			return magics[n].run(s, c), true
		}
		// a line's Go stands where it stands in the cell
		c.in.Code = strings.Repeat("\n", i) + strings.Repeat(" ", max(0, strings.LastIndex(line, args))) + args
		if r = magics[n].run(s, c); r.Err != nil {
			return r, true
		}
	}
	if rest := strings.Join(lines, ""); strings.TrimSpace(rest) != "" {
		in.Code = rest
		return s.run(ctx, in, out), true
	}
	return r, true
}

func (s *Session) unknownMagic(cell, line int, name string) *kernel.Error {
	var known []string
	for _, m := range magics {
		known = append(known, m.name)
	}
	return s.report(&rejected{"UnknownMagic", []problem{{cell: cell, line: line, col: 1,
		msg: fmt.Sprintf("there is no %s; there are %s", name, strings.Join(known, ", "))}}})
}

func (s *Session) magicTime(c call) kernel.Result {
	start := time.Now()
	r := s.run(c.ctx, c.in, c.out)
	if r.Err == nil {
		fmt.Fprintf(c.out.Stdout(), "time: %v\n", time.Since(start).Round(time.Microsecond))
	}
	return r
}

func (s *Session) magicTimeout(c call) kernel.Result {
	d, err := time.ParseDuration(c.args)
	if err != nil || d <= 0 {
		return kernel.Result{Err: s.report(&rejected{"MagicError", []problem{{cell: c.in.Count, line: 1, col: 1,
			msg: fmt.Sprintf("%%%%timeout %s: want a time such as 300ms or 2s", c.args)}}})}
	}
	ctx, cancel := context.WithTimeout(c.ctx, d)
	defer cancel()
	return s.run(ctx, c.in, c.out)
}

func (s *Session) magicReset(c call) kernel.Result {
	s.live.StopAll()
	if err := s.reset(); err != nil {
		return kernel.Result{Err: &kernel.Error{Name: "InternalError", Value: err.Error()}}
	}
	return kernel.Result{}
}

func (s *Session) magicHelp(c call) kernel.Result {
	var b strings.Builder
	b.WriteString("A cell holds Go: imports, declarations and statements in any order. The value of its last expression is shown, ")
	b.WriteString("unless a semicolon ends it. Names keep their meaning in later cells and may be declared again.\n\n")
	fmt.Fprintf(&b, "Packages that need no import: %s. Others of the standard library are there to import.\n\n",
		strings.Join(slices.Sorted(maps.Keys(preloaded)), ", "))
	b.WriteString("name? shows what a name means, name?? its source too.\n\n")
	for _, m := range magics {
		fmt.Fprintf(&b, "    %-20s %s\n", strings.TrimSpace(m.name+" "+m.args), m.help)
	}
	text := display.Text(b.String())
	return kernel.Result{Value: &text}
}

func (s *Session) magicVars(c call) kernel.Result {
	var vars []*binding
	for _, b := range s.current() {
		if b.kind == kindVar {
			vars = append(vars, b)
		}
	}
	if len(vars) == 0 {
		text := display.Text("there are no variables yet")
		return kernel.Result{Value: &text}
	}
	slices.SortFunc(vars, func(a, b *binding) int { return cmp.Compare(a.name, b.name) })
	// the types' objects are those of one run of the checker: of an empty cell
	x := s.newCell(c.ctx, kernel.Cell{Count: c.in.Count}, c.out)
	if err := s.check(x); err != nil {
		return s.finish(x, err)
	}
	var rows [][]any
	for _, b := range vars {
		value := ""
		if v, ok := s.engine.Slot(b.slot); ok {
			if o := x.pkg.Scope().Lookup(b.check); o != nil {
				value, _ = s.show(x, v, o.Type()).Data["text/plain"].(string)
			}
		}
		rows = append(rows, []any{b.name, b.typ, short(value)})
	}
	t := display.Of(display.Table([]string{"name", "type", "value"}, rows))
	return kernel.Result{Value: &t}
}

// short is the start of a text, on one line.
func short(text string) string {
	const width = 60
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return text
}

// magicMatches are the magics, for completion.
func magicMatches() []kernel.Match {
	var list []kernel.Match
	for _, m := range magics {
		list = append(list, kernel.Match{Text: m.name, Type: "magic", Signature: m.args})
	}
	return list
}

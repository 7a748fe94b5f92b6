package interp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"halfnote/display"
	"halfnote/kernel"
)

func (s *Session) magicHelp(c call) kernel.Result {
	var b strings.Builder
	b.WriteString("A cell holds Go: imports, declarations and statements in any order. The value of its last expression is shown, ")
	b.WriteString("unless a semicolon ends it. Names keep their meaning in later cells and may be declared again.\n\n")
	fmt.Fprintf(&b, "Packages that need no import: %s. Others of the standard library are there to import.\n\n",
		strings.Join(slices.Sorted(maps.Keys(preloaded)), ", "))
	b.WriteString("name? shows what a name means, name?? its source too.\n\n")
	b.WriteString(listMagics())
	b.WriteString("\nOne that begins with %% stands on the first line of a cell and applies to the rest of it, the others on lines of their own between statements.\n")
	return shown(b.String())
}

func (s *Session) magicList(c call) kernel.Result { return shown(listMagics()) }

func listMagics() string {
	var b strings.Builder
	for _, m := range magics {
		usage := strings.TrimSpace(m.name + " " + m.args)
		if m.name == "!" {
			usage = m.name + m.args
		}
		fmt.Fprintf(&b, "    %-36s %s\n", usage, m.help)
	}
	return b.String()
}

// shown is the result of a magic that shows a text.
func shown(text string) kernel.Result {
	b := display.Text(text)
	return kernel.Result{Value: &b}
}

func (s *Session) magicVars(c call) kernel.Result {
	var vars []*binding
	for _, b := range s.current() {
		if b.kind == kindVar {
			vars = append(vars, b)
		}
	}
	if len(vars) == 0 {
		return shown("there are no variables yet")
	}
	slices.SortFunc(vars, func(a, b *binding) int { return cmp.Compare(a.name, b.name) })
	// the types' objects are those of one run of the checker: of an empty cell
	x := s.newCell(c.ctx, kernel.Cell{Count: c.in.Count}, c.out)
	x.whole = true
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

// magicInfo is NAME? as a magic.
func (s *Session) magicInfo(c call) kernel.Result {
	name := strings.TrimRight(c.args, "?")
	if name == "" {
		return s.wrong(c, "%%pinfo: want a name")
	}
	b, known := s.Inspect(name, utf8.RuneCountInString(name), 0)
	if !known {
		return s.wrong(c, "%%pinfo: nothing is known of %q here", name)
	}
	return kernel.Result{Payload: []kernel.Payload{{Source: "page", Data: b}}}
}

// magicTheme sets the theme of charts that are shown from now on.
func (s *Session) magicTheme(c call) kernel.Result {
	switch {
	case c.args == "" && s.screen.Theme() == "":
		return shown("light, as charts are without %theme")
	case c.args == "":
		return shown(s.screen.Theme())
	case !slices.Contains(display.Themes[:], c.args):
		return s.wrong(c, "%%theme %s: want %s", c.args, strings.Join(display.Themes[:], ", "))
	}
	s.screen.SetTheme(c.args)
	return kernel.Result{}
}

// magicHistory prints what cells of this session were.
func (s *Session) magicHistory(c call) kernel.Result {
	if c.args != "" && c.args != "-n" {
		return s.wrong(c, "%%history %s: want nothing or -n", c.args)
	}
	s.mu.Lock()
	var b strings.Builder
	for _, n := range s.history {
		if c.args == "-n" {
			fmt.Fprintf(&b, "%d: ", n)
		}
		b.WriteString(strings.TrimRight(s.code[n], "\n") + "\n")
	}
	s.mu.Unlock()
	c.out.Stdout().Write([]byte(b.String()))
	return kernel.Result{}
}

func (s *Session) magicReset(c call) kernel.Result {
	if c.args == "out" {
		s.dropOutputs(func(keptValue) bool { return true })
		s.outs.last = nil
		return kernel.Result{}
	}
	s.live.StopAll()
	defer trim(0)
	if err := s.reset(); err != nil {
		return kernel.Result{Err: &kernel.Error{Name: "InternalError", Value: err.Error()}}
	}
	return kernel.Result{}
}

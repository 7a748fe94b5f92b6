package interp

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/kernel"
)

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

// shown returns the result of a magic that shows a text.
func shown(text string) kernel.Result {
	b := display.Text(text)
	return kernel.Result{Value: &b}
}

func (s *Session) magicVars(c call) kernel.Result {
	vars := s.variables()
	if len(vars) == 0 {
		return shown("there are no variables yet")
	}
	var rows [][]any
	for _, v := range vars {
		rows = append(rows, []any{v.Name, v.Type, short(v.Value)})
	}
	t := display.Of(display.Table([]string{"name", "type", "value"}, rows))
	return kernel.Result{Value: &t}
}

// short returns the beginning of a text, on one line.
func short(text string) string {
	return cut(strings.Join(strings.Fields(text), " "), 60)
}

// magicInfo implements %pinfo, the magic form of NAME?.
func (s *Session) magicInfo(c call) kernel.Result {
	name := strings.TrimRight(c.args, "?")
	if name == "" {
		return s.wrong(c, "%%pinfo: want a name")
	}
	e, known := s.helpFor(name, 0)
	if !known {
		return s.wrong(c, "%%pinfo: %q is not defined", name)
	}
	return kernel.Result{Payload: []kernel.Payload{{Source: "page", Data: e.bundle()}}}
}

// magicTheme sets the theme of charts that are shown later.
func (s *Session) magicTheme(c call) kernel.Result {
	switch {
	case c.args == "" && s.screen.Theme() == "":
		return shown("light (default)")
	case c.args == "":
		return shown(s.screen.Theme())
	case !slices.Contains(display.Themes[:], c.args):
		return s.wrong(c, "%%theme %s: want %s", c.args, strings.Join(display.Themes[:], ", "))
	}
	s.screen.SetTheme(c.args)
	return kernel.Result{}
}

// magicHistory prints the sources of the cells so far.
func (s *Session) magicHistory(c call) kernel.Result {
	if c.args != "" && c.args != "-n" {
		return s.wrong(c, "%%history %s: want no argument or -n", c.args)
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

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
		line, _, _ := strings.Cut(m.help, "\n")
		fmt.Fprintf(&b, "    %-36s %s\n", usage, line)
	}
	return b.String()
}

// shown returns the result of a magic that shows a text.
func shown(text string) kernel.Result {
	b := display.Text(text)
	return kernel.Result{Value: &b}
}

// short returns the beginning of a text, on one line.
func short(text string) string {
	return cut(strings.Join(strings.Fields(text), " "), 60)
}

func (s *Session) magicInfo(c call) kernel.Result { return s.info(c, "%pinfo", 0) }

func (s *Session) magicInfo2(c call) kernel.Result { return s.info(c, "%pinfo2", 1) }

// info implements the magic forms of NAME? and, with detail 1, of NAME??.
func (s *Session) info(c call, magic string, detail int) kernel.Result {
	name := strings.TrimRight(c.args, "?")
	if name == "" {
		return s.wrong(c, "%s: want a name", magic)
	}
	if strings.Contains(name, "*") {
		return kernel.Result{Payload: []kernel.Payload{{Source: "page", Data: s.search(name)}}}
	}
	e, known := s.helpFor(name, detail)
	if !known {
		return s.wrong(c, "%q is not defined", name)
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

// magicCharts sets the form of charts that are shown later.
func (s *Session) magicCharts(c call) kernel.Result {
	switch {
	case c.args == "" && s.screen.Form() == "":
		return shown("picture (default)")
	case c.args == "":
		return shown(s.screen.Form())
	case !slices.Contains(display.Forms[:], c.args):
		return s.wrong(c, "%%charts %s: want %s", c.args, strings.Join(display.Forms[:], ", "))
	}
	s.screen.SetForm(c.args)
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

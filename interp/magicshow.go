package interp

import (
	"strings"

	"halfnote/display"
	"halfnote/kernel"
)

func (s *Session) magicHTML(c call) kernel.Result { return s.displayed(c, "%%html", display.HTML) }

func (s *Session) magicLaTeX(c call) kernel.Result { return s.displayed(c, "%%latex", display.LaTeX) }

func (s *Session) magicMarkdown(c call) kernel.Result {
	return s.displayed(c, "%%markdown", display.Markdown)
}

// displayed shows the lines below a magic.
func (s *Session) displayed(c call, name string, bundle func(string) display.Bundle) kernel.Result {
	if c.args != "" {
		return s.wrong(c, "%s %s: want the text on the lines below, and nothing after the magic", name, c.args)
	}
	c.out.Display(bundle(strings.TrimSpace(c.body)))
	return kernel.Result{}
}

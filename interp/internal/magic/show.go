package magic

import (
	"strings"

	"halfnote/display"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%html", Takes: Text, Run: runHTML,
		Help: "shows the cell as HTML",
	})
	add(Magic{
		Name: "%%latex", Takes: Text, Run: runLaTeX,
		Help: "shows the cell as mathematics in LaTeX",
	})
	add(Magic{
		Name: "%%markdown", Takes: Text, Run: runMarkdown,
		Help: "shows the cell as Markdown",
	})
}

func runHTML(c *Call) eval.Result { return c.displayed("%%html", display.HTML) }

func runLaTeX(c *Call) eval.Result { return c.displayed("%%latex", display.LaTeX) }

func runMarkdown(c *Call) eval.Result {
	return c.displayed("%%markdown", display.Markdown)
}

// displayed shows the lines below a magic.
func (c *Call) displayed(name string, bundle func(string) display.Bundle) eval.Result {
	if c.Args != "" {
		return c.wrong("%s %s: want the text on the lines below, and nothing after the magic", name, c.Args)
	}
	c.Out.Display(bundle(strings.TrimSpace(c.Body)))
	return eval.Result{}
}

package magic

import (
	"strings"
	"unicode/utf8"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%pinfo", Args: "NAME", Takes: Go, Run: runInfo,
		Help: "shows what a name means, like NAME?",
	})
	add(Magic{
		Name: "%pinfo2", Args: "NAME", Takes: Go, Run: runInfo2,
		Help: "shows what a name means and its source, like NAME??",
	})
}

func runInfo(c *Call) eval.Result { return c.info("%pinfo", 0) }

func runInfo2(c *Call) eval.Result { return c.info("%pinfo2", 1) }

// info implements the magic forms of NAME? and, with detail 1, of NAME??.
func (c *Call) info(magic string, detail int) eval.Result {
	name := strings.TrimRight(c.Args, "?")
	if name == "" {
		return c.wrong("%s: want a name", magic)
	}
	if strings.Contains(name, "*") {
		return paged(assist.Search(c.Seen(), name))
	}
	b, known := c.inspect(name, detail)
	if !known {
		return c.wrong("%q is not defined", name)
	}
	return paged(b)
}

// inspect explains a name.
func (c *Call) inspect(name string, detail int) (display.Bundle, bool) {
	return assist.Inspect(c.Seen(), name, utf8.RuneCountInString(name), detail)
}

package magic

import (
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%charts", Args: "[interactive|picture]", Run: runCharts,
		Help: "shows or sets the form of charts; interactive ones show values under the pointer, and zoom",
	})
	add(Magic{
		Name: "%theme", Args: "[light|dark|auto]", Run: runTheme,
		Help: "shows or sets the colours of charts; auto follows the reader's system",
	})
}

// runTheme sets the theme of charts that are shown later.
func runTheme(c *Call) eval.Result {
	switch {
	case c.Args == "" && c.Screen.Theme() == "":
		return shown("light (default)")
	case c.Args == "":
		return shown(c.Screen.Theme())
	case !slices.Contains(display.Themes[:], c.Args):
		return c.wrong("%%theme %s: want %s", c.Args, strings.Join(display.Themes[:], ", "))
	}
	c.Screen.SetTheme(c.Args)
	return eval.Result{}
}

// runCharts sets the form of charts that are shown later.
func runCharts(c *Call) eval.Result {
	switch {
	case c.Args == "" && c.Screen.Form() == "":
		return shown("picture (default)")
	case c.Args == "":
		return shown(c.Screen.Form())
	case !slices.Contains(display.Forms[:], c.Args):
		return c.wrong("%%charts %s: want %s", c.Args, strings.Join(display.Forms[:], ", "))
	}
	c.Screen.SetForm(c.Args)
	return eval.Result{}
}

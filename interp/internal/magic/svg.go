package magic

import (
	"halfnote/display"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%svg", Takes: Text, Run: runSVG,
		Help: "shows the cell as an SVG picture",
	})
}

func runSVG(c *Call) eval.Result { return c.displayed("%%svg", display.SVG) }

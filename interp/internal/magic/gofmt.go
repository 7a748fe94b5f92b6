package magic

import (
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%gofmt", Takes: Go, Run: runGofmt,
		Help: "formats the cell as gofmt does, and removes this line",
	})
}

// runGofmt replaces the cell with its formatted text.
func runGofmt(c *Call) eval.Result {
	if c.Args != "" {
		return c.wrong("%%%%gofmt %s: want the code on the lines below, and nothing after the magic", c.Args)
	}
	code := strings.TrimLeft(c.Body, "\n")
	text, err := Format(code)
	if err != nil {
		if _, failed := c.Check(c.Cell, c.Out); failed != nil {
			return eval.Result{Err: failed} // the mistake at its place
		}
		return c.wrong("%%%%gofmt: the cell does not parse: %v", err)
	}
	return eval.Result{Payload: []eval.Payload{{Source: "set_next_input", Text: text, Replace: true}}}
}

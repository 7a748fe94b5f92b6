package magic

import (
	"fmt"
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%history", Args: "[-n] [CELLS]", Run: runHistory,
		Help: "shows the cells so far, or those listed, such as 2-4 7; -n adds their numbers",
	})
}

// runHistory prints the sources of cells.
func runHistory(c *Call) eval.Result {
	which, numbers := strings.CutPrefix(c.Args+" ", "-n ")
	cells, err := c.History.Select(which, c.Cell.Count)
	if err != nil {
		return c.wrong("%%history %s: %v", c.Args, err)
	}
	var b strings.Builder
	for _, n := range cells {
		if numbers {
			fmt.Fprintf(&b, "%d: ", n)
		}
		b.WriteString(c.History.Text(n) + "\n")
	}
	c.Out.Stdout().Write([]byte(b.String()))
	return eval.Result{}
}

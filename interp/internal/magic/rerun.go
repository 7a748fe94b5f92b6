package magic

import (
	"fmt"
	"slices"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%rerun", Args: "[CELLS]", Run: runRerun,
		Help: "runs earlier cells again\n" +
			"CELLS is a list such as 2-4 7. Without it, it is the previous cell. A cell that fails ends the run.",
	})
}

// runRerun runs the sources of cells in place of the magic, and shows their values.
func runRerun(c *Call) eval.Result {
	cells, err := c.History.Select(c.Args, c.Cell.Count-1)
	switch {
	case err != nil:
		return c.wrong("%%rerun %s: %v", c.Args, err)
	case len(cells) == 0:
		return c.wrong("%%rerun: there is no earlier cell")
	case c.Args == "":
		cells = cells[len(cells)-1:]
	}
	var last eval.Result
	for i, n := range cells {
		last = c.again(n)
		if last.Err != nil {
			return last
		}
		if i < len(cells)-1 && last.Value != nil {
			c.Out.Display(*last.Value)
		}
	}
	return last
}

// again runs the source of a cell.
func (c *Call) again(n int) eval.Result {
	name := fmt.Sprintf("In[%d]", n)
	if slices.Contains(c.running, name) {
		return c.wrong("%%rerun %s: %s runs itself", c.Args, name)
	}
	c.running = append(c.running, name)
	defer func() { c.running = c.running[:len(c.running)-1] }()
	in := eval.Cell{Code: c.History.Text(n), Silent: true}
	in.Count = c.History.Begin(in.Code, 0, true)
	return c.Eval(c.Ctx, in, c.Out)
}

package magic

import (
	"slices"
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%recall", Args: "[CELLS|TEXT]", Run: runRecall,
		Help: "puts earlier cells into a new cell\n" +
			"CELLS is a list such as 2-4 7, TEXT a text that the cell contains. Without either, it is the previous cell.",
	})
}

// runRecall puts the sources of cells into a new cell.
func runRecall(c *Call) eval.Result {
	before := c.Cell.Count - 1
	cells, err := c.History.Select(c.Args, before)
	switch {
	case err != nil: // not numbers: a text
		all, _ := c.History.Select("", before)
		cells = nil
		for _, n := range slices.Backward(all) {
			if text := c.History.Text(n); strings.Contains(text, c.Args) && !strings.HasPrefix(text, "%recall") {
				cells = []int{n}
				break
			}
		}
		if cells == nil {
			return c.wrong("%%recall %s: no earlier cell contains this text, and it is not a list of cell numbers such as 2-4 7", c.Args)
		}
	case c.Args == "" && len(cells) == 0:
		return c.wrong("%%recall: there is no earlier cell")
	case c.Args == "":
		cells = cells[len(cells)-1:]
	}
	var texts []string
	for _, n := range cells {
		texts = append(texts, c.History.Text(n))
	}
	return eval.Result{Payload: []eval.Payload{{Source: "set_next_input", Text: strings.Join(texts, "\n\n")}}}
}

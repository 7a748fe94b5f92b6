package magic

import (
	"strconv"
	"strings"

	"halfnote/display"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%ranks", Args: "[RANK]", Run: runRanks,
		Help: "lists the ranks of the kernel, or shows the output of one in the cell before\n" +
			"The kernel that `halfnote install --ranks 4` adds runs each cell in 4 processes, the ranks of an MPI program, and so does `halfnote run --ranks 4`. " +
			"The output of a cell is that of rank 0, followed by the text of the others. %ranks 1 shows all of rank 1, with charts.",
	})
}

// runRanks lists the ranks or shows the output of one.
func runRanks(c *Call) eval.Result {
	ranks := c.Ranks()
	if ranks == nil {
		return c.wrong("%%ranks: this kernel has one rank; `halfnote install --ranks 2` adds a kernel with two")
	}
	list := ranks.List()
	if list == nil { // rank 0 answers
		return eval.Result{}
	}
	if c.Args == "" {
		var rows [][]any
		for _, r := range list {
			rows = append(rows, []any{r.Rank, r.Host, r.Pid, r.Output})
		}
		return result(display.Of(display.Table([]string{"rank", "host", "process", "output of the cell before"}, rows)))
	}
	n, err := strconv.Atoi(strings.TrimSpace(c.Args))
	if err != nil {
		return c.wrong("%%ranks %s: want the number of a rank, from 0 to %d", c.Args, len(list)-1)
	}
	outputs, err := ranks.Outputs(n)
	if err != nil {
		return c.wrong("%%ranks %s: %v", c.Args, err)
	}
	showOutputs(c.Out, outputs)
	return eval.Result{}
}

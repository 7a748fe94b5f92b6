package magic

import (
	"context"
	"fmt"
	"time"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%timeout", Args: "300ms", Takes: Go, Runs: true, Run: runTimeout,
		Help: "runs the cell and interrupts it after that time",
	})
}

func runTimeout(c *Call) eval.Result {
	d, err := time.ParseDuration(c.Args)
	if err != nil || d <= 0 {
		return c.wrong("%%%%timeout %s: want a time such as 300ms or 2s", c.Args)
	}
	ctx, cancel := context.WithTimeoutCause(c.Ctx, d, TimeLimit(d))
	defer cancel()
	return c.Eval(ctx, c.Cell, c.Out)
}

// TimeLimit is the limit of a %%timeout that has stopped a cell.
type TimeLimit time.Duration

func (l TimeLimit) Error() string {
	if d := time.Duration(l); d < time.Second {
		return fmt.Sprintf("stopped after %v ms (%%%%timeout)", d.Seconds()*1e3)
	}
	return fmt.Sprintf("stopped after %v s (%%%%timeout)", time.Duration(l).Seconds())
}

package magic

import (
	"fmt"
	"time"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%time", Takes: Go, Runs: true, Run: runTime,
		Help: "runs the cell and prints how long it took",
	})
	add(Magic{
		Name: "%time", Args: "STATEMENT", Takes: Go, Runs: true, Run: runTime,
		Help: "runs a statement and prints how long it took",
	})
}

func runTime(c *Call) eval.Result {
	start := time.Now()
	r := c.Eval(c.Ctx, c.Cell, c.Out)
	if r.Err == nil {
		fmt.Fprintf(c.Out.Stdout(), "time: %v\n", time.Since(start).Round(time.Microsecond))
	}
	return r
}

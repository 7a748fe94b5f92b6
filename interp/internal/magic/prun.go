package magic

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strings"

	"github.com/google/pprof/profile"

	"halfnote/display"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%prun", Takes: Go, Runs: true, Run: runProfile,
		Help: "runs the cell under the CPU profiler and shows its slowest lines and a flame graph",
	})
	add(Magic{
		Name: "%prun", Args: "STATEMENT", Takes: Go, Runs: true, Run: runProfile,
		Help: "runs a statement under the CPU profiler and shows the slowest lines and a flame graph\n" +
			"Functions of earlier cells count line by line too. Interpreted lines take longer than without the profiler.",
	})
}

// runProfile runs code under the CPU profiler and shows the lines that took most of the time,
// and a flame graph.
func runProfile(c *Call) eval.Result {
	if strings.TrimSpace(c.Cell.Code) == "" {
		return c.wrong("%%prun: want a statement, or %%%%prun above a cell")
	}
	p := newProfiler(c.Live.Depth, c.Live.ID)
	var samples bytes.Buffer
	if err := pprof.StartCPUProfile(&samples); err != nil {
		return c.wrong("%%prun: %v", err)
	}
	c.Debugger.Observe(p)
	r := c.Eval(c.Ctx, c.Cell, c.Out)
	c.Debugger.Observe(nil)
	pprof.StopCPUProfile()
	c.withoutStops()
	prof, err := profile.ParseData(samples.Bytes())
	if err != nil {
		return c.wrong("%%prun: %v", err)
	}
	u := usageOf(p, prof, c.RunsCells)
	if u.sum == 0 {
		if r.Err == nil {
			fmt.Fprintf(c.Out.Stdout(), "%%prun: the code ended before the first sample, after 10 ms of work; put it into a loop\n")
		}
		return r
	}
	c.Out.Display(display.Of(u.table()))
	c.Out.Display(display.SVG(flameSVG(u.flame, u.sentence())))
	return r
}

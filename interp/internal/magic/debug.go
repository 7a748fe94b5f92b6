package magic

import (
	"context"
	"fmt"
	"slices"

	"halfnote/display"
	"halfnote/interp/internal/debug"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%debug", Takes: Go, Runs: true, Run: runDebugCell,
		Help: "runs the cell and, if it panics, shows the variables of every active call",
	})
	add(Magic{
		Name: "%debug", Run: runDebug,
		Help: "after a panic, runs that cell again and shows the variables of every call that was active at the panic",
	})
	add(Magic{
		Name: "%pdb", Args: "[on|off]", Run: runPdb,
		Help: "with on, shows the variables of every active call whenever a cell panics, as %%debug does\n" +
			"Cells then run more slowly, since they are compiled with stops. Without an argument it switches between on and off.",
	})
}

// runPdb sets whether the variables of a panic are shown.
func runPdb(c *Call) eval.Result {
	states := map[string]bool{"": !c.pdb, "on": true, "1": true, "off": false, "0": false}
	on, known := states[c.Args]
	if !known {
		return c.wrong("%%pdb %s: want %%pdb on or %%pdb off", c.Args)
	}
	if c.pdb = on; !on {
		return shown("off: %debug shows the variables of the last panic")
	}
	return shown("on: a panic shows the variables of every active call")
}

// examined runs a cell, and shows the variables of its calls if it panics.
func (m *Magics) examined(ctx context.Context, in eval.Cell, out eval.Output) eval.Result {
	c := &Call{Magics: m, Ctx: ctx, Cell: in, Out: out}
	r, post := c.recorded(m.Run)
	if post.Text != "" {
		out.Display(display.Of(postMortemTable(post)))
	}
	return r
}

// runDebugCell runs the cell. If it panics, the variables of its calls are shown.
func runDebugCell(c *Call) eval.Result {
	r, post := c.postMortem()
	if post.Text != "" {
		c.Out.Display(display.Of(postMortemTable(post)))
	}
	return r
}

// runDebug runs the last cell that panicked again and shows the variables of its calls.
func runDebug(c *Call) eval.Result {
	if c.Args != "" {
		return c.wrong("%%debug %s: want nothing after the magic; %%%%debug applies to the cell below it", c.Args)
	}
	for _, e := range slices.Backward(c.History.Ran()) {
		if e.Failed != "Panic" {
			continue
		}
		fmt.Fprintf(c.Out.Stdout(), "running %s again\n", syntax.Label(e.Count))
		c.Cell = eval.Cell{Code: e.Code, Count: e.Count}
		r, post := c.postMortem()
		if post.Text == "" && r.Err == nil {
			fmt.Fprintln(c.Out.Stdout(), "it did not panic")
			return r
		}
		if post.Text == "" {
			return r
		}
		fmt.Fprintln(c.Out.Stdout(), "panic: "+post.Text)
		c.Out.Display(display.Of(postMortemTable(post)))
		return eval.Result{}
	}
	return c.wrong("%%debug: want a cell that has panicked; %%%%debug above a cell shows its variables when it does")
}

// postMortem runs a cell with stops, which know its variables, and returns what a panic left.
func (c *Call) postMortem() (eval.Result, *debug.PostMortem) { return c.recorded(c.Eval) }

// recorded runs a cell by the function run, as postMortem does.
func (c *Call) recorded(run func(context.Context, eval.Cell, eval.Output) eval.Result) (eval.Result, *debug.PostMortem) {
	post := &debug.PostMortem{}
	c.Debugger.Examine(post)
	r := run(c.Ctx, c.Cell, c.Out)
	c.Debugger.Examine(nil)
	c.withoutStops()
	return r, post
}

// withoutStops compiles the functions that have stops for a profile or for %debug without them, unless a
// front end debugs.
func (c *Call) withoutStops() {
	c.Debugger.Leave(func() {
		in := c.Cell
		in.Code = ""
		if e, err := c.Evaluate(context.WithoutCancel(c.Ctx), in, live.Nowhere{}); err == nil {
			e.Close()
		}
	})
}

// postMortemTable lists the variables of the calls.
func postMortemTable(p *debug.PostMortem) display.Bundle {
	var rows [][]any
	for _, c := range p.Calls {
		where := fmt.Sprintf("%s, line %d", syntax.Label(c.Cell), c.Line)
		switch {
		case c.Literal:
			where += ", in a function literal"
		case !c.Outer:
			where += ", in " + c.Function
		}
		if len(c.Vars) == 0 {
			rows = append(rows, []any{where})
		}
		for _, v := range c.Vars {
			rows = append(rows, []any{where, v.Name, v.Type, short(v.Value)})
			where = ""
		}
	}
	return display.Table([]string{"call", "variable", "type", "value"}, rows)
}

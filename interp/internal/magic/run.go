package magic

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/files"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%run", Args: "FILE", Run: runRun,
		Help: "runs the code cells of a notebook, or a Go file, as if they were in this cell\n" +
			"Their output is displayed, but not the values of their last expressions. A Go program also runs main.",
	})
}

// runRun runs the cells of a file as if they were in place of the magic. As in IPython,
// the values of their last expressions are not shown.
func runRun(c *Call) eval.Result {
	if c.Args == "" {
		return c.wrong("%%run: want the name of a notebook or of a Go file")
	}
	file := files.Path(strings.Trim(c.Args, `"'`))
	cells, err := files.Cells(file)
	if err != nil {
		return c.wrong("%%run %s: %v", c.Args, err)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return c.wrong("%%run %s: %v", c.Args, err)
	}
	if slices.Contains(c.running, path) {
		return c.wrong("%%run %s: the file runs itself", c.Args)
	}
	c.running = append(c.running, path)
	defer func() { c.running = c.running[:len(c.running)-1] }()
	for i, code := range cells {
		in := eval.Cell{Code: code, Silent: true}
		in.Count = c.History.Begin(code, 0, true)
		if r := c.Eval(c.Ctx, in, c.Out); r.Err != nil {
			where := file
			if strings.HasSuffix(file, ".ipynb") {
				where = fmt.Sprintf("%s, code cell %d", file, i+1)
			}
			r.Err.Traceback = append([]string{ansi.Bold(where) + ":"}, r.Err.Traceback...)
			return eval.Result{Err: r.Err}
		}
	}
	return eval.Result{}
}

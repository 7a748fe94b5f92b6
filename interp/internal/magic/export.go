package magic

import (
	"errors"
	"fmt"
	"strings"

	"halfnote/internal/save"
	"halfnote/interp/internal/export"
	"halfnote/interp/internal/files"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%export", Args: "FILE", Run: runExport,
		Help: "writes the cells so far as a Go program",
	})
}

// runExport writes the cells that have run to a file as a program.
func runExport(c *Call) eval.Result {
	file := files.Path(c.Args)
	if !strings.HasSuffix(file, ".go") {
		return c.wrong("%%export %s: want a file name that ends in .go", c.Args)
	}
	src, err := export.Program(c.History.Ran(), Runs)
	if len(src) > 0 {
		err = errors.Join(err, save.Text(file, src))
	}
	if err != nil {
		return c.wrong("%%export: %v", strings.TrimPrefix(err.Error(), "interp: export: "))
	}
	fmt.Fprintf(c.Out.Stdout(), "writing %s\n%s", file, export.GoModHint(file, src, c.Release))
	return eval.Result{}
}

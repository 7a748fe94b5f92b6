package magic

import (
	"path/filepath"
	"strings"

	"halfnote/interp/internal/files"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%save", Args: "[-a] FILE [CELLS]", Run: runSave,
		Help: "writes cells to a file, for %run and %load; -a appends to it\n" +
			"CELLS is a list such as 2-4 7; without it, all cells so far are written. %export writes a Go program.",
	})
}

// runSave writes the sources of cells to a file that %run and %load read.
func runSave(c *Call) eval.Result {
	args, added := strings.CutPrefix(c.Args, "-a ")
	words := strings.Fields(args)
	if len(words) == 0 || words[0] == "-a" {
		return c.wrong("%%save: want a file name, and the numbers of cells if not all, such as %%save steps.go 2-4 7")
	}
	file := files.Path(words[0])
	if filepath.Ext(file) == "" {
		file += ".go"
	}
	cells, err := c.History.Select(strings.Join(words[1:], " "), c.Cell.Count-1)
	if err != nil {
		return c.wrong("%%save %s: %v", c.Args, err)
	}
	var texts []string
	for _, n := range cells {
		texts = append(texts, c.History.Text(n))
	}
	text := strings.Join(texts, "\n\n")
	if strings.HasSuffix(file, ".go") && !added {
		text = savedHead + text
	}
	return c.writeFile("%save", file, text, added)
}

// savedHead keeps the go command from reading a file of cells, which is not a Go file, in a
// folder with a package.
const savedHead = "//go:build ignore\n\n"

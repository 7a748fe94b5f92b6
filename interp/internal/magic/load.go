package magic

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"halfnote/internal/text"
	"halfnote/interp/internal/files"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%load", Args: "FILE [N]", Run: runLoad,
		Help: "loads a file, or code cell N of a notebook, into the cell",
	})
}

// runLoad replaces the cell with the contents of a file, below a comment that names
// the source.
func runLoad(c *Call) eval.Result {
	file, cell := c.Args, 0
	if name, last, ok := cutLastWord(file); ok && strings.HasSuffix(name, ".ipynb") {
		n, err := strconv.Atoi(last)
		if err != nil || n < 1 {
			return c.wrong("%%load %s: want the number of a code cell, from 1, after the notebook's name", c.Args)
		}
		file, cell = name, n
	}
	if file == "" {
		return c.wrong("%%load: want a file name")
	}
	data, err := os.ReadFile(files.Path(file))
	if err != nil {
		return c.wrong("%%load: %v", err)
	}
	text := string(data)
	if strings.HasSuffix(file, ".ipynb") {
		if text, err = codeCell(data, cell); err != nil {
			return c.wrong("%%load %s: %v", c.Args, err)
		}
	}
	return eval.Result{Payload: []eval.Payload{{
		Source: "set_next_input", Text: "// %load " + c.Args + "\n" + strings.TrimRight(text, "\n"), Replace: true,
	}}}
}

func cutLastWord(text string) (before, last string, ok bool) {
	i := strings.LastIndexAny(text, " \t")
	if i < 0 {
		return text, "", false
	}
	return strings.TrimSpace(text[:i]), text[i+1:], true
}

// codeCell returns the source of the n-th code cell of a notebook of format 4.
func codeCell(notebook []byte, n int) (string, error) {
	cells, err := files.NotebookCells(notebook)
	if err != nil {
		return "", err
	}
	if n < 1 || n > len(cells) {
		return "", fmt.Errorf("the notebook has %s; want the number of a cell after its name", text.Count(len(cells), "code cell"))
	}
	return cells[n-1], nil
}

package magic

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"halfnote/internal/receipt"
	"halfnote/internal/text"
	"halfnote/interp/internal/files"
	"halfnote/interp/internal/hashes"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: receipt.Magic, Args: "NOTEBOOK", Run: runReceipt,
		Help: "compares what ran so far with the receipt of a notebook\n" +
			"It compares outputs, and the tensors that variables hold. NOTEBOOK is a file with a receipt, such as a lesson. The answer names cells that differ from it and cells that are yours. halfnote verify runs the whole notebook and compares each operation.",
	})
}

func runReceipt(c *Call) eval.Result {
	path := strings.Trim(c.Args, `"'`)
	if path == "" {
		return c.wrong("%%receipt: want the file of a notebook with a receipt, such as %%receipt lesson.ipynb")
	}
	file, err := os.ReadFile(files.Path(path))
	if err != nil {
		return shown(fmt.Sprintf("cannot compare: %v; want %%receipt with the file of this notebook", err))
	}
	book, err := receipt.ReadBook(file)
	if err != nil {
		return shown(fmt.Sprintf("cannot compare with %s: %v", path, err))
	}
	if c.Lessons != nil { // a copy for learners has no outputs
		same, _ := fs.Glob(c.Lessons, "*/"+filepath.Base(path))
		translated, _ := fs.Glob(c.Lessons, "*/*/"+filepath.Base(path))
		for _, name := range append(same, translated...) {
			if lesson, err := fs.ReadFile(c.Lessons, name); err == nil {
				book.Show(lesson)
			}
		}
	}
	kept := c.Outputs()
	if kept == nil {
		return c.wrong("%%receipt: this kernel keeps no outputs of cells to compare")
	}
	s := receipt.Session{Release: c.Release, Tensor: hashes.Look(c.Values())}
	for _, cell := range c.History.Ran() {
		outputs, err := kept.Outputs(0, cell.Count)
		if err != nil {
			return c.wrong("%%receipt: %v", err)
		}
		s.Runs = append(s.Runs, receipt.Run{Count: cell.Count, Source: cell.Code, Outputs: covered(outputs)})
	}
	own, _ := c.History.Source(c.Cell.Count)
	s.Runs = append(s.Runs, receipt.Run{Count: c.Cell.Count, Source: own})
	return shown(book.Compare(s))
}

// covered returns what a receipt covers of outputs.
func covered(list []eval.KeptOutput) (out []receipt.Output) {
	for _, o := range list {
		switch {
		case o.Stream != "":
			out = append(out, receipt.Output{Name: o.Stream, Text: text.Overwritten(o.Text)})
		case o.Err != nil:
			out = append(out, receipt.Output{Name: "error", Text: o.Err.Name + ": " + o.Err.Value})
		default:
			plain, _ := o.Bundle.Data["text/plain"].(string)
			out = append(out, receipt.Output{Text: plain})
		}
	}
	return out
}

package notebook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// skipOnResume is the tag of a cell that does not run again when a run is resumed.
const skipOnResume = "skip-on-resume"

// resume takes over the outputs of the cells that ran before in an earlier run, whose notebook is in
// the file out: those before the first cell that did not run to its end without an error, or whose
// source is different now. It returns their number, which is 0 without that file, and the number of all
// cells that run.
func (nb *Notebook) resume(out string) (before, all int, err error) {
	list := nb.CodeCells()
	old, err := ReadFile(out)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, len(list), nil
	} else if err != nil {
		return 0, 0, fmt.Errorf("resume: %w", err)
	}
	ran := old.CodeCells()
	for before < len(list) && before < len(ran) && ran[before].Source == list[before].Source && ran[before].completed() {
		list[before].Outputs, list[before].Count = ran[before].Outputs, ran[before].Count
		before++
	}
	if before == len(list) {
		*nb = *old
	}
	return before, len(list), nil
}

// completed reports whether a cell of an executed notebook ran to its end without an error, or
// with one that it is meant to have.
func (c *Cell) completed() bool {
	if c.Count == 0 {
		return false
	}
	for _, o := range c.Outputs {
		if o.Type == Error && !c.HasTag("raises-exception") {
			return false
		}
	}
	return true
}

// sameFile reports whether two paths name one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

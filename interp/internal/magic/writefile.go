package magic

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"halfnote/internal/save"
	"halfnote/interp/internal/files"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%writefile", Args: "[-a] FILE", Takes: Text, Run: runWritefile,
		Help: "writes the cell to a file; -a appends to it",
	})
}

// runWritefile writes the cell's body to a file.
func runWritefile(c *Call) eval.Result {
	file, added := strings.CutPrefix(c.Args, "-a ")
	file = files.Path(file)
	if file == "" || file == "-a" {
		return c.wrong("%%%%writefile: want a file name")
	}
	return c.writeFile("%%writefile", file, c.Body, added)
}

// writeFile writes or appends a text to a file, for a magic, and says what it did.
func (c *Call) writeFile(magic, file, text string, added bool) eval.Result {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	what, write := "writing", save.Text
	if info, err := os.Stat(file); err == nil {
		what = "overwriting"
		if added && info.Mode().IsRegular() {
			what, write = "appending to", appendText
		}
	}
	if err := write(file, []byte(text)); err != nil {
		return c.wrong("%s: %v", magic, err)
	}
	fmt.Fprintln(c.Out.Stdout(), what, file)
	return eval.Result{}
}

func appendText(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

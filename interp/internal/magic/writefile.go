package magic

import (
	"fmt"
	"os"
	"strings"

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
	file = files.Home(file)
	if file == "" || file == "-a" {
		return c.wrong("%%%%writefile: want a file name")
	}
	return c.writeFile("%%writefile", file, c.Body, added)
}

// writeFile writes or appends a text to a file, for a magic, and says what it did.
func (c *Call) writeFile(magic, file, text string, added bool) eval.Result {
	what, flag := "writing", os.O_TRUNC
	if added {
		what, flag = "appending to", os.O_APPEND
	} else if _, err := os.Stat(file); err == nil {
		what = "overwriting"
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return c.wrong("%s: %v", magic, err)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return c.wrong("%s: %v", magic, err)
	}
	fmt.Fprintln(c.Out.Stdout(), what, file)
	return eval.Result{}
}

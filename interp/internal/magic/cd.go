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
		Name: "%cd", Args: "[FOLDER]", Run: runCd,
		Help: "changes the working folder, by default to the home folder; - is the previous one",
	})
	add(Magic{
		Name: "%pwd", Run: runPwd,
		Help: "shows the working folder",
	})
}

// runCd changes the working folder of the process, for cells and commands alike.
func runCd(c *Call) eval.Result {
	was, _ := os.Getwd()
	to := c.Args
	switch to {
	case "":
		to = "~"
	case "-":
		if c.folder == "" {
			return c.wrong("%%cd -: the folder has not changed yet; want %%cd FOLDER first")
		}
		to = c.folder
	}
	if err := os.Chdir(files.Home(strings.Trim(to, `"'`))); err != nil {
		return c.wrong("%%cd: %v", err)
	}
	c.folder = was
	now, _ := os.Getwd()
	fmt.Fprintln(c.Out.Stdout(), now)
	return eval.Result{}
}

func runPwd(c *Call) eval.Result {
	dir, err := os.Getwd()
	if err != nil {
		return c.wrong("%%pwd: %v", err)
	}
	return shown(dir)
}

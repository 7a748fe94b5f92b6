package magic

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
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
	add(Magic{
		Name: "%ls", Args: "[FOLDER]", Run: runLs,
		Help: "lists the files of a folder, by default the working folder, or those of a pattern such as *.csv",
	})
}

// runLs lists files. Folders end with a slash.
func runLs(c *Call) eval.Result {
	at := files.Path(strings.Trim(cmp.Or(c.Args, "."), `"'`))
	var paths []string
	if entries, err := os.ReadDir(at); err == nil {
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				paths = append(paths, filepath.Join(at, e.Name()))
			}
		}
	} else if paths, _ = filepath.Glob(at); len(paths) == 0 {
		return c.wrong("%%ls %s: found neither a folder nor a file that matches", c.Args)
	}
	for _, path := range paths {
		name := path
		if rel, err := filepath.Rel(at, path); err == nil && !strings.ContainsAny(at, "*?[") && rel != "." {
			name = rel
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			name += string(filepath.Separator)
		}
		fmt.Fprintln(c.Out.Stdout(), name)
	}
	return eval.Result{}
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
	if err := os.Chdir(files.Path(strings.Trim(to, `"'`))); err != nil {
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

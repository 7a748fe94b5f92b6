package magic

import (
	"bytes"
	"go/token"
	"io"
	"os/exec"
	"strings"

	"halfnote/interp/internal/shell"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%bash", Args: "[OPTIONS]", Takes: Text, Run: runBash,
		Help: "runs the cell as a bash script\n" +
			"The options --out NAME and --err NAME assign the lines of its output to variables. {expressions} in the first line are replaced by their values: %%bash -s {x}.",
	})
	add(Magic{
		Name: "%%python", Args: "[OPTIONS]", Takes: Text, Run: runPython,
		Help: "runs the cell as a Python script, in a separate process",
	})
	add(Magic{
		Name: "%%script", Args: "PROGRAM [ARGUMENTS]", Takes: Text, Run: runScript,
		Help: "runs a program that reads the cell\n" +
			"The options --out NAME and --err NAME before the program assign the lines of its output to variables.",
	})
	add(Magic{
		Name: "%%sh", Args: "[OPTIONS]", Takes: Text, Run: runSh,
		Help: "runs the cell as a POSIX shell script, like %%bash",
	})
}

func runBash(c *Call) eval.Result { return c.script("bash") }

func runSh(c *Call) eval.Result { return c.script("sh") }

// pythons lists the names of Python; the first one found is used.
var pythons = []string{"python3", "python"}

func runPython(c *Call) eval.Result { return c.script(pythons...) }

func runScript(c *Call) eval.Result { return c.script() }

// script runs a program on the lines below the magic. The program is the first of programs
// that exists or, without any, the first word. As in IPython, the program reads the lines
// from its standard input, braces in the magic's own line are filled, and those in the
// lines below are not. A shell without arguments is given the lines as an argument, so that
// its commands have an empty input.
func (c *Call) script(programs ...string) eval.Result {
	name := "%%script"
	if len(programs) > 0 {
		name = "%%" + strings.TrimRight(programs[0], "0123456789")
	}
	line, no := c.fill(-1)
	if no != nil {
		return eval.Result{Err: no}
	}
	words := strings.Fields(line)
	stdout, stderr := &variable{}, &variable{}
	for len(words) > 0 {
		option, value, ok := strings.Cut(words[0], "=")
		if option != "--out" && option != "--err" {
			break
		}
		if words = words[1:]; !ok && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		if !token.IsIdentifier(value) {
			return c.wrong("%s %s: want the name of a variable after %s", name, c.Args, option)
		}
		if option == "--out" {
			stdout.name = value
		} else {
			stderr.name = value
		}
	}
	if len(programs) == 0 {
		if len(words) == 0 {
			return c.wrong("%s: want a program that reads the lines below", name)
		}
		programs, words = words[:1], words[1:]
	}
	path, err := shell.LookPath(programs...)
	if err != nil {
		return c.wrong("%v", err)
	}
	cmd := exec.Command(path, words...)
	if isShell := programs[0] == "bash" || programs[0] == "sh"; isShell && len(words) == 0 {
		cmd.Args = append(cmd.Args, "-c", c.Cell.Code)
	} else {
		cmd.Stdin = strings.NewReader(c.Body)
	}
	r := c.command(cmd, stdout.or(c.Out.Stdout()), stderr.or(c.Out.Stderr()))
	for _, v := range []*variable{stdout, stderr} {
		if v.name == "" {
			continue
		}
		if failed := c.assignLines(v.name, ":=", 0, &v.output); r.Err == nil {
			r.Err = failed
		}
	}
	return r
}

// variable is a variable for the output of a script; without a name, the output goes to the cell.
type variable struct {
	name   string
	output bytes.Buffer
}

func (v *variable) or(w io.Writer) io.Writer {
	if v.name == "" {
		return w
	}
	return &v.output
}

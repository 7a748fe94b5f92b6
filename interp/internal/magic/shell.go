package magic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"reflect"
	"strings"

	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/shell"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "!", Args: "command", Takes: Text, Run: runShell,
		Help: "runs a shell command; x := !command assigns the lines of its output to x\n" +
			"In braces, a Go expression is replaced by its value: !echo {x + 1}.",
	})
}

// runShell runs a command. For x := !command it assigns the lines of the output to the variable as a cell
// would.
func runShell(c *Call) eval.Result {
	if c.Args == "" {
		return c.wrong("!: want a command")
	}
	if rest, ok := strings.CutPrefix(c.Args, "*"); ok { // GoNB's, which runs in the folder of its module
		return c.wrong("!* is not a command; !%s runs it in this folder, and %%go get PATH adds a module", rest)
	}
	command, failed := c.fill(len(c.Cell.Code) - len(c.Args))
	if failed != nil {
		return eval.Result{Err: failed}
	}
	path, err := shell.LookPath(shell.Names...)
	if err != nil {
		return c.wrong("%v", err)
	}
	cmd := exec.Command(path, "-c", command)
	if c.Variable == "" {
		return c.command(cmd, c.Out.Stdout(), c.Out.Stderr())
	}
	var output bytes.Buffer
	r := c.command(cmd, &output, c.Out.Stderr())
	if r.Err == nil {
		r.Err = c.assignLines(c.Variable, c.Assign, c.Col-1, &output)
	}
	return r
}

// assignLines assigns the lines of a command's output to a variable.
func (c *Call) assignLines(name, op string, col int, output *bytes.Buffer) *eval.Error {
	return c.assign(name, op, "[]string(nil)", col, reflect.ValueOf(shell.Lines(output.String())))
}

// command runs a command. Its output goes to the writers as it arrives. All processes that it
// started end with it, or with the cell's interrupt.
func (c *Call) command(cmd *exec.Cmd, stdout, stderr io.Writer) eval.Result {
	p, err := shell.Start(cmd, stdout, stderr)
	if err != nil {
		return c.wrong("%v", err)
	}
	err = p.Wait(c.Ctx)
	if err == nil {
		return eval.Result{}
	}
	how := err.Error()
	e := &eval.Error{Name: "CommandFailed", Value: how}
	e.Traceback = []string{fmt.Sprintf("%s: %s", syntax.Place(c.Cell.Count, c.Line, 0), ansi.Bold(how))}
	if errors.Is(err, shell.ErrStopped) {
		e.Name, e.Traceback = "Interrupted", []string{ansi.Alarm("Interrupted:") + " " + how}
	}
	if code, ok := c.History.Source(c.Cell.Count); ok {
		e.Traceback = append(e.Traceback, syntax.Underlined(code, syntax.Span{Line: c.Line})...)
	}
	return eval.Result{Err: e}
}

// fill returns the arguments of a magic with every "{expression}" of Go replaced by its
// value's text. at is the offset of the arguments in the call's code, or -1 if they are not in it.
func (c *Call) fill(at int) (string, *eval.Error) {
	line, err := shell.Expand(c.Args, shell.Values{Is: c.IsValue, Text: func(expr string, offset int) (string, bool, error) {
		text, ok, failed := c.valueText(expr, at+offset)
		if failed != nil {
			return "", false, failed
		}
		return text, ok, nil
	}})
	var failed *eval.Error
	errors.As(err, &failed)
	return line, failed
}

// valueText returns the text of an expression's value. ok is false if the expression has no
// value here.
func (c *Call) valueText(expr string, at int) (text string, ok bool, failed *eval.Error) {
	in := c.Cell
	in.Code = strings.Repeat("\n", c.Line-1)
	if at > len(in.Code) {
		in.Code += strings.Repeat(" ", at-len(in.Code))
	}
	in.Code += expr
	e, failed := c.Evaluate(c.Ctx, in, c.Out)
	if failed != nil {
		if failed.Name == "CompileError" {
			failed = nil
		}
		return "", false, failed
	}
	defer e.Close()
	b, failed := e.Show()
	if failed != nil || b == nil {
		return "", failed == nil, failed
	}
	return fmt.Sprint(b.Data["text/plain"]), true, nil
}

package interp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"halfnote/kernel"
)

func (s *Session) magicShell(c call) kernel.Result {
	if c.args == "" {
		return s.wrong(c, "!: want a command")
	}
	command, err := s.fill(c, len(c.in.Code)-len(c.args))
	if err != nil {
		return kernel.Result{Err: err}
	}
	return s.shell(c, nil, command, shells...)
}

// capture runs x := !command: it assigns the lines of the command's output to the
// variable as a cell would.
func (s *Session) capture(c call, g segment) kernel.Result {
	c.captured = &bytes.Buffer{}
	if r := s.magicShell(c); r.Err != nil {
		return r
	}
	return s.assignLines(c, g.variable, g.assign, g.col-1, c.captured)
}

// assignLines assigns the lines of a command's output to a variable.
func (s *Session) assignLines(c call, name, op string, col int, output *bytes.Buffer) kernel.Result {
	var lines []string
	if text := strings.TrimSuffix(strings.ReplaceAll(output.String(), "\r\n", "\n"), "\n"); text != "" {
		lines = strings.Split(text, "\n")
	}
	return s.assign(c, name, op, "[]string(nil)", col, reflect.ValueOf(lines))
}

// shells lists the shells for "!" lines; the first one found is used.
var shells = []string{"bash", "sh"}

// hard is the time an interrupted command has before it is killed.
const hard = 40 * time.Millisecond

// shell runs a script with the first available shell and options. It has no input.
func (s *Session) shell(c call, options []string, script string, shells ...string) kernel.Result {
	path, err := lookPath(shells...)
	if err != nil {
		return s.wrong(c, "%v", err)
	}
	return s.command(c, exec.Command(path, slices.Concat(options, []string{"-c", script})...))
}

// lookPath returns the path of the first available program.
func lookPath(names ...string) (path string, err error) {
	for _, name := range names {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s not found on PATH", strings.Join(names, " and "))
}

// command runs a command. Its output goes to the cell as it arrives. All processes that it
// started end with it, or with the cell's interrupt.
func (s *Session) command(c call, cmd *exec.Cmd) kernel.Result {
	stdout, stderr := c.out.Stdout(), c.out.Stderr()
	if c.captured != nil {
		stdout = c.captured
	}
	if c.capturedErr != nil {
		stderr = c.capturedErr
	}
	started, ended := make(chan error, 1), make(chan error, 1)
	var copied <-chan struct{}
	go func() {
		runtime.LockOSThread() // on Linux the command dies with the thread that started it
		defer runtime.UnlockOSThread()
		var err error
		copied, err = start(cmd, stdout, stderr)
		started <- err
		if err == nil {
			err = cmd.Wait()
			kill(cmd) // kills its background processes
			ended <- err
		}
	}()
	if err := <-started; err != nil {
		return s.wrong(c, "%v", err)
	}
	var err error
	select {
	case err = <-ended:
	case <-c.ctx.Done():
		interrupt(cmd)
		select {
		case <-ended:
		case <-time.After(hard):
			kill(cmd)
			<-ended
		}
	}
	select {
	case <-copied:
	case <-c.ctx.Done():
	}
	if c.ctx.Err() != nil {
		select { // lets earlier output arrive
		case <-copied:
		case <-time.After(hard):
		}
		how := "the command was stopped"
		return kernel.Result{Err: &kernel.Error{Name: "Interrupted", Value: how,
			Traceback: append([]string{alarm("Interrupted:") + " " + how}, s.excerpt(c.in.Count, span{line: c.line})...)}}
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return kernel.Result{}
	case errors.As(err, &exit):
		return s.failed(c, exit.Error())
	}
	return s.failed(c, err.Error())
}

// failed returns the error of a command that failed.
func (s *Session) failed(c call, how string) kernel.Result {
	e := &kernel.Error{Name: "CommandFailed", Value: how}
	e.Traceback = append([]string{fmt.Sprintf("%s: %s", place(c.in.Count, c.line, 0), bold(how))}, s.excerpt(c.in.Count, span{line: c.line})...)
	return kernel.Result{Err: e}
}

// start starts a command whose output goes to two writers. copied is closed when all of
// it has arrived: when no process can write any more.
func start(cmd *exec.Cmd, stdout, stderr io.Writer) (copied <-chan struct{}, err error) {
	var copies sync.WaitGroup
	var ends []*os.File // the command's ends of the pipes
	defer func() {
		for _, f := range ends {
			f.Close()
		}
	}()
	for _, w := range []io.Writer{stdout, stderr} {
		r, end, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
		copies.Go(func() {
			io.Copy(w, r)
			r.Close()
		})
	}
	cmd.Stdout, cmd.Stderr = ends[0], ends[1]
	group(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		copies.Wait()
		close(done)
	}()
	return done, nil
}

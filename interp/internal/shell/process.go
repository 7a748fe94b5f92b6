// Package shell runs commands for cells. It starts programs with their output connected to writers,
// ends them together with the processes that they have started, and replaces Go expressions
// in command lines by their values. It knows the differences between operating systems. It does
// not know cells: callers say where output goes and what an expression means.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Names lists the shells for command lines; the first one found is used.
var Names = []string{"bash", "sh"}

// LookPath returns the path of the first available program.
func LookPath(names ...string) (path string, err error) {
	if runtime.GOOS == "js" {
		return "", errors.New("a page in a browser cannot run other programs")
	}
	for _, name := range names {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s not found on PATH", strings.Join(names, " and "))
}

// hard is the time an interrupted command has before it is killed.
const hard = 40 * time.Millisecond

// ErrStopped is the error of a process whose context ended before it did.
var ErrStopped = errors.New("the command was stopped")

// Process is a command that has been started.
type Process struct {
	cmd    *exec.Cmd
	ended  chan error
	copied <-chan struct{} // closed when all output has arrived
}

// Start starts a command. Its output goes to the writers as it arrives. The caller must
// call Wait.
func Start(cmd *exec.Cmd, stdout, stderr io.Writer) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan error, 1)}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // on Linux the command dies with the thread that started it
		defer runtime.UnlockOSThread()
		var err error
		p.copied, err = start(cmd, stdout, stderr)
		started <- err
		if err == nil {
			err = cmd.Wait()
			kill(cmd) // kills its background processes
			p.ended <- err
		}
	}()
	return p, <-started
}

// Wait waits until the command has ended, all processes that it started have been killed, and
// their output has arrived. The error is that of exec.Cmd.Wait. If the context ends first, the
// command is interrupted, then killed, and the error is ErrStopped.
func (p *Process) Wait(ctx context.Context) error {
	var err error
	select {
	case err = <-p.ended:
	case <-ctx.Done():
		interrupt(p.cmd)
		select {
		case <-p.ended:
		case <-time.After(hard):
			kill(p.cmd)
			<-p.ended
		}
	}
	select {
	case <-p.copied:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		select { // lets earlier output arrive
		case <-p.copied:
		case <-time.After(hard):
		}
		return ErrStopped
	}
	return err
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

// Lines returns the lines of a command's output.
func Lines(output string) []string {
	text := strings.TrimSuffix(strings.ReplaceAll(output, "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

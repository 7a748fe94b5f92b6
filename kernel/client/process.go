package client

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ExitError reports that the kernel's process ended while a request was pending.
type ExitError struct {
	State  string // "exit status 2", "signal: killed"
	Output string // last lines of its output
}

func (e *ExitError) Error() string {
	s := "client: the kernel exited (" + e.State + ")"
	if e.Output != "" {
		s += "; its last lines:\n" + e.Output
	}
	return s
}

// addressInUse reports whether the kernel's last lines say that an address was in use.
func (e *ExitError) addressInUse() bool {
	return strings.Contains(strings.ToLower(e.Output), syscall.EADDRINUSE.Error())
}

// process is a kernel's process.
type process struct {
	cmd    *exec.Cmd
	tail   *tail
	exited chan struct{} // closed when the process has ended
	state  string        // exit state; set before exited is closed
}

func startProcess(spec Spec, connectionFile string, o Options) (*process, error) {
	argv, env := spec.command(connectionFile, o.Env)
	p := &process{tail: &tail{to: o.Stderr}, exited: make(chan struct{})}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = env
	p.cmd.Dir = o.Dir
	p.cmd.Stdout = p.tail
	p.cmd.Stderr = p.tail
	p.cmd.WaitDelay = time.Second // its children may hold its output open
	tie(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("client: start %s: %w", strings.Join(argv, " "), err)
	}
	go func() {
		p.cmd.Wait()
		p.state = p.cmd.ProcessState.String()
		close(p.exited)
	}()
	return p, nil
}

// err returns an ExitError; the process must have ended.
func (p *process) err() error {
	return &ExitError{State: p.state, Output: p.tail.String()}
}

// tail passes on the kernel's output and keeps the end of it.
type tail struct {
	mu   sync.Mutex
	to   io.Writer
	last []byte
}

const (
	tailBytes = 8 << 10
	tailLines = 20
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-tailBytes):]...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	if t.to != nil {
		t.to.Write(p)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(string(bytes.TrimSpace(t.last)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

func parentVariable(id int) string { return "JPY_PARENT_PID=" + strconv.Itoa(id) }

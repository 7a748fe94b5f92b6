//go:build unix

package client

import (
	"os"
	"os/exec"
	"syscall"
)

// tie makes the process the head of a group, so that what it starts ends with it
// and the terminal's Ctrl-C is ours alone, and tells it whose death to watch for.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(cmd.Env, parentVariable(os.Getpid()))
}

func (p *process) signal() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT) }

func (p *process) kill() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

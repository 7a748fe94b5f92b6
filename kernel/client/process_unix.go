//go:build unix

package client

import (
	"os"
	"os/exec"
	"syscall"
)

// tie makes the process the leader of a process group, so that its children end with it
// and the terminal's Ctrl-C reaches only the client, and passes it the id of the parent
// to watch.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(cmd.Env, parentVariable(os.Getpid()))
}

func (p *process) signal() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT) }

func (p *process) kill() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

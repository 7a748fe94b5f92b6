//go:build unix

package interp

import (
	"os/exec"
	"syscall"
)

// group makes a command the head of a process group of its own, so that its
// children can be ended with it.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt asks the processes of the group to end, as Ctrl-C does.
func interrupt(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// kill ends the processes of the group that there still are.
func kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

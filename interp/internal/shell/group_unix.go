//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// interrupt asks the processes of the group to end, as Ctrl-C does.
func interrupt(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// kill ends the remaining processes of the group.
func kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

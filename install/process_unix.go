//go:build unix

package install

import (
	"os/exec"
	"syscall"
)

func askToEnd(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGTERM) }

// endGroup ends the processes that a command has left behind.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
}

//go:build unix

package install

import (
	"os/exec"
	"syscall"
)

func askToEnd(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGTERM) }

// endGroup ends what a command that has ended left behind.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
}

//go:build unix && !linux

package install

import (
	"os/exec"
	"syscall"
)

// endWithParent puts a command into a process group of its own, which the terminal's
// Ctrl-C does not reach.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

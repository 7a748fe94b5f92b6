//go:build unix && !linux

package install

import (
	"os/exec"
	"syscall"
)

// endWithParent puts a command into its own process group, which the terminal's Ctrl-C
// does not reach.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

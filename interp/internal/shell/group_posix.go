//go:build unix && !linux

package shell

import (
	"os/exec"
	"syscall"
)

// group puts a command into a separate process group, so that its children can be ended
// with it.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

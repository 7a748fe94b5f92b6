//go:build unix && !linux

package interp

import (
	"os/exec"
	"syscall"
)

// group makes a command the head of a process group of its own, so that its
// children can be ended with it.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

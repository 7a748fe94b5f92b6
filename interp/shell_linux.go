package interp

import (
	"os/exec"
	"syscall"
)

// group makes a command the head of a process group of its own, so that its
// children can be ended with it. It ends when this process is killed.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

package install

import (
	"os/exec"
	"syscall"
)

// endWithParent puts a command into a process group of its own, which the terminal's
// Ctrl-C does not reach, and has it end with this process, even if that is killed.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

package install

import (
	"os/exec"
	"syscall"
)

// endWithParent puts a command into a process group of its own, out of reach of
// the terminal's Ctrl-C, which is ours to pass on, and has it end when this
// process does, even when killed.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

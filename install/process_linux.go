package install

import (
	"os/exec"
	"syscall"
)

// endWithParent puts a command into its own process group, which the terminal's Ctrl-C
// does not reach, and makes it end with this process, even if this process is killed.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

package client

import (
	"errors"
	"os/exec"
	"syscall"
)

// tie passes the process a handle of this one, so that it can detect its parent's
// death.
func tie(cmd *exec.Cmd) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return
	}
	var handle syscall.Handle
	if syscall.DuplicateHandle(self, self, self, &handle, syscall.SYNCHRONIZE, true, 0) == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			CreationFlags:              syscall.CREATE_NEW_PROCESS_GROUP,
			AdditionalInheritedHandles: []syscall.Handle{handle},
		}
		cmd.Env = append(cmd.Env, parentVariable(int(handle)))
	}
}

func (p *process) signal() error {
	return errors.New("client: interrupt: on Windows only kernels with interrupt_mode message can be interrupted")
}

func (p *process) kill() { p.cmd.Process.Kill() }

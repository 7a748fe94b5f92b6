package interp

import "os/exec"

func group(*exec.Cmd) {}

// interrupt does nothing: there is no signal that a process could heed.
func interrupt(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { cmd.Process.Kill() }

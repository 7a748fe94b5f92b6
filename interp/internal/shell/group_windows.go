package shell

import "os/exec"

func group(*exec.Cmd) {}

// interrupt does nothing: Windows has no such signal.
func interrupt(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { cmd.Process.Kill() }

//go:build !unix

package ranks

import "os/exec"

func apart(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { cmd.Process.Kill() }

func terminate(*exec.Cmd) {}

package install

import "os/exec"

// On Windows the command shares the console and receives Ctrl-C itself.
func endWithParent(*exec.Cmd) {}

// askToEnd does nothing: a process that survives Ctrl-C is killed after the grace period.
func askToEnd(*exec.Cmd) error { return nil }

func endGroup(*exec.Cmd) {}

package install

import "os/exec"

// On Windows the command shares the console and hears Ctrl-C itself.
func endWithParent(*exec.Cmd) {}

// askToEnd does nothing: what Ctrl-C does not end is killed after the grace.
func askToEnd(*exec.Cmd) error { return nil }

func endGroup(*exec.Cmd) {}

//go:build !linux

package bench

import (
	"os/exec"
	"runtime"
)

// processors returns the number of processors that this process may use.
func processors() int { return runtime.NumCPU() }

// pinned calls start. It pins processes only on Linux; on other systems only their number of
// threads is limited.
func pinned(n int, start func() error) error { return start() }

func endWithUs(*exec.Cmd) {}

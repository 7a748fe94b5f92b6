//go:build !linux

package bench

import (
	"os/exec"
	"runtime"
)

// processors returns how many processors this process may use.
func processors() int { return runtime.NumCPU() }

// pinned calls start. Only on Linux what it starts is kept to n processors; elsewhere the
// number of its threads alone is.
func pinned(n int, start func() error) error { return start() }

func endWithUs(*exec.Cmd) {}

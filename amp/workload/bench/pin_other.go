//go:build !linux

package bench

import (
	"os/exec"
	"runtime"
)

// processors returns how many processors this process may use.
func processors() int { return runtime.NumCPU() }

// startPinned starts a command. Only on Linux it is kept to n processors; elsewhere the
// number of its threads alone is.
func startPinned(cmd *exec.Cmd, n int) error { return cmd.Start() }

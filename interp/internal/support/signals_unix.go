//go:build !windows

package support

import (
	"os"
	"syscall"
)

// kernelSignals are the signals that the kernel needs: interrupts, its end, and the ends of processes that it starts.
var kernelSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGCHLD}

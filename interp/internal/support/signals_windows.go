package support

import (
	"os"
	"syscall"
)

// kernelSignals are the signals that the kernel needs: interrupts and its end.
var kernelSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

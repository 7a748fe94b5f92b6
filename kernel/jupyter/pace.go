package jupyter

import (
	"os"
	"runtime"
)

const (
	// headroom is the size of the ballast: how much may be allocated, in addition to
	// the live heap, before the next garbage collection. The heap of a small notebook
	// is a few megabytes; without the ballast one cell in fifty would wait for a
	// collection.
	headroom = 16 << 20 // bytes

	// spare is the number of threads that may run Go in addition to those that cells
	// can keep busy. An incoming request is then scheduled by the operating system,
	// which favours threads that were idle, instead of waiting 10 ms for Go to preempt
	// a cell.
	spare = 2
)

// paceProcess configures the Go runtime for a process that must answer while it
// computes. undo restores the settings.
func paceProcess() (undo func()) {
	// The ballast: the collector counts it as live heap. It is never touched, so it
	// takes no physical memory.
	ballast := make([]byte, headroom)
	before := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(before + spare)
	}
	return func() {
		runtime.GOMAXPROCS(before)
		runtime.KeepAlive(ballast)
	}
}

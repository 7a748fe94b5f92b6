package kernel

import (
	"os"
	"runtime"
)

const (
	// headroom is how much may be allocated, beside what is held, before garbage is
	// collected. The heap of a small notebook is a few megabytes, and without
	// headroom one cell in fifty would wait for a collection.
	headroom = 16 << 20 // bytes

	// spare is how many threads may run Go beside those that cells can keep busy. What
	// comes in then waits for the system's scheduler, which prefers who has slept, and
	// not for a cell to be preempted, which takes the Go runtime 10 ms.
	spare = 2
)

// paceProcess sets the Go runtime up for a process that answers while it computes.
// The function returned undoes it.
func paceProcess() (undo func()) {
	// The collector counts this as held. Nobody touches it, so that it takes no memory
	// of the system's.
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

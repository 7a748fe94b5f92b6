//go:build cuda && linux && cgo

package gpu

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// collectGarbage runs the garbage collector and waits, for some milliseconds at the
// most, until what it found has been given back.
func collectGarbage() {
	runtime.GC()
	counts := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(counts)
	queued := counts[0].Value.Uint64()
	for start := time.Now(); counts[1].Value.Uint64() < queued && time.Since(start) < 10*time.Millisecond; metrics.Read(counts[1:]) {
		runtime.Gosched()
	}
}

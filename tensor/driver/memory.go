package driver

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// CollectGarbage runs the garbage collector and waits, at most some milliseconds, until the
// memory it found has been released. Backends call it when memory is short.
func CollectGarbage() {
	runtime.GC()
	counts := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(counts)
	queued := counts[0].Value.Uint64()
	for start := time.Now(); counts[1].Value.Uint64() < queued && time.Since(start) < 10*time.Millisecond; metrics.Read(counts[1:]) {
		runtime.Gosched()
	}
}

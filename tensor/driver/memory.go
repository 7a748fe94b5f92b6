package driver

import (
	"fmt"
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

// FormatBytes formats a number of bytes, for example "1.5 GiB".
func FormatBytes(n int64) string {
	switch {
	case n >= 1<<40:
		return fmt.Sprintf("%.1f TiB", float64(n)/(1<<40))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

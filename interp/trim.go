package interp

import (
	"runtime/debug"
	"runtime/metrics"
)

// trimAbove is the number of allocated bytes above which garbage is collected at the
// end of a cell.
const trimAbove = 32 << 20

// allocated returns the total bytes that the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// trim returns unused memory to the system if cells have allocated much since. A
// notebook stays open for hours and is mostly idle: the garbage collector, which waits
// for more allocation, would keep the memory from the rest of the machine.
func trim(since uint64) {
	if allocated()-since > trimAbove {
		debug.FreeOSMemory()
	}
}

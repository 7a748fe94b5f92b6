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

// trim returns unused memory to the system if the process has allocated more than trimAbove
// bytes after allocated returned since. A notebook stays open for hours and is mostly idle.
// The garbage collector alone would wait for more allocation, and other programs could not
// use the memory meanwhile.
func trim(since uint64) {
	if allocated()-since > trimAbove {
		debug.FreeOSMemory()
	}
}

package interp

import (
	"runtime/debug"
	"runtime/metrics"
)

// trimAbove is how many bytes a cell may allocate before its garbage is worth
// looking for when it ends.
const trimAbove = 32 << 20

// allocated returns the bytes that the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// trim gives memory that cells no longer use back to the system, if much has been
// allocated since. A notebook stays open for hours, and it is idle most of the
// time: the garbage collector's own pace, which waits for more work, would leave
// the machine with less memory than it could have.
func trim(since uint64) {
	if allocated()-since > trimAbove {
		debug.FreeOSMemory()
	}
}

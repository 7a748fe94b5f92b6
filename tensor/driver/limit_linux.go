package driver

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// addressSpace returns how many bytes the process can still map where ulimit -v or ulimit -d limits that, and which of them does, or 0. Go reserves
// more than a gigabyte of addresses when it starts, which count although they take no memory, and later asks for 64 MiB
// at a time. A quarter is left for that, for holes in the heap, and for what is allocated during a collection.
func addressSpace() (least int64, setBy string) {
	const step = 64 << 20
	for _, l := range []struct {
		resource    int
		used, setBy string // used is a field of /proc/self/status
	}{{syscall.RLIMIT_AS, "VmSize:", "ulimit -v"}, {syscall.RLIMIT_DATA, "VmData:", "ulimit -d"}} {
		var r syscall.Rlimit
		if syscall.Getrlimit(l.resource, &r) != nil || r.Cur >= 1<<62 {
			continue
		}
		left := max((int64(r.Cur)-statusBytes(l.used))/4*3, step)
		if least == 0 || left < least {
			least, setBy = left, l.setBy
		}
	}
	return least, setBy
}

// statusBytes returns an amount of memory of this process, or 0.
func statusBytes(name string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[0], 10, 64)
	return n << 10
}

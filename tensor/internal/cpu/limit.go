package cpu

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// available returns the bytes that buffers may take: the least of GOMEMLIMIT,
// the control group's limit and the machine's memory, as far as the system tells
// them. It returns 0 where none does.
func available() int64 {
	least := int64(0)
	consider := func(n int64) {
		if n > 0 && n < math.MaxInt64 && (least == 0 || n < least) {
			least = n
		}
	}
	consider(debug.SetMemoryLimit(-1))
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(file); err == nil {
			n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no limit
			consider(n)
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "MemTotal:"); ok {
			if fields := strings.Fields(rest); len(fields) > 0 {
				n, _ := strconv.ParseInt(fields[0], 10, 64)
				consider(n << 10)
			}
		}
	}
	return least
}

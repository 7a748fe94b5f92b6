package driver

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// Limit returns the number of bytes that this process may use, and the source of that
// number: the smallest of GOMEMLIMIT, the container's limit, what ulimit leaves, and the machine's memory at the
// first call. It returns 0 if none is known.
func Limit() (bytes int64, setBy string) { return limit() }

var limit = sync.OnceValues(func() (least int64, setBy string) {
	consider := func(n int64, name string) {
		if n > 0 && n < math.MaxInt64 && (least == 0 || n < least) {
			least, setBy = n, name
		}
	}
	consider(debug.SetMemoryLimit(-1), "GOMEMLIMIT")
	consider(addressSpace())
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(file); err == nil {
			n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" means unlimited
			consider(n, "the container's limit")
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "MemTotal:"); ok {
			if fields := strings.Fields(rest); len(fields) > 0 {
				n, _ := strconv.ParseInt(fields[0], 10, 64)
				consider(n<<10, "the machine's memory")
			}
		}
	}
	return least, setBy
})

package cpu

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// thirdCache returns the size of the third cache in bytes, or 0 if it is unknown.
var thirdCache = sync.OnceValue(func() int64 {
	text, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cache/index3/size") // for example 32768K
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
})

package kernel

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// residentMemory returns the bytes of this process in memory, proc(5), statm.
func residentMemory() uint64 {
	b, _ := os.ReadFile("/proc/self/statm")
	var size, resident uint64
	if n, _ := fmt.Sscan(string(b), &size, &resident); n < 2 {
		return goMemory()
	}
	return resident * uint64(os.Getpagesize())
}

func processorTime() (time.Duration, bool) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0, false
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), true
}

// hostTime returns the busy time and the total time of all processors since start:
// proc(5), stat, in ticks of a hundredth of a second.
func hostTime() (busy, all time.Duration, ok bool) {
	b, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(b), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, false
	}
	const tick = time.Second / 100
	for i, f := range fields[1:9] { // user nice system idle iowait irq softirq steal
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		all += time.Duration(n) * tick
		if i != 3 && i != 4 {
			busy += time.Duration(n) * tick
		}
	}
	return busy, all, true
}

// hostMemory returns the machine's memory in the fields of psutil.virtual_memory, or
// the container's, from its cgroup v2 limit.
func hostMemory() object {
	b, _ := os.ReadFile("/proc/meminfo")
	kib := map[string]uint64{}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		n, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		kib[name], _ = strconv.ParseUint(n, 10, 64)
	}
	total, available := kib["MemTotal"]<<10, kib["MemAvailable"]<<10
	if limit, used, ok := containerMemory(); ok && limit < total {
		total, available = limit, min(available, limit-min(used, limit))
	}
	if total == 0 {
		return nil
	}
	used := total - min(available, total)
	return object{
		"total": total, "available": available, "used": used, "percent": 100 * float64(used) / float64(total),
		"free": kib["MemFree"] << 10, "active": kib["Active"] << 10, "inactive": kib["Inactive"] << 10,
		"buffers": kib["Buffers"] << 10, "cached": kib["Cached"] << 10, "shared": kib["Shmem"] << 10, "slab": kib["Slab"] << 10,
	}
}

func containerMemory() (limit, used uint64, ok bool) {
	read := func(name string) (uint64, bool) {
		b, err := os.ReadFile("/sys/fs/cgroup/" + name)
		if err != nil {
			return 0, false
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64) // "max" for none
		return n, err == nil
	}
	limit, ok = read("memory.max")
	used, known := read("memory.current")
	return limit, used, ok && known
}

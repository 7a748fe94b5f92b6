package kernel

import (
	"os"
	"runtime"
	"sync"
	"time"
)

// usages records the time of the last request: percentages are averages since then.
type usages struct {
	mu         sync.Mutex
	at         time.Time
	cpu        time.Duration // processor time of this process
	busy, host time.Duration // time of all processors
}

// usage answers usage_request in ipykernel's form, which jupyter-resource-usage shows.
// Figures that the system does not provide are omitted.
func (k *kernel) usage(*request) (any, error) {
	host, _ := os.Hostname()
	content := object{
		"status": "ok", "hostname": host, "pid": os.Getpid(), "cpu_count": runtime.NumCPU(),
		"kernel_memory": residentMemory(),
	}
	if m := hostMemory(); m != nil {
		content["host_virtual_memory"] = m
	}
	u := &k.usages
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if cpu, ok := processorTime(); ok {
		percent := 0.0
		if d := now.Sub(u.at); !u.at.IsZero() && d > 0 {
			percent = 100 * float64(cpu-u.cpu) / float64(d)
		}
		content["kernel_cpu"] = percent // percentage of one processor: 200 is two
		u.cpu = cpu
	}
	if busy, all, ok := hostTime(); ok {
		if d := all - u.host; !u.at.IsZero() && d > 0 {
			content["host_cpu_percent"] = 100 * float64(busy-u.busy) / float64(d)
		}
		u.busy, u.host = busy, all
	}
	u.at = now
	return content, nil
}

// goMemory is the memory that the Go runtime has obtained from the system: less than
// the resident size, for systems that do not report more.
func goMemory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

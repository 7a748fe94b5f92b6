package magic

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"halfnote/internal/text"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%%memit", Takes: Go, Runs: true, Run: runMemit,
		Help: "runs the cell and prints the memory that it took",
	})
	add(Magic{
		Name: "%memit", Args: "STATEMENT", Takes: Go, Runs: true, Run: runMemit,
		Help: "runs a statement and prints the memory that it took\n" +
			"The peak is the most that was in use at one of the samples, one a millisecond, over what was in use before. What is kept is in use afterwards.\n" +
			"Allocations count what other goroutines take at the same time.",
	})
}

// runMemit runs code and compares Go's heap, which also holds the tensors of the CPU, before, while and after it runs.
func runMemit(c *Call) eval.Result {
	runtime.GC()
	before, allocated := heap()
	end, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := before
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			now, _ := heap()
			most = max(most, now)
			select {
			case <-end:
				peak <- most - before
				return
			case <-tick.C:
			}
		}
	}()
	r := c.Eval(c.Ctx, c.Cell, c.Out)
	last, all := heap()
	close(end)
	most := max(<-peak, last-before)
	runtime.GC()
	if after, _ := heap(); r.Err == nil {
		fmt.Fprintf(c.Out.Stdout(), "memory: %s at the peak, %s kept; %s allocated in all\n", text.Bytes(most), text.Bytes(max(after-before, 0)), text.Bytes(all-allocated))
	}
	return r
}

// heap returns the bytes of Go's heap that are in use, and those that were ever allocated.
func heap() (used, allocated int64) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64())
}

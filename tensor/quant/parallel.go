package quant

import (
	"runtime"
	"sync"
	"sync/atomic"

	"halfnote/tensor/driver"
)

// each calls item(0) to item(n-1) on as many goroutines as there are processors, and polls for an interrupt on the caller's.
func each(n int, item func(i int)) {
	eachWith(n, func() int { return 0 }, func(_, i int) { item(i) })
}

// eachWith is each with room that the items of a goroutine share.
func eachWith[R any](n int, room func() R, item func(r R, i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	defer wait.Wait()
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		wait.Go(func() {
			r := room()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				item(r, i)
			}
		})
	}
	defer next.Store(int64(n)) // an interrupt stops the others
	r := room()
	for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
		driver.Poll()
		item(r, i)
	}
}

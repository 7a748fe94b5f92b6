// Package scope holds a value for the duration of a call, per goroutine.
//
// Go has no goroutine-local storage. A goroutine that has called
// [runtime.LockOSThread], however, has its thread to itself, so while a scope is
// open the thread's id names the goroutine. A goroutine started inside a scope
// does not inherit it, as a thread does not inherit torch's autocast state.
package scope

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var (
	open   atomic.Int64 // scopes open on all goroutines; 0 makes Current free
	values sync.Map     // thread id to innermost value
)

// Do runs body with v as the current value of the calling goroutine. The value
// before is current again when body returns, panics or ends its goroutine.
func Do(v any, body func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	id := threadID()
	outer, nested := values.Swap(id, v)
	open.Add(1)
	defer func() {
		open.Add(-1)
		if nested {
			values.Store(id, outer)
		} else {
			values.Delete(id)
		}
	}()
	body()
}

// Current returns the innermost value of the calling goroutine, or nil.
func Current() any {
	if open.Load() == 0 {
		return nil
	}
	v, _ := values.Load(threadID())
	return v
}

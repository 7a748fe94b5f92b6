//go:build ignore

package atomic

import "sync"

// Pointer uses a lock: there are no compiled atomic operations for an interpreted T.
type Pointer[T any] struct {
	mu sync.Mutex
	p  *T
}

func (x *Pointer[T]) Load() *T {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.p
}

func (x *Pointer[T]) Store(val *T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.p = val
}

func (x *Pointer[T]) Swap(new *T) (old *T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old = x.p
	x.p = new
	return old
}

func (x *Pointer[T]) CompareAndSwap(old, new *T) (swapped bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.p != old {
		return false
	}
	x.p = new
	return true
}

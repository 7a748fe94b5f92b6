package live

import (
	"io"
	"sync"
	"time"

	"halfnote/display"
)

// Sleep is time.Sleep; it ends early when the cell is told to stop.
func (r *Registry) Sleep(d time.Duration, mark int) {
	if r.arrive(mark) {
		defer r.depart()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Current().stop:
		r.Poll()
	}
}

// Wait waits for a group; it stops waiting when the cell is told to stop.
func (r *Registry) Wait(wg *sync.WaitGroup, mark int) {
	if r.arrive(mark) {
		defer r.depart()
	}
	r.wait(wg.Wait)
}

// WaitGo calls f in a goroutine that the group waits for.
func (r *Registry) WaitGo(wg *sync.WaitGroup, f func(), mark int) {
	wg.Add(1)
	r.Go(func() {
		defer wg.Done()
		f()
	}, mark)
}

// RLock locks l for reading.
func (r *Registry) RLock(l *sync.RWMutex, mark int) {
	if !l.TryRLock() {
		r.Lock(l.RLocker(), mark)
	}
}

// Lock locks l; it stops waiting when the cell is told to stop, and l is then unlocked
// again as soon as the lock is acquired.
func (r *Registry) Lock(l sync.Locker, mark int) {
	if t, ok := l.(interface{ TryLock() bool }); ok && t.TryLock() {
		return
	}
	if r.arrive(mark) {
		defer r.depart()
	}
	locked := aside(l.Lock)
	select {
	case v := <-locked:
		again(v)
	case <-r.Current().stop:
		defer func() {
			go func() {
				<-locked
				l.Unlock()
			}()
		}()
		r.Poll()
		<-locked
	}
}

// CondWait is the method Wait of sync.Cond. It also ends when the cell is told to stop. The
// lock is then held, so that deferred functions can unlock it.
func (r *Registry) CondWait(c *sync.Cond, mark int) {
	if r.arrive(mark) {
		defer r.depart()
	}
	woken := aside(c.Wait) // that goroutine takes over the lock and hands it back
	select {
	case v := <-woken:
		again(v)
	case <-r.Current().stop:
		c.Broadcast()
		<-woken
		r.Poll()
	}
}

// Unlock and the other unlocking functions panic where Go would end the process.

func (r *Registry) Unlock(l *sync.Mutex) {
	if l.TryLock() {
		l.Unlock()
		panic("sync: unlock of unlocked mutex")
	}
	l.Unlock()
}

func (r *Registry) UnlockRW(l *sync.RWMutex) {
	if l.TryRLock() {
		l.RUnlock()
		panic("sync: Unlock of unlocked RWMutex")
	}
	l.Unlock()
}

func (r *Registry) UnlockLocker(l sync.Locker) {
	switch l := l.(type) {
	case *sync.Mutex:
		r.Unlock(l)
	case *sync.RWMutex:
		r.UnlockRW(l)
	default:
		l.Unlock()
	}
}

func (r *Registry) RUnlock(l *sync.RWMutex) {
	if l.TryLock() {
		l.Unlock()
		panic("sync: RUnlock of unlocked RWMutex")
	}
	l.RUnlock()
}

func (r *Registry) wait(f func()) {
	done := aside(f)
	select {
	case v := <-done:
		again(v)
	case <-r.Current().stop:
		r.Poll()
		<-done
	}
}

// aside calls f in another goroutine. The channel gets the value with which f panicked, or nil, when it has ended.
func aside(f func()) (ended <-chan any) {
	c := make(chan any, 1)
	go func() {
		defer func() { c <- recover() }()
		f()
	}()
	return c
}

// again panics in the calling goroutine as f did in that of aside.
func again(v any) {
	if v != nil {
		panic(v)
	}
}

// Nowhere discards the output of what is not a cell.
type Nowhere struct{}

func (Nowhere) Display(display.Bundle) {}
func (Nowhere) Update(display.Bundle)  {}
func (Nowhere) Clear(bool)             {}
func (Nowhere) Stdout() io.Writer      { return io.Discard }
func (Nowhere) Stderr() io.Writer      { return io.Discard }

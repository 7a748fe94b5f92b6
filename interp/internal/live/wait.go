package live

import (
	"io"
	"reflect"
	"sync"
	"time"

	"halfnote/display"
)

// Sleep is time.Sleep; it ends early when the cell is told to stop.
func (r *Registry) Sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Current().stop:
		r.Poll()
	}
}

// Done returns a channel that is closed when the calling goroutine has to stop.
func (r *Registry) Done() <-chan struct{} { return r.Current().stop }

// Recv receives from a channel. A nil channel, like an empty one, waits for ever
// or until the cell is told to stop.
func (r *Registry) Recv(channel any) (v any, ok bool) {
	x, ok := r.recv(reflect.ValueOf(channel))
	return x.Interface(), ok
}

func (r *Registry) recv(ch reflect.Value) (reflect.Value, bool) {
	if !ch.IsNil() {
		if v, ok := ch.TryRecv(); v.IsValid() { // also when the channel is closed
			return v, ok
		}
	}
	for {
		stop := r.Current().stop
		i, v, ok := reflect.Select([]reflect.SelectCase{
			{Dir: reflect.SelectRecv, Chan: ch},
			{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(stop)},
		})
		if i == 0 {
			return v, ok
		}
		r.Poll()
		// A deferred function of a stopped goroutine: it may wait for what still
		// comes, but not for ever.
		if v, ok := ch.TryRecv(); v.IsValid() {
			return v, ok
		}
		time.Sleep(time.Millisecond)
	}
}

// Wait waits for a group; it stops waiting when the cell is told to stop.
func (r *Registry) Wait(wg *sync.WaitGroup) { r.wait(wg.Wait) }

// Lock locks l; it stops waiting when the cell is told to stop, and l will then be
// unlocked again as soon as the lock comes.
func (r *Registry) Lock(l sync.Locker) {
	if t, ok := l.(interface{ TryLock() bool }); ok && t.TryLock() {
		return
	}
	locked := make(chan struct{})
	go func() {
		l.Lock()
		close(locked)
	}()
	select {
	case <-locked:
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

func (r *Registry) wait(f func()) {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	select {
	case <-done:
	case <-r.Current().stop:
		r.Poll()
		<-done
	}
}

// nowhere takes what is written before the first cell.
type nowhere struct{}

func (nowhere) Display(display.Bundle) {}
func (nowhere) Update(display.Bundle)  {}
func (nowhere) Clear(bool)             {}
func (nowhere) Stdout() io.Writer      { return io.Discard }
func (nowhere) Stderr() io.Writer      { return io.Discard }

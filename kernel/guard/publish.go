package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// wireSize returns how many bytes frames have as a message on the wire.
func wireSize(frames [][]byte) (n int64) {
	for _, f := range frames {
		n += int64(2 + len(f))
		if len(f) > 255 {
			n += 7
		}
	}
	return n
}

// messageCost is what a message inside zmq4 counts beyond its bytes: of small
// ones there are at most 64.
func (c Config) messageCost() int64 { return int64(c.High/64 + 1) }

// Publish sends one message, its topic first, to all who subscribe to it. It
// waits while every subscriber to the topic has more than High bytes to take,
// so the fastest sets the pace and loses nothing; peers that have taken nothing
// for Patience are not waited for. The error is ctx's, net.ErrClosed after
// Close, or one that says what is wrong with the call.
//
// The frames belong to the guard afterwards: do not change them. On a socket
// that publishes nothing else may send. Publish may be called from any
// goroutine.
func (l *Listener) Publish(ctx context.Context, frames ...[]byte) error {
	if !l.publishes() {
		return fmt.Errorf("guard: publish: a %s socket, want PUB or XPUB", l.socket.Type())
	}
	if len(frames) == 0 {
		return errors.New("guard: publish: no frames, want a topic at least")
	}
	if err := l.waitUntil(ctx, func() (bool, time.Duration) { return l.paced(frames[0]) }); err != nil {
		return err
	}
	l.sent.Add(wireSize(frames) + l.config.messageCost())
	return l.socket.SendMulti(zmq4.NewMsgFrom(frames...))
}

// Flush waits until all that was published, or sent through a ROUTER, has left
// for the network. Peers that have taken nothing for Patience are not waited
// for. The error is ctx's, or net.ErrClosed after Close.
func (l *Listener) Flush(ctx context.Context) error {
	if l.publishes() {
		inside := func() (bool, time.Duration) { return l.seen.Load() >= l.sent.Load(), l.config.Patience }
		if err := l.waitUntil(ctx, inside); err != nil {
			return err
		}
		// The tap is the first to get a message. zmq4 takes in a connection only
		// between two messages: then the others have the last one, too.
		if err := l.attach(ctx, &tap{}); err != nil {
			return err
		}
	}
	return l.waitUntil(ctx, l.drained)
}

// waitUntil waits until ok says so. It asks again when something has changed,
// or after the time that ok returns.
func (l *Listener) waitUntil(ctx context.Context, ok func() (bool, time.Duration)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		changed := l.changed.wait()
		select {
		case <-l.done:
			return net.ErrClosed
		default:
		}
		yes, again := ok()
		if yes {
			return nil
		}
		timer := time.NewTimer(again)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		case <-l.done:
		}
		timer.Stop()
	}
}

// paced reports whether a message may go out under topic now, and if not, when to
// ask again.
func (l *Listener) paced(topic []byte) (ok bool, again time.Duration) {
	again = l.config.Patience
	if l.sent.Load()-l.seen.Load() > int64(l.config.High) {
		return false, again // zmq4's queue has no bound of its own
	}
	ok = true
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.doomed || !c.subscribes(topic) {
			continue
		}
		left := c.patience()
		if left <= 0 {
			continue
		}
		if c.queued.Load() <= int64(l.config.High) {
			return true, 0
		}
		ok = false
		again = min(again, left)
	}
	return ok, again
}

// drained reports whether nothing waits for any peer that still reads.
func (l *Listener) drained() (ok bool, again time.Duration) {
	ok, again = true, l.config.Patience
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if left := c.patience(); left > 0 && c.queued.Load() > 0 {
			ok = false
			again = min(again, left)
		}
	}
	return ok, again
}

// signal wakes all who wait for a change. Whoever asks for the channel before
// looking at the state misses none.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}

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

// wireSize returns the size of frames as a message on the wire.
func wireSize(frames [][]byte) (n int64) {
	for _, f := range frames {
		n += int64(2 + len(f))
		if len(f) > 255 {
			n += 7
		}
	}
	return n
}

// messageCost is added to the length of a message inside zmq4 when it counts towards
// High: it limits the number of small messages to 64.
func (c Config) messageCost() int64 { return int64(c.High/64 + 1) }

// Publish sends one message, its topic first, to all subscribers of the topic. It waits
// while every subscriber has more than High bytes queued, so the fastest sets the pace
// and loses nothing; it does not wait for peers that have taken nothing for Patience.
// The error is ctx's, net.ErrClosed after Close, or a usage error.
//
// The frames belong to the guard afterwards: do not change them. All messages of a
// socket that publishes must go through Publish. Publish may be called from any
// goroutine.
func (l *Listener) Publish(ctx context.Context, frames ...[]byte) error {
	if !l.publishes() {
		return fmt.Errorf("guard: publish: socket type %s, want PUB or XPUB", l.socket.Type())
	}
	if len(frames) == 0 {
		return errors.New("guard: publish: no frames, want at least a topic")
	}
	if err := l.waitUntil(ctx, func() (bool, time.Duration) { return l.paced(frames[0]) }); err != nil {
		return err
	}
	l.sent.Add(wireSize(frames) + l.config.messageCost())
	return l.socket.SendMulti(zmq4.NewMsgFrom(frames...))
}

// Flush waits until all messages published, or sent through a ROUTER, have been written
// to the network. It does not wait for peers that have taken nothing for Patience. The
// error is ctx's, or net.ErrClosed after Close.
func (l *Listener) Flush(ctx context.Context) error {
	if l.publishes() {
		inside := func() (bool, time.Duration) { return l.seen.Load() >= l.sent.Load(), l.config.Patience }
		if err := l.waitUntil(ctx, inside); err != nil {
			return err
		}
		// The tap is the first to get a message. zmq4 accepts a connection only between
		// two messages: then the others have the last one too.
		if err := l.attach(ctx, &tap{}); err != nil {
			return err
		}
	}
	return l.waitUntil(ctx, l.drained)
}

// waitUntil waits until ok returns true. It checks again after a change, or after the
// time that ok returns.
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

// paced reports whether a message may be published under topic now, and if not, when to
// check again.
func (l *Listener) paced(topic []byte) (ok bool, again time.Duration) {
	again = l.config.Patience
	if l.sent.Load()-l.seen.Load() > int64(l.config.High) {
		return false, again // zmq4's queue has no limit
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

// drained reports whether no bytes are queued for any peer that still reads.
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

// signal wakes all waiters on a change. A waiter that takes the channel before it
// examines the state misses no change.
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

package guard

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// tap is a connection inside this process that zmq4 treats as a subscriber. It measures
// what zmq4 does not report: how much it has sent, and that it has accepted a
// connection.
type tap struct {
	seen    *atomic.Int64 // bytes that zmq4 has written; nil in a tap that subscribes to nothing
	cost    int64         // bytes counted for each message in addition to its own
	changed *signal

	input   []byte        // input that zmq4 has yet to read
	taken   chan struct{} // closed once zmq4 has acted on all input
	takenOK sync.Once
	gone    chan struct{}
	goneOK  sync.Once
	track   tracker
	greeted bool
}

// attach hands t to zmq4 and waits until zmq4 has accepted it. A tap that counts
// subscribes to everything and stays; others leave at once.
func (l *Listener) attach(ctx context.Context, t *tap) error {
	t.taken, t.gone = make(chan struct{}), make(chan struct{})
	t.track.greeting = greetingSize
	t.input = append(greeting(), readyFrame("SUB", "")...)
	if t.seen != nil {
		t.input = appendFrame(t.input, 0, []byte{subscribe})
	}
	select {
	case l.ready <- t:
	case <-l.done:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-t.taken:
		return nil
	case <-l.done:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read serves the handshake. zmq4 reads more only after it has acted on its input.
func (t *tap) Read(p []byte) (int, error) {
	if len(t.input) > 0 {
		n := copy(p, t.input)
		t.input = t.input[n:]
		return n, nil
	}
	t.takenOK.Do(func() { close(t.taken) })
	if t.seen != nil {
		<-t.gone
	}
	return 0, netError("read", net.ErrClosed)
}

// Write counts the bytes after READY.
func (t *tap) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		n, end := t.track.take(p)
		p = p[n:]
		end = end && !t.track.more
		if t.greeted && t.seen != nil {
			t.seen.Add(int64(n))
			if end {
				t.seen.Add(t.cost)
				t.changed.raise()
			}
		}
		t.greeted = t.greeted || end
	}
	return total, nil
}

func (t *tap) Close() error {
	t.goneOK.Do(func() { close(t.gone) })
	return nil
}

func (t *tap) LocalAddr() net.Addr              { return &net.UnixAddr{Name: "tap", Net: "unix"} }
func (t *tap) RemoteAddr() net.Addr             { return t.LocalAddr() }
func (t *tap) SetDeadline(time.Time) error      { return nil }
func (t *tap) SetReadDeadline(time.Time) error  { return nil }
func (t *tap) SetWriteDeadline(time.Time) error { return nil }

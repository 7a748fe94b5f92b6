package guard

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// tap is a connection inside this process that zmq4 takes for a subscriber. It
// tells what zmq4 does not: how many messages it has passed on, and that it has
// taken a connection in. The zero value subscribes to nothing.
type tap struct {
	messages *atomic.Int64 // counts what zmq4 has written, if not nil
	changed  *signal

	input   []byte // what zmq4 has yet to read
	stays   bool
	taken   chan struct{} // closed once zmq4 has acted on all input
	takenOK sync.Once
	gone    chan struct{}
	goneOK  sync.Once
	track   tracker
	greeted bool
}

// attach hands t to zmq4 and waits until zmq4 has taken it in. One that stays
// subscribes to everything; others leave at once.
func (l *Listener) attach(t *tap, stays bool) error {
	t.taken, t.gone = make(chan struct{}), make(chan struct{})
	t.stays = stays
	t.track.greeting = greetingSize
	t.input = append(greeting(), readyFrame("SUB", "")...)
	if stays {
		t.input = appendFrame(t.input, 0, []byte{subscribe})
	}
	select {
	case l.ready <- t:
	case <-l.done:
		return net.ErrClosed
	}
	select {
	case <-t.taken:
		return nil
	case <-l.done:
		return net.ErrClosed
	}
}

// Read serves the handshake. zmq4 comes back for more only after it has acted
// on what it had.
func (t *tap) Read(p []byte) (int, error) {
	if len(t.input) > 0 {
		n := copy(p, t.input)
		t.input = t.input[n:]
		return n, nil
	}
	t.takenOK.Do(func() { close(t.taken) })
	if t.stays {
		<-t.gone
	}
	return 0, netError("read", net.ErrClosed)
}

// Write counts messages, all but the first, which is READY.
func (t *tap) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		n, end := t.track.take(p)
		p = p[n:]
		if !end || t.track.more {
			continue
		}
		if t.greeted && t.messages != nil {
			t.messages.Add(1)
			t.changed.raise()
		}
		t.greeted = true
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

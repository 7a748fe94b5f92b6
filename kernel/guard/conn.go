package guard

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"halfnote/kernel/curve"
)

// conn is the net.Conn that zmq4 holds for one peer. Two queues stand between the
// network and zmq4:
//
//	peer ── pump ── frames ──▶ Read ──▶ zmq4
//	peer ◀── drain ◀── bytes ◀── Write ◀── zmq4
//
// The pump answers pings and drops frames that zmq4 must not see. A route stands
// between zmq4 and the connections of one identity. Locks are taken in the order
// route.mu, out, in, Listener.mu.
type conn struct {
	listener *Listener
	net      net.Conn
	reader   *bufio.Reader
	session  *curve.Session // encrypts, if Config.Keys is set
	peerType string
	identity string // identity; empty on sockets that do not route by it

	in     *inbound // shared by the connections of one route
	out    outbound
	queued atomic.Int64 // bytes in out and in drain's current write; changed under out's lock
	taken  atomic.Int64 // time when the peer last took bytes, or when the oldest queued bytes came; by Listener.now
	logged sync.Once    // guards the log line of the cut
	left   sync.Once    // guards the call of Listener.leave
	over   sync.Once    // guards the call of Config.Cut

	number uint64        // ordinal number of this peer; set by Listener.enter
	route  *route        // nil without an identity; set by Listener.enter
	joined bool          // whether zmq4 has the route already; set by Listener.enter
	doomed bool          // whether Listener.longest chose it; guarded by Listener.mu
	topics subscriptions // topics, changed by pump, guarded by Listener.mu

	came     time.Time
	trusted  atomic.Bool // whether the peer has proved itself
	borrowed int         // bytes of Strangers; guarded by its lock, as evicted is
	evicted  bool
	partial  []inFrame // frames of the message that pump is reading
	asked    int       // number of these when they were last asked for a proof
	asks     int       // how often, for this message
}

func newConn(l *Listener, nc net.Conn) *conn {
	// 8 KiB: five hundred clients with 64 KiB each would cost 32 MB.
	c := &conn{listener: l, net: nc, reader: bufio.NewReaderSize(nc, 8<<10), in: newInbound(), came: time.Now()}
	c.out.changed.L = &c.out.Mutex
	c.out.track.greeting = greetingSize
	return c
}

// run serves a connection from its handshake to the end of its input.
func (c *conn) run() {
	c.listener.config.Strangers.greet()
	if err := c.shakeHands(); err != nil {
		if !c.listener.turnAway(c) {
			err = errOusted
		}
		if err != io.EOF { // a peer that only probes the port closes it at once
			c.listener.log.printf("guard: %s: refused: %v", c.net.RemoteAddr(), err)
		}
		c.net.Close()
		return
	}
	go c.drain()
	if c.joined {
		c.pump()
		return
	}
	select {
	case c.listener.ready <- c.face():
		c.pump()
	case <-c.listener.done:
		c.Close()
	}
}

// face returns the net.Conn that zmq4 gets for the connection.
func (c *conn) face() net.Conn {
	if c.route != nil {
		return c.route
	}
	return c
}

// patience returns how long to keep waiting for c; negative if the time is over.
func (c *conn) patience() time.Duration {
	if c.queued.Load() == 0 {
		return c.listener.config.Patience
	}
	return c.listener.config.Patience - time.Duration(c.listener.now()-c.taken.Load())
}

// ended cuts the connection after an error of the network or of the peer. A peer that
// has left is not logged.
func (c *conn) ended(err error) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		c.cut("")
	default:
		c.cut(err.Error())
	}
}

// cut ends the connection at once and drops what is queued for the peer; messages that
// the peer has already sent are still served. An empty reason is not logged.
func (c *conn) cut(reason string) {
	if reason != "" {
		c.logged.Do(func() { c.listener.log.printf("guard: %s: disconnected: %s", c.net.RemoteAddr(), reason) })
	}
	c.leave()
	c.net.Close()
	c.out.Lock()
	c.out.fail(netError("write", net.ErrClosed))
	c.discard()
	c.out.Unlock()
	c.listener.changed.raise()
}

// overflow cuts a connection whose queue is too long.
func (c *conn) overflow(reason string) {
	if told := c.listener.config.Cut; told != nil {
		c.over.Do(told)
	}
	c.cut(reason)
}

// Close sends what is queued for up to Linger, in the background.
func (c *conn) Close() error {
	c.out.Lock()
	closed := c.out.closed
	c.out.closed = true
	c.out.changed.Broadcast()
	c.out.Unlock()
	if closed {
		return nil
	}
	c.net.SetWriteDeadline(time.Now().Add(c.listener.config.Linger))
	c.net.SetReadDeadline(time.Now()) // ends the pump
	c.leave()
	return nil
}

// leave removes c from the Listener, and ends zmq4's reader if no further message can
// come.
func (c *conn) leave() {
	c.left.Do(func() {
		c.listener.config.Strangers.repay(c, 0)
		if c.listener.leave(c) {
			c.in.finish()
		}
	})
}

func (c *conn) LocalAddr() net.Addr  { return c.net.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr { return c.net.RemoteAddr() }

// zmq4 sets no deadlines, and of its calls here only Read blocks.

func (c *conn) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (c *conn) SetReadDeadline(time.Time) error  { return errors.ErrUnsupported }
func (c *conn) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

// netError returns an error that makes zmq4 forget a connection. zmq4 does so only on
// io.EOF and on a net.Error that is not a timeout.
func netError(op string, err error) error {
	return &net.OpError{Op: op, Net: "guard", Err: err}
}

// subscriptions is the set of topics of one peer; each counts frameCost bytes more than
// its length. zmq4 keeps them all, so they need a limit.
type subscriptions struct {
	set  map[string]bool
	size int
}

// maxTopics is the limit on the bytes of one peer's topics.
const maxTopics = 256 << 10

func (s *subscriptions) add(topic string) bool {
	if !s.set[topic] {
		s.size += len(topic) + frameCost
	}
	if s.size > maxTopics {
		return false
	}
	if s.set == nil {
		s.set = map[string]bool{}
	}
	s.set[topic] = true
	return true
}

func (s *subscriptions) remove(topic string) {
	if s.set[topic] {
		delete(s.set, topic)
		s.size -= len(topic) + frameCost
	}
}

func (s *subscriptions) match(topic []byte) bool {
	for prefix := range s.set {
		if bytes.HasPrefix(topic, []byte(prefix)) {
			return true
		}
	}
	return false
}

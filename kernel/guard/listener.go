package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// Listener accepts peers for one socket. To zmq4 it is a net.Listener whose connections
// have completed their handshakes.
type Listener struct {
	config  Config
	socket  zmq4.Socket
	network string
	address string
	inner   net.Listener
	ctx     context.Context // zmq4's context, ends when the socket is closed
	born    time.Time
	log     lines

	ready     chan net.Conn // peers for zmq4 to accept
	done      chan struct{} // closed by Close
	closeOnce sync.Once
	drains    sync.WaitGroup

	sent    atomic.Int64 // bytes, and messageCost for each message, that Publish has handed to zmq4
	seen    atomic.Int64 // the part of sent that zmq4 has written to the tap
	queued  atomic.Int64 // bytes queued for all peers together
	changed signal       // a queue has shrunk, a peer has left, or the tap has seen a message

	mu         sync.Mutex // never held while a conn's lock is taken
	closed     bool
	pending    []*conn
	conns      map[*conn]struct{}
	entered    uint64 // number of peers so far
	identities map[string]*route
}

func newListener(s zmq4.Socket, network, address string, c Config) *Listener {
	c = c.withDefaults()
	l := &Listener{
		config: c, socket: s, network: network, address: address, born: time.Now(),
		log:        lines{print: c.Log},
		ready:      make(chan net.Conn, 16),
		done:       make(chan struct{}),
		conns:      map[*conn]struct{}{},
		identities: map[string]*route{},
	}
	c.Strangers.join(l)
	return l
}

// publishes reports whether peers may send only subscriptions.
func (l *Listener) publishes() bool {
	return l.socket.Type() == zmq4.Pub || l.socket.Type() == zmq4.XPub
}

// now is the time since the listener was made, independent of changes to the clock.
func (l *Listener) now() int64 { return int64(time.Since(l.born)) }

func (l *Listener) open(ctx context.Context) error {
	inner, err := listen(ctx, l.network, l.address)
	if err != nil {
		return err
	}
	l.inner, l.ctx = inner, ctx
	context.AfterFunc(ctx, func() { l.Close() })
	go l.serve()
	return nil
}

// listen enables keep-alive probes on accepted connections, so that a peer whose
// network broke frees its slot within half a minute.
func listen(ctx context.Context, network, address string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	inner, err := lc.Listen(ctx, network, address)
	if network == "unix" && errors.Is(err, syscall.EADDRINUSE) && abandoned(address) {
		os.Remove(address)
		inner, err = lc.Listen(ctx, network, address)
	}
	return inner, err
}

// abandoned reports whether path is the socket of a process that has died.
func abandoned(path string) bool {
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// Addr returns the address that peers connect to, with the port that the system chose
// for port 0.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Counts returns the number of connected peers and of handshakes in progress.
func (l *Listener) Counts() (conns, pending int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns), len(l.pending)
}

// Accept is for zmq4. It returns the next peer that has completed its handshake, and an
// error only after the socket was closed, because zmq4 retries at once.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.done:
		<-l.ctx.Done()
		return nil, net.ErrClosed
	}
}

// Close stops listening and disconnects all peers; it waits up to Linger for their
// queues. Closing the socket closes its Listener.
func (l *Listener) Close() error {
	var err error
	l.closeOnce.Do(func() {
		l.mu.Lock()
		l.closed = true
		pending := slices.Clone(l.pending) // handshakes that end remove themselves
		var conns []*conn
		for c := range l.conns {
			conns = append(conns, c)
		}
		l.mu.Unlock()
		close(l.done)
		err = l.inner.Close()
		for _, c := range pending {
			c.net.Close()
		}
		for _, c := range conns {
			c.Close()
		}
	})
	l.drains.Wait()
	return err
}

// serve accepts connections and starts the handshake of each.
func (l *Listener) serve() {
	var pause time.Duration
	for {
		nc, err := l.inner.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			pause = min(2*pause+time.Millisecond, time.Second) // out of descriptors, most likely
			select {
			case <-l.done:
				return
			case <-time.After(pause):
				l.log.printf("guard: accept: %v, retrying after %v", err, pause)
			}
			continue
		}
		pause = 0
		c := newConn(l, nc)
		if !l.await(c) {
			nc.Close()
			return
		}
		go c.run()
	}
}

// await adds a connection to the pending ones. At the limit it closes the oldest.
func (l *Listener) await(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if len(l.pending) >= l.config.MaxPending {
		l.pending[0].net.Close()
		l.pending = slices.Delete(l.pending, 0, 1)
	}
	l.pending = append(l.pending, c)
	return true
}

// enter moves a connection from the pending ones to the peers. Its error is the reason
// for a refusal.
func (l *Listener) enter(c *conn) error {
	known := l.crowded()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch i := slices.Index(l.pending, c); {
	case l.closed:
		return net.ErrClosed
	case i < 0:
		return errOusted
	case len(l.conns) >= l.config.MaxConns && !l.spare(known):
		return fmt.Errorf("the limit of %d connected peers is reached", len(l.conns))
	default:
		l.pending = slices.Delete(l.pending, i, i+1)
	}
	l.entered++
	c.number = l.entered
	if c.identity != "" {
		l.join(c)
	}
	l.conns[c] = struct{}{}
	l.drains.Add(1)
	return nil
}

var errOusted = errors.New("too many handshakes in progress, and this was the oldest")

// turnAway forgets a connection that has not entered. It reports whether the connection
// was still pending, and not ousted by a newer one.
func (l *Listener) turnAway(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.pending, c)
	if i >= 0 {
		l.pending = slices.Delete(l.pending, i, i+1)
	}
	return i >= 0 || l.closed
}

// leave forgets a peer. It reports whether no further message can come for zmq4's
// reader: no other connection holds the identity.
func (l *Listener) leave(c *conn) (over bool) {
	l.mu.Lock()
	delete(l.conns, c)
	over = c.route == nil || l.part(c)
	l.mu.Unlock()
	l.changed.raise()
	return over
}

// longest returns the peer with the longest queue, when all together exceed Total, and
// marks it: it no longer counts.
func (l *Listener) longest() *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	var victim *conn
	var sum, most int64
	for c := range l.conns {
		if c.doomed {
			continue
		}
		n := c.queued.Load()
		sum += n
		if victim == nil || n > most {
			victim, most = c, n
		}
	}
	if sum <= int64(l.config.Total) || victim == nil {
		return nil
	}
	victim.doomed = true
	return victim
}

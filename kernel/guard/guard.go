// Package guard lets a zmq4 socket listen where peers may be hostile, silent or stuck.
// It is a transport for zmq4: all bytes that a socket receives or sends pass through
// it, so zmq4 stays an unmodified module.
//
// The guard completes each handshake itself, reads whole frames under a limit before
// zmq4 sees their headers, answers pings, queues outgoing bytes, sends new subscribers
// a welcome, and disconnects peers that misbehave. zmq4 gets well-formed frames only
// and never waits for the network. When a peer arrives with the identity of another,
// the guard hands the identity over, as libzmq does with ZMQ_ROUTER_HANDOVER: a client
// that returns after its connection broke is served at once. zmq4 still does routing by
// identity, topic filters, fan-out and envelopes.
//
// The guard speaks ZMTP 3.0 (https://rfc.zeromq.org/spec/23) with the mechanism NULL, or
// CURVE if it has keys: then it decrypts what peers send before zmq4 sees it, and encrypts
// what zmq4 sends, so that the same limits hold. [Dial] is the client's side of CURVE. The
// guard does not depend on Jupyter.
package guard

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"

	"halfnote/kernel/curve"
)

// Config holds the limits of one listener. A field that is zero or negative has its
// default, given after the semicolon.
type Config struct {
	// Keys makes the mechanism CURVE: a peer must know the public key, and all messages
	// are encrypted. With nil the mechanism is NULL.
	Keys *curve.Keys
	// MaxMessage is the limit on the bytes of one inbound message: the sum of its
	// frames, each counted with 64 bytes more; 64 MiB. A peer that announces more is
	// disconnected.
	MaxMessage int
	// Handshake is the time from connecting to READY; 5 s.
	Handshake time.Duration
	// MaxPending is the limit on handshakes in progress; 64. A further one ends the
	// oldest.
	MaxPending int
	// MaxConns is the limit on connected peers; 256. The next takes the place of the oldest peer that has proved nothing and does not
	// come from where a proven one does, or else is refused.
	MaxConns int
	// High is the number of bytes that may be queued for even the fastest subscriber
	// before Publish waits, and for the socket's reader before the peer has to wait; 1
	// MiB.
	High int
	// Limit is the number of bytes that may be queued for one peer when a message
	// begins; 64 MiB. A peer with more is disconnected. It should be a multiple of
	// High.
	Limit int
	// Total is the number of bytes that may be queued for all peers together; 256 MiB.
	// Above it the peer with the longest queue is disconnected.
	Total int
	// Patience is how long a peer may take nothing from its queue before Publish and
	// Flush stop waiting for it; 10 s.
	Patience time.Duration
	// Linger is how long a closed connection may take to send its queue; 1 s.
	Linger time.Duration
	// Proves reports whether a message, given by its frames without the identity,
	// proves that its sender may have its identity, for example by knowing a key. A
	// connection that shares its identity with older ones is on probation until it has
	// sent such a message. Proves may be called from any goroutine. With nil no proof
	// is needed: the newest connection has the identity. Sockets other than ROUTER
	// ignore Proves. It may be asked about the first frames of a message whose others are long.
	Proves func(frames [][]byte) bool
	// Strangers is the budget of memory of peers that have proved nothing, which several listeners
	// may share; with nil, MaxMessage and MaxConns are the only limits.
	Strangers *Strangers
	// Holds keeps messages to an identity from a connection on probation: the newest
	// proven connection gets them, and the new peer gets a copy once it has proved
	// itself. So a peer without the key can neither read replies nor take them away.
	// Copies of more than High bytes are not kept.
	Holds bool
	// Log gets a line for each peer that is refused or disconnected, at a limited rate:
	// excess lines are counted instead. It may be called from any goroutine. Nil
	// discards the lines.
	Log func(format string, args ...any)
	// Cut is called before a peer is disconnected for not reading, which loses
	// messages. It may be called from any goroutine. Nil does nothing.
	Cut func()
	// Welcome returns the frames of the messages that greet a subscriber to topic, or
	// none. They are that subscriber's first messages, sent to no other, once the
	// subscription is in force: the subscriber misses nothing published later. Welcome
	// is called with a lock held, so it must do no more than build frames. With nil
	// there is no welcome. Sockets that do not publish ignore it.
	Welcome func(topic []byte) [][][]byte
}

func (c Config) withDefaults() Config {
	setDefault(&c.MaxMessage, 64<<20)
	setDefault(&c.Handshake, 5*time.Second)
	setDefault(&c.MaxPending, 64)
	setDefault(&c.MaxConns, 256)
	setDefault(&c.High, 1<<20)
	setDefault(&c.Limit, 64<<20)
	setDefault(&c.Total, 256<<20)
	setDefault(&c.Patience, 10*time.Second)
	setDefault(&c.Linger, time.Second)
	return c
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Listen binds s, a ROUTER, REP, PUB or XPUB socket, to an address of network "tcp", "tcp4" or
// "unix" as package net writes them, and accepts peers behind the guard until s or the
// Listener is closed. A stale unix socket file is replaced. A socket can be bound once.
func Listen(s zmq4.Socket, network, address string, c Config) (*Listener, error) {
	fail := func(err error) (*Listener, error) {
		return nil, fmt.Errorf("guard: listen on %s %s: %w", network, address, err)
	}
	if network != "tcp" && network != "tcp4" && network != "unix" {
		return fail(fmt.Errorf("network %q, want tcp, tcp4 or unix", network))
	}
	if partners[s.Type()] == nil {
		return fail(fmt.Errorf("socket type %s, want ROUTER, REP, PUB or XPUB", s.Type()))
	}
	l := newListener(s, network, address, c)
	key := listening.add(l)
	defer listening.remove(key)
	if err := s.Listen("guard://" + key); err != nil {
		return fail(err)
	}
	if l.publishes() {
		counts := &tap{seen: &l.seen, cost: l.config.messageCost(), changed: &l.changed}
		if err := l.attach(context.Background(), counts); err != nil {
			l.Close()
			return fail(err)
		}
	}
	return l, nil
}

// These tables hand listeners and targets over to the transport, which zmq4 calls with
// only an address.
var (
	listening = table[*Listener]{waiting: map[string]*Listener{}}
	dialing   = table[*target]{waiting: map[string]*target{}}
)

type table[T any] struct {
	mu      sync.Mutex
	last    int
	waiting map[string]T
}

func (t *table[T]) add(v T) (key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	key = strconv.Itoa(t.last)
	t.waiting[key] = v
	return key
}

func (t *table[T]) find(key string) T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting[key]
}

func (t *table[T]) remove(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, key)
}

// driver is the transport "guard" of zmq4.
type driver struct{}

func init() {
	if err := zmq4.RegisterTransport("guard", driver{}); err != nil {
		panic(err)
	}
}

func (driver) Addr(endpoint string) (string, error) { return endpoint, nil }

func (driver) Dial(ctx context.Context, d transport.Dialer, key string) (net.Conn, error) {
	t := dialing.find(key)
	if t == nil {
		return nil, fmt.Errorf("guard: dial: no endpoint %q, call guard.Dial", key)
	}
	return t.open(ctx, d)
}

func (driver) Listen(ctx context.Context, key string) (net.Listener, error) {
	l := listening.find(key)
	if l == nil {
		return nil, fmt.Errorf("guard: listen: no endpoint %q, call guard.Listen", key)
	}
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

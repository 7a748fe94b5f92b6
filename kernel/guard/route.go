package guard

import (
	"net"
	"slices"
	"sync"
)

// route is the net.Conn that zmq4 holds for one identity of a ROUTER. It
// outlives connections: when another peer comes with the same identity, the
// route is handed over, and zmq4 does not notice.
//
// The rule is that of libzmq with ZMQ_ROUTER_HANDOVER, as measured with version 4.3.5:
//   - The newest connection takes over when its handshake is complete, not
//     before. From then on it gets every message to the identity, including replies
//     to requests of the connection before it.
//   - The displaced connection stays open and is not notified. If it were
//     disconnected, its peer would connect again, and two clients would displace
//     each other forever.
//   - Messages already queued for the displaced peer are still sent to it. Messages
//     that it sends from then on are dropped.
//   - When the newest connection ends, no other takes its place.
//
// The route differs in three points:
//   - libzmq drops requests of the displaced peer that the socket has not
//     received. Here they are served: TCP has acknowledged them.
//   - Identities are public, so a connection can be asked for a proof. With
//     Config.Proves, a new peer is on probation until it sends a message that
//     Proves accepts. Until then the peer that it displaced takes the identity
//     back by sending such a message, or when the new peer leaves. With
//     Config.Holds it also still gets the messages to the identity; the new peer
//     gets a copy once it has proved itself. A new peer that has proved itself
//     cannot be displaced by an older connection.
//   - Displaced connections count among MaxConns. The oldest of them is cut
//     when another peer needs its place.
type route struct {
	*conn // the first connection; its queue of frames is that of the route

	// Guarded by Listener.mu.
	holder *conn   // gets the messages; nil when the route is over
	peers  []*conn // connected peers, the newest last
	proven uint64  // number of the newest connection that has proved itself

	mu      sync.Mutex // taken before all other locks
	track   tracker    // position in zmq4's stream
	greeted bool       // whether zmq4's READY has passed
	to      []*conn    // connections that get the message that zmq4 is writing
	held    held
}

// held is a copy of the messages that a new peer on probation gets once it has proved
// itself.
type held struct {
	by       *conn // new peer; nil for none
	messages []byte
	writing  bool // whether the message that zmq4 is writing is among them
}

func newRoute(first *conn) *route {
	return &route{conn: first, to: []*conn{first}, track: tracker{greeting: greetingSize}}
}

// join makes c the newest connection of its identity; Listener.mu is held.
func (l *Listener) join(c *conn) {
	r := l.identities[c.identity]
	if r == nil {
		r = newRoute(c)
		l.identities[c.identity] = r
	} else {
		c.in = r.in
		c.out.greeted, c.out.track.greeting = true, 0 // zmq4 has greeted the first connection
		c.joined = true
	}
	c.route = r
	r.holder, r.peers = c, append(r.peers, c)
	if l.config.Proves == nil {
		r.proven = c.number
	}
}

// part removes c from its route and reports whether the route is over; Listener.mu is
// held.
func (l *Listener) part(c *conn) (over bool) {
	r := c.route
	if i := slices.Index(r.peers, c); i >= 0 {
		r.peers = slices.Delete(r.peers, i, i+1)
	}
	if r.holder != c {
		return false
	}
	r.holder = nil
	if n := len(r.peers); n > 0 && r.peers[n-1].number >= r.proven {
		r.holder = r.peers[n-1] // the new peer has left without a proof
		return false
	}
	delete(l.identities, c.identity)
	return true
}

// speaks reports whether a message of c is served. The message may be the proof by
// which c takes its identity, or takes it back.
func (l *Listener) speaks(c *conn, message []inFrame) bool {
	r := c.route
	if r == nil {
		if l.config.Proves != nil && !c.trusted.Load() && l.config.Proves(bodies(message)) {
			c.trust()
		}
		return true
	}
	served, first := l.admits(r, c, message)
	if first {
		r.mu.Lock()
		r.release()
		r.mu.Unlock()
	}
	return served
}

// admits reports whether a message of c is served, and whether it is the first by which
// c has proved itself.
func (l *Listener) admits(r *route, c *conn, message []inFrame) (served, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.holder == nil, c.number < r.proven:
		return false, false
	case c.number > r.proven:
		l.mu.Unlock()
		proved := l.config.Proves(bodies(message))
		l.mu.Lock()
		if r.holder == nil || c.number < r.proven {
			return false, false // another connection has taken over in the meantime
		}
		if !proved {
			return r.holder == c, false
		}
		first = true
		c.trust()
	}
	r.holder, r.proven = c, c.number
	return true, first
}

func bodies(message []inFrame) (b [][]byte) {
	for _, f := range message {
		b = append(b, f.body)
	}
	return b
}

// spare removes a peer that is needed least and has it cut; Listener.mu is held. It reports whether there was one: the
// oldest displaced connection, or else the oldest peer that has proved nothing, of those that come from where no
// proven peer does; on sockets where peers can prove themselves, of all.
func (l *Listener) spare(known crowd) bool {
	for _, kind := range []struct {
		reason string
		fits   func(c *conn) bool
	}{
		{"a newer connection has its identity, and its slot is needed", func(c *conn) bool { return c.route != nil && c.route.holder != c }},
		{"it has proved nothing, and its slot is needed", func(c *conn) bool {
			return known.proven != nil && !c.trusted.Load() && !known.proven[c.origin(known.users)]
		}},
		{"it has proved nothing, and its slot is needed", func(c *conn) bool { return !c.trusted.Load() && l.config.Proves != nil && l.config.Holds }},
	} {
		var oldest *conn
		for c := range l.conns {
			if kind.fits(c) && (oldest == nil || c.number < oldest.number) {
				oldest = c
			}
		}
		if oldest != nil {
			delete(l.conns, oldest)
			if oldest.route != nil {
				l.part(oldest)
			}
			go oldest.cut(kind.reason)
			return true
		}
	}
	return false
}

// crowd is what spare must know of the peers of all listeners when one is full.
type crowd struct {
	users  map[endpoints]int
	proven map[origin]bool
}

// crowded returns what it knows of all peers when the listener is full, and nothing otherwise.
func (l *Listener) crowded() (known crowd) {
	if conns, _ := l.Counts(); conns < l.config.MaxConns {
		return known
	}
	known.users = localUsers()
	known.proven = l.config.Strangers.proven(known.users)
	return known
}

// Write passes each message to the connection that holds the identity when the message
// begins. It fails only when the route is over: Read reports that a peer has left,
// after it has served all messages that the peer sent.
func (r *route) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := len(p)
	for len(p) > 0 {
		if r.greeted && r.track.between() {
			r.release()
			r.address()
		}
		if len(r.to) == 0 {
			return 0, netError("write", net.ErrClosed)
		}
		n, end := r.track.take(p)
		for _, c := range r.to {
			c.Write(p[:n])
		}
		if r.held.writing {
			r.held.messages = append(r.held.messages, p[:n]...)
		}
		r.greeted = r.greeted || end
		p = p[n:]
		if r.track.between() {
			r.release()
		}
	}
	return total, nil
}

// Close closes the connection that holds the identity. zmq4 calls it when its socket is
// closed or the route is over.
func (r *route) Close() error {
	r.listener.mu.Lock()
	c := r.holder
	r.listener.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.Close()
}

// address chooses the connections that get the message that begins now.
func (r *route) address() {
	l := r.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	r.to, r.held.writing = nil, false
	if r.holder == nil {
		return
	}
	r.to = append(r.to, r.holder)
	if !l.config.Holds || r.holder.number <= r.proven {
		return
	}
	i := slices.IndexFunc(r.peers, func(c *conn) bool { return c.number == r.proven })
	if i < 0 {
		return
	}
	r.to[0] = r.peers[i]
	if r.held.by != r.holder {
		r.held = held{by: r.holder}
	}
	r.held.writing = len(r.held.messages) < l.config.High
}

// release passes the held messages to the new peer if it has proved itself, unless zmq4
// is in the middle of a message; r.mu is held.
func (r *route) release() {
	c := r.held.by
	if c == nil || !r.track.between() {
		return
	}
	l := r.listener
	l.mu.Lock()
	due := r.holder == c && c.number <= r.proven
	gone := r.holder != c
	l.mu.Unlock()
	if !due && !gone {
		return
	}
	messages := r.held.messages
	r.held = held{}
	if due {
		c.Write(messages)
	}
}

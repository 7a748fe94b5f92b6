package guard

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// Strangers limits what peers that have proved nothing may take of a process: they share one budget of memory, however many they are and
// whichever listener they reach. When it is used up, the oldest of them that takes part in it is disconnected. What they send beyond it is
// read slowly, and so are handshakes begun: peers that come again and again take neither memory nor time.
//
// A peer proves itself by a message that [Config.Proves] accepts, or by its beginning: a client whose first message is long needs
// the budget only for the frames that prove it. On sockets without Proves all peers are strangers.
type Strangers struct {
	most int

	mu             sync.Mutex
	used           int
	bytes          pace // of messages
	handshakes     pace
	taken, greeted int64   // bytes and handshakes so far
	debtors        []*conn // peers that take part, the oldest first
	listeners      []*Listener
}

// strangersBytes is the budget; free is what each connection may have without taking part, which a short message never exceeds.
const (
	strangersBytes = 16 << 20
	freeBytes      = 8 << 10
)

// NewStrangers returns a budget of 16 MiB, and of 8 MiB a second, for the listeners of a process, with 512 handshakes at once and 128 a second.
func NewStrangers() *Strangers {
	return &Strangers{most: strangersBytes, bytes: pace{burst: strangersBytes, rate: 8 << 20}, handshakes: pace{burst: 512, rate: 128}}
}

// pace limits a rate. The zero value does not.
type pace struct {
	burst, rate int       // units at once, and units a second
	left        float64   // units that may be used at once; negative while some must be waited for
	at          time.Time // time of left; zero before the first use
}

// take takes n units and returns how long to wait before they are used. That is at most two seconds: a peer that gives up while it waits must
// not make all others wait longer.
func (p *pace) take(n int, now time.Time) time.Duration {
	if p.rate == 0 {
		return 0
	}
	rate := float64(p.rate)
	if p.at.IsZero() {
		p.left = float64(p.burst)
	} else {
		p.left = min(float64(p.burst), p.left+rate*now.Sub(p.at).Seconds())
	}
	p.at = now
	p.left = max(p.left-float64(n), -2*rate)
	return time.Duration(max(0, -p.left/rate) * float64(time.Second))
}

// greet waits until one more handshake may begin.
func (s *Strangers) greet() {
	if s == nil {
		return
	}
	s.mu.Lock()
	wait := s.handshakes.take(1, time.Now())
	s.mu.Unlock()
	time.Sleep(wait)
	s.mu.Lock()
	s.greeted++
	s.mu.Unlock()
}

// lend lets c take n more bytes, after a while if strangers have taken many. Others may have to make room. The error is for a peer that takes
// more than all may.
func (s *Strangers) lend(c *conn, n int) error {
	if s == nil {
		return nil
	}
	more, wait, err := s.reserve(c, n)
	if err != nil || more == 0 {
		return err
	}
	time.Sleep(wait)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.evicted {
		return errEvicted
	}
	s.taken += int64(more)
	return nil
}

func (s *Strangers) reserve(c *conn, n int) (more int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.evicted {
		return 0, 0, errEvicted
	}
	if c.borrowed+n > s.most+freeBytes {
		return 0, 0, fmt.Errorf("a message of more than %d bytes from a peer that has not proved that it knows the key", s.most)
	}
	before := max(0, c.borrowed-freeBytes)
	c.borrowed += n
	more = max(0, c.borrowed-freeBytes) - before
	if more == 0 {
		return 0, 0, nil
	}
	if before == 0 {
		s.add(c)
	}
	for i := 0; s.used+more > s.most && i < len(s.debtors); {
		old := s.debtors[i]
		if old == c {
			i++
			continue
		}
		s.drop(old)
		old.evicted = true
		go old.cut(errEvicted.Error())
	}
	s.used += more
	return more, s.bytes.take(more, time.Now()), nil
}

var errEvicted = fmt.Errorf("peers that have not proved that they know the key sent too much, and this was the oldest")

// add puts c among the peers that take part, in the order of their arrival.
func (s *Strangers) add(c *conn) {
	i, _ := slices.BinarySearchFunc(s.debtors, c, func(a, b *conn) int { return a.came.Compare(b.came) })
	s.debtors = slices.Insert(s.debtors, i, c)
}

// drop takes c out of the peers that take part; s.mu is held.
func (s *Strangers) drop(c *conn) {
	s.used -= max(0, c.borrowed-freeBytes)
	c.borrowed = 0
	s.debtors = slices.DeleteFunc(s.debtors, func(d *conn) bool { return d == c })
}

// repay returns all that c has borrowed beyond its first rest bytes.
func (s *Strangers) repay(c *conn, rest int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.evicted || c.borrowed <= rest {
		return
	}
	if rest <= freeBytes {
		s.drop(c)
		c.borrowed = rest
		return
	}
	s.used -= c.borrowed - rest
	c.borrowed = rest
}

// join registers a listener, whose proven peers vouch for others of the same origin.
func (s *Strangers) join(l *Listener) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, l)
}

// origin is where a peer comes from: the host and, on this host, the user, if the system tells; 0 otherwise.
type origin struct {
	host string
	user int
}

// proven returns the origins that have a proven peer on any listener of the process; nil if no peer can prove itself.
func (s *Strangers) proven(users map[endpoints]int) map[origin]bool {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	listeners := append([]*Listener(nil), s.listeners...)
	s.mu.Unlock()
	if !slices.ContainsFunc(listeners, func(l *Listener) bool { return l.config.Proves != nil }) {
		return nil
	}
	known := map[origin]bool{}
	for _, l := range listeners {
		l.mu.Lock()
		for c := range l.conns {
			if c.trusted.Load() {
				known[c.origin(users)] = true
			}
		}
		l.mu.Unlock()
	}
	return known
}

// endpoints are the two ends of a connection, as the peer's side sees them.
type endpoints struct{ local, remote string }

// origin returns where the peer of c comes from.
func (c *conn) origin(users map[endpoints]int) origin {
	remote, ok := c.net.RemoteAddr().(*net.TCPAddr)
	if !ok { // a socket file: its folder decides who reaches it
		return origin{}
	}
	return origin{remote.IP.String(), users[endpoints{remote.String(), c.net.LocalAddr().String()}]}
}

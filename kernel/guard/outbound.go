package guard

import (
	"fmt"
	"net"
	"sync"
)

// outbound is the queue of bytes from zmq4 to the peer.
type outbound struct {
	sync.Mutex
	changed sync.Cond
	track   tracker // position in zmq4's stream
	greeted bool    // whether zmq4's READY has passed
	sealer  *sealer // encrypts the queue; nil with NULL
	queue   byteQueue
	own     [][]byte // messages of the guard that wait for the end of zmq4's
	welcome bool     // whether the peer has been welcomed
	closed  bool     // whether Close was called
	err     error    // returned by Write
}

const (
	maxOwn = 64
	wakeAt = 64 << 10 // bytes of an unfinished message at which drain is woken
)

// fail makes Write return err and drain stop.
func (out *outbound) fail(err error) {
	if out.err == nil {
		out.err = err
	}
	out.changed.Broadcast()
}

// failure is the error that Write returns instead of queueing.
func (out *outbound) failure() error {
	if out.err == nil && out.closed {
		return netError("write", net.ErrClosed)
	}
	return out.err
}

// Write queues zmq4's bytes and returns at once. It drops zmq4's greeting and READY:
// the guard has sent its own.
func (c *conn) Write(p []byte) (int, error) {
	c.out.Lock()
	defer c.out.Unlock()
	total := len(p)
	for len(p) > 0 {
		if c.out.greeted && c.out.track.between() {
			c.begin()
		}
		if err := c.out.failure(); err != nil {
			return 0, err
		}
		n, end := c.out.track.take(p)
		if c.out.greeted {
			c.enqueue(p[:n])
		}
		p = p[n:]
		if !end || c.out.track.more {
			continue
		}
		c.out.greeted = true
		for _, b := range c.out.own {
			c.enqueue(b)
		}
		c.out.own = nil
		c.out.changed.Signal()
	}
	if c.out.queue.size > wakeAt {
		c.out.changed.Signal()
	}
	return total, nil
}

// begin prepares for a message of zmq4; c.out is locked.
func (c *conn) begin() {
	if !c.admit() || !c.listener.publishes() || c.out.welcome {
		return
	}
	// A message proves the first subscription too, and may come before Read.
	c.in.Lock()
	topic := c.in.topic
	c.in.topic = nil
	c.in.Unlock()
	if topic != nil {
		c.welcome(topic)
	}
}

// admit reports whether another message may be queued, and has the peer cut if not;
// c.out is locked. If all queues together are too long, the peer with the longest one
// is cut, which may be another peer.
func (c *conn) admit() bool {
	if n, limit := c.queued.Load(), c.listener.config.Limit; n > int64(limit) {
		c.doom(fmt.Sprintf("%d bytes are queued for it, the limit is %d: it is not reading", n, limit))
		return false
	}
	if sum, total := c.listener.queued.Load(), c.listener.config.Total; sum > int64(total) {
		victim := c.listener.longest()
		reason := fmt.Sprintf("%d bytes are queued for all peers, most of them for this one; the limit is %d", sum, total)
		if victim == c {
			c.doom(reason)
			return false
		}
		if victim != nil {
			go victim.overflow(reason)
		}
	}
	return true
}

// doom ends the connection for zmq4 now, and for the peer as soon as the lock, c.out,
// is released.
func (c *conn) doom(reason string) {
	if c.out.err == nil {
		c.out.fail(netError("write", fmt.Errorf("guard: %s", reason)))
		go c.overflow(reason)
	}
}

// enqueue appends to the queue; c.out is locked.
func (c *conn) enqueue(b []byte) {
	if c.out.failure() != nil {
		return
	}
	if c.out.sealer != nil {
		b = c.out.sealer.next(b)
	}
	if len(b) == 0 {
		return
	}
	c.out.queue.append(b)
	n := int64(len(b))
	if c.queued.Add(n) == n {
		c.taken.Store(c.listener.now())
	}
	c.listener.queued.Add(n)
}

// discard empties the queue of a connection that has failed; c.out is locked.
func (c *conn) discard() {
	c.listener.queued.Add(-c.queued.Swap(0))
	c.out.queue, c.out.own = byteQueue{}, nil
}

// insert queues a message or command of the guard after the message that zmq4 is
// writing; c.out is locked.
func (c *conn) insert(b []byte) {
	switch {
	case !c.admit():
	case c.out.greeted && c.out.track.between():
		c.enqueue(b)
		c.out.changed.Signal()
	case len(c.out.own) < maxOwn:
		c.out.own = append(c.out.own, b)
	}
}

// pong answers a PING. A peer with much to read needs no sign of life, and pings must
// not fill the queue of one that does not read.
func (c *conn) pong(context []byte) {
	c.out.Lock()
	defer c.out.Unlock()
	if c.queued.Load() <= int64(c.listener.config.High) {
		c.insert(commandFrame("PONG", context))
	}
}

// welcome greets a new subscriber; c.out is locked.
func (c *conn) welcome(topic []byte) {
	c.out.welcome = true
	if c.listener.config.Welcome == nil {
		return
	}
	var all []byte
	for _, frames := range c.listener.config.Welcome(topic) {
		all = appendMessage(all, frames)
	}
	if all != nil {
		c.insert(all)
	}
}

// drain writes the queue to the network until the connection has failed, or is closed
// and the queue is empty.
func (c *conn) drain() {
	defer c.listener.drains.Done()
	defer c.net.Close()
	c.out.Lock()
	defer c.out.Unlock()
	for {
		for c.out.queue.size == 0 && !c.out.closed && c.out.err == nil {
			c.out.changed.Wait()
		}
		if c.out.err != nil || c.out.queue.size == 0 {
			return
		}
		buffers := c.out.queue.take()
		first := buffers[0]
		c.out.Unlock()
		n, err := buffers.WriteTo(c.net)
		c.out.Lock()
		if err != nil {
			if c.out.closed {
				err = net.ErrClosed // its linger time is over
			}
			go c.ended(err)
			return
		}
		if c.out.err != nil {
			return
		}
		c.out.queue.recycle(first)
		c.took(n)
	}
}

// took subtracts n sent bytes from the counts; c.out is locked.
func (c *conn) took(n int64) {
	c.taken.Store(c.listener.now())
	c.listener.queued.Add(-n)
	if c.queued.Add(-n) <= int64(c.listener.config.High) {
		c.listener.changed.raise()
	}
}

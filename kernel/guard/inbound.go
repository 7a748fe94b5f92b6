package guard

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// inbound is the queue of frames from the peer to zmq4's reader.
type inbound struct {
	sync.Mutex
	changed sync.Cond
	queue   []inFrame
	size    int         // bytes of queue, each frame frameCost longer than it is
	rest    net.Buffers // rest of the frame that zmq4 is reading
	topic   []byte      // topic of the subscription that zmq4 read last, until it is known to be in force
	err     error       // returned by Read once the queue is empty
}

type inFrame struct {
	header []byte
	body   []byte
	topic  []byte // topic of a subscription; nil for any other frame
}

func (f inFrame) cost() int { return len(f.body) + frameCost }

func newInbound() *inbound {
	in := &inbound{}
	in.changed.L = &in.Mutex
	return in
}

// finish ends Read once it has served the queue.
func (in *inbound) finish() {
	in.Lock()
	defer in.Unlock()
	if in.err == nil {
		in.err = netError("read", io.EOF)
	}
	in.changed.Broadcast()
}

// pump reads frames from the peer for as long as it behaves.
func (c *conn) pump() {
	var err error
	if c.listener.publishes() {
		err = c.pumpSubscriptions()
	} else {
		err = c.pumpMessages()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return // Close was called; drain is still at work
	}
	c.ended(err)
}

func (c *conn) pumpMessages() error {
	limit := c.listener.config.MaxMessage
	var message []inFrame
	size := 0 // bytes of the message
	for {
		c.partial = message
		flags, body, err := c.read(max(0, limit-size-frameCost))
		if err != nil {
			return err
		}
		if flags&flagCommand != 0 {
			if err := c.command(body); err != nil {
				return err
			}
			continue
		}
		size += len(body) + frameCost
		if size > limit {
			return fmt.Errorf("message exceeds the limit of %d bytes", limit)
		}
		more := flags & flagMore
		message = append(message, inFrame{header: appendHeader(nil, more, len(body)), body: body})
		if more != 0 {
			continue
		}
		if c.listener.speaks(c, message) && !c.push(message...) {
			return net.ErrClosed
		}
		message, size = nil, 0
		c.asked, c.asks = 0, 0
		c.listener.config.Strangers.repay(c, 0)
	}
}

// maxAsks is how often the beginning of a message may be asked for a proof: each time costs as much as checking a signature.
const maxAsks = 8

// room reports whether the peer may have n more bytes of memory. One that has proved itself may; so may one whose message begins with a
// proof. Others get them from the budget that they share.
func (c *conn) room(n int) error {
	if c.trusted.Load() {
		return nil
	}
	if l := c.listener; n > freeBytes && l.config.Proves != nil && len(c.partial) > c.asked && c.asks < maxAsks {
		c.asked, c.asks = len(c.partial), c.asks+1
		if l.config.Proves(bodies(c.partial)) {
			c.trust()
			return nil
		}
	}
	return c.listener.config.Strangers.lend(c, n)
}

// trust records that the peer has proved itself.
func (c *conn) trust() {
	c.trusted.Store(true)
	c.listener.config.Strangers.repay(c, 0)
}

// pumpSubscriptions drops messages that are not subscriptions: ten of them would block
// zmq4's reader for good.
func (c *conn) pumpSubscriptions() error {
	inside := false // inside a message of several frames
	for {
		flags, body, err := c.read(maxTopics)
		switch {
		case err != nil:
			return err
		case flags&flagCommand != 0:
			err = c.command(body)
		default:
			if !inside && flags&flagMore == 0 && len(body) > 0 && body[0] <= subscribe {
				err = c.subscription(body)
			}
			inside = flags&flagMore != 0
		}
		if err != nil {
			return err
		}
		c.listener.config.Strangers.repay(c, c.topics.size) // only pump changes it
	}
}

// command handles a command of the peer; unknown ones are ignored. SUBSCRIBE and CANCEL
// are ZMTP 3.1's (https://rfc.zeromq.org/spec/37).
func (c *conn) command(body []byte) error {
	name, data, err := parseCommand(body)
	if err != nil {
		return err
	}
	switch name {
	case "PING": // a time to live of two bytes, a context of up to sixteen
		if len(data) < 2 || len(data) > 18 {
			return fmt.Errorf("PING of %d bytes, want 2 to 18", len(data))
		}
		c.pong(data[2:])
	case "SUBSCRIBE":
		if c.listener.publishes() {
			return c.subscription(append([]byte{subscribe}, data...))
		}
	case "CANCEL":
		if c.listener.publishes() {
			return c.subscription(append([]byte{cancel}, data...))
		}
	case "ERROR":
		return fmt.Errorf("the peer sent ERROR %.40q", data)
	}
	return nil
}

func (c *conn) subscription(body []byte) error {
	frame := inFrame{header: appendHeader(nil, 0, len(body)), body: body}
	topic := body[1:]
	c.listener.mu.Lock()
	ok := true
	if body[0] == subscribe {
		ok = c.topics.add(string(topic))
		frame.topic = topic
	} else {
		c.topics.remove(string(topic))
	}
	c.listener.mu.Unlock()
	if !ok {
		return fmt.Errorf("subscriptions exceed the limit of %d bytes", maxTopics)
	}
	if !c.push(frame) {
		return net.ErrClosed
	}
	return nil
}

// subscribes reports whether c gets messages published under topic; Listener.mu is
// held.
func (c *conn) subscribes(topic []byte) bool { return c.topics.match(topic) }

// push queues a whole message for zmq4's reader, because other peers may send by the
// same route. It waits while the reader is behind, and so TCP makes the peer wait.
func (c *conn) push(message ...inFrame) bool {
	c.in.Lock()
	defer c.in.Unlock()
	for c.in.size > c.listener.config.High && c.in.err == nil {
		c.in.changed.Wait()
	}
	if c.in.err != nil {
		return false
	}
	c.in.queue = append(c.in.queue, message...)
	for _, f := range message {
		c.in.size += f.cost()
	}
	c.in.changed.Broadcast()
	return true
}

// Read serves zmq4's reader, at most to the end of a frame. zmq4 reads the next frame
// only after it has acted on this one, so the call that follows a subscription proves
// that the subscription is in force: the moment of the welcome.
func (c *conn) Read(p []byte) (int, error) {
	c.in.Lock()
	defer c.in.Unlock()
	for len(c.in.rest) == 0 {
		switch {
		case c.in.topic != nil:
			c.in.Unlock()
			c.out.Lock() // first, or a message could pass between the two locks
			c.in.Lock()
			topic := c.in.topic
			c.in.topic = nil
			c.in.Unlock()
			if topic != nil {
				c.welcome(topic)
			}
			c.out.Unlock()
			c.in.Lock()
		case len(c.in.queue) > 0:
			f := c.in.queue[0]
			c.in.queue[0] = inFrame{}
			c.in.queue = c.in.queue[1:]
			c.in.size -= f.cost()
			c.in.rest, c.in.topic = net.Buffers{f.header, f.body}, f.topic
			c.in.changed.Broadcast()
		case c.in.err != nil:
			return 0, c.in.err
		default:
			c.in.changed.Wait()
		}
	}
	n, _ := c.in.rest.Read(p)
	return n, nil
}

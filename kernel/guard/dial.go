package guard

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"

	"halfnote/kernel/curve"
)

// Dial connects s, a DEALER, REQ or SUB socket, to a server that speaks CURVE and has
// the same keys, at an address of network "tcp" or "unix". The error wraps
// [curve.ErrKey] if the server has other keys, and a *net.OpError or io.EOF if it cannot be
// reached or leaves before it has named CURVE.
func Dial(s zmq4.Socket, network, address string, keys *curve.Keys) error {
	key := dialing.add(&target{network, address, keys})
	defer dialing.remove(key)
	return s.Dial("guard://" + key)
}

// target is the server of a call of Dial.
type target struct {
	network, address string
	keys             *curve.Keys
}

func (t *target) open(ctx context.Context, d transport.Dialer) (net.Conn, error) {
	nc, err := d.DialContext(ctx, t.network, t.address)
	if err != nil {
		return nil, err
	}
	c := &dialed{Conn: nc, reader: bufio.NewReader(nc), keys: t.keys, input: greeting()}
	c.track.greeting = greetingSize
	return c, nil
}

// answerTime is the time that a server has for its part of the handshake.
const answerTime = 10 * time.Second

// dialed is the net.Conn that zmq4 holds for a connection to a CURVE server. zmq4 speaks
// NULL: its READY starts the handshake with the server, whose metadata it reads as READY.
type dialed struct {
	net.Conn
	reader *bufio.Reader
	keys   *curve.Keys

	track tracker // position in zmq4's greeting and READY
	ready []byte  // zmq4's READY, while it is written
	input []byte  // bytes that zmq4 has yet to read

	session *curve.Session // nil before the handshake
	sealer  sealer
}

// Write is called by one goroutine at a time.
func (c *dialed) Write(p []byte) (int, error) {
	total := len(p)
	for c.session == nil && len(p) > 0 {
		greeted := c.track.greeting == 0
		n, end := c.track.take(p)
		if greeted {
			c.ready = append(c.ready, p[:n]...)
		}
		p = p[n:]
		if !end {
			continue
		}
		if err := c.shakeHands(); err != nil {
			return 0, fmt.Errorf("guard: CURVE handshake with %s: %w", c.RemoteAddr(), err)
		}
	}
	if sealed := c.sealer.next(p); len(sealed) > 0 {
		if _, err := c.Conn.Write(sealed); err != nil {
			return 0, err
		}
	}
	return total, nil
}

func (c *dialed) shakeHands() error {
	_, body, err := readFrame(bufio.NewReader(bytes.NewReader(c.ready)), maxReady, nil)
	if err != nil {
		return err
	}
	_, metadata, err := parseCommand(body)
	if err != nil {
		return err
	}
	client, err := curve.NewClient(c.keys)
	if err != nil {
		return err
	}
	c.SetDeadline(time.Now().Add(answerTime))
	defer c.SetDeadline(time.Time{})
	if _, err := c.Conn.Write(append(greetingOf("CURVE", 0), commandFrame("HELLO", client.Hello())...)); err != nil {
		return err
	}
	if err := readGreeting(c.reader, "CURVE", 1); err != nil {
		return err
	}
	welcome, err := readCommand(c.reader, "WELCOME")
	if err == io.ErrUnexpectedEOF { // a server's answer to other keys
		err = curve.ErrKey
	}
	if err != nil {
		return err
	}
	initiate, err := client.Initiate(welcome, metadata)
	if err != nil {
		return err
	}
	if _, err := c.Conn.Write(commandFrame("INITIATE", initiate)); err != nil {
		return err
	}
	ready, err := readCommand(c.reader, "READY")
	if err != nil {
		return err
	}
	if metadata, err = client.Finish(ready); err != nil {
		return err
	}
	c.input = append(c.input, commandFrame("READY", metadata)...)
	c.session = client.Session()
	c.sealer.session = c.session
	return nil
}

// Read serves zmq4's reader with whole frames, after the server's greeting and READY.
func (c *dialed) Read(p []byte) (int, error) {
	if len(c.input) == 0 {
		flags, body, err := readSealed(c.reader, c.session, math.MaxInt32, nil)
		if err != nil {
			return 0, err
		}
		c.input = appendFrame(nil, flags, body)
	}
	n := copy(p, c.input)
	c.input = c.input[n:]
	return n, nil
}

package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// partners are the socket types that each type may talk to, by
// https://rfc.zeromq.org/spec/23, "The Socket-Type Property".
var partners = map[zmq4.SocketType][]string{
	zmq4.Pub:    {"SUB", "XSUB"},
	zmq4.Rep:    {"REQ", "DEALER"},
	zmq4.Router: {"REQ", "DEALER", "ROUTER"},
	zmq4.XPub:   {"SUB", "XSUB"},
}

const (
	greetingSize = 64
	maxReady     = 4 << 10
	maxIdentity  = 255
	readyAfter   = 500 * time.Millisecond
)

// greeting returns the greeting of ZMTP 3.0 with the NULL mechanism.
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:32], "NULL")
	return g
}

// readyFrame returns the READY command of a socket of type typ.
func readyFrame(typ, identity string) []byte {
	data := appendProperty(nil, "Socket-Type", typ)
	if typ == "REQ" || typ == "DEALER" || typ == "ROUTER" {
		data = appendProperty(data, "Identity", identity)
	}
	return commandFrame("READY", data)
}

func appendProperty(b []byte, name, value string) []byte {
	b = append(append(b, byte(len(name))), name...)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}

// parseProperties reads the metadata of READY; names are returned in lower case.
func parseProperties(b []byte) (map[string]string, error) {
	properties := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if n == 0 {
			return nil, errors.New("READY has a property without a name")
		}
		if len(b) < 1+n+4 {
			return nil, errors.New("READY ends inside a property")
		}
		name := strings.ToLower(string(b[1 : 1+n]))
		size := binary.BigEndian.Uint32(b[1+n:])
		b = b[1+n+4:]
		if uint64(size) > uint64(len(b)) {
			return nil, fmt.Errorf("READY ends inside property %q: %d bytes announced, %d present", name, size, len(b))
		}
		properties[name] = string(b[:size])
		b = b[size:]
	}
	return properties, nil
}

// shakeHands performs the whole handshake in zmq4's place and enters c among the peers.
// The greeting is sent at once: libzmq sends ten bytes and waits for ours. READY is
// sent last: a peer that has it sends its first message, which would be lost if the
// peer were refused afterwards. A peer that waits for our READY gets it after half a
// second.
func (c *conn) shakeHands() error {
	c.net.SetDeadline(time.Now().Add(c.listener.config.Handshake))
	if _, err := c.net.Write(greeting()); err != nil {
		return err
	}
	if err := c.readGreeting(); err != nil {
		return err
	}
	var once sync.Once
	sendReady := func() {
		once.Do(func() { c.net.Write(readyFrame(string(c.listener.socket.Type()), "")) })
	}
	timer := time.AfterFunc(readyAfter, sendReady)
	err := c.readReady()
	timer.Stop()
	if err != nil {
		return err
	}
	c.net.SetDeadline(time.Time{}) // before entering: from then on Close may set its own
	c.push(inFrame{body: greeting()}, inFrame{body: readyFrame(c.peerType, c.identity)})
	// The cause of a refusal may pass, so it is not an ERROR command, after which
	// libzmq would not try again.
	if err := c.listener.enter(c); err != nil {
		return err
	}
	sendReady()
	return nil
}

func (c *conn) readGreeting() error {
	var g [greetingSize]byte
	if _, err := io.ReadFull(c.reader, g[:1]); err != nil {
		return err
	}
	if g[0] != 0xff {
		return fmt.Errorf("first byte %#02x, ZMTP begins with 0xff", g[0])
	}
	if _, err := io.ReadFull(c.reader, g[1:11]); err != nil {
		return unexpected(err)
	}
	if g[9] != 0x7f || g[10] < 3 {
		return fmt.Errorf("signature %#02x, ZMTP version %d, want 0x7f and 3 or later", g[9], g[10])
	}
	if _, err := io.ReadFull(c.reader, g[11:]); err != nil {
		return unexpected(err)
	}
	if mechanism := bytes.TrimRight(g[12:32], "\x00"); string(mechanism) != "NULL" {
		return fmt.Errorf("mechanism %q, want NULL", mechanism)
	}
	return nil
}

func (c *conn) readReady() error {
	flags, body, err := readFrame(c.reader, maxReady)
	if err != nil {
		return unexpected(err)
	}
	if flags&flagCommand == 0 {
		return errors.New("message before READY")
	}
	name, data, err := parseCommand(body)
	if err != nil {
		return err
	}
	if name != "READY" {
		return fmt.Errorf("command %q, want READY", name)
	}
	properties, err := parseProperties(data)
	if err != nil {
		return err
	}
	c.peerType = properties["socket-type"]
	ours := c.listener.socket.Type()
	if !slices.Contains(partners[ours], c.peerType) {
		err := fmt.Errorf("socket type %q is not compatible with %s", c.peerType, ours)
		c.refuse("socket type does not match")
		return err
	}
	if ours != zmq4.Router {
		return nil
	}
	c.identity = properties["identity"]
	if len(c.identity) > maxIdentity || strings.HasPrefix(c.identity, "\x00") {
		c.refuse("invalid identity")
		return fmt.Errorf("identity of %d bytes, %.20q, want at most %d and no leading zero", len(c.identity), c.identity, maxIdentity)
	}
	return nil
}

// refuse sends an ERROR command, after which libzmq does not try again.
func (c *conn) refuse(reason string) {
	c.net.Write(commandFrame("ERROR", append([]byte{byte(len(reason))}, reason...)))
}

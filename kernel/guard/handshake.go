package guard

import (
	"bufio"
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

// greeting returns the greeting of ZMTP 3.0 with the NULL mechanism, which zmq4 always
// sees.
func greeting() []byte { return greetingOf("NULL", 0) }

// greetingOf returns a greeting. The role counts with CURVE only: 1 for the server.
func greetingOf(mechanism string, role byte) []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10], g[32] = 0xff, 0x7f, 3, role
	copy(g[12:32], mechanism)
	return g
}

// readyFrame returns the READY command of a socket of type typ.
func readyFrame(typ, identity string) []byte {
	return commandFrame("READY", socketMetadata(typ, identity))
}

// socketMetadata describes a socket of type typ to its peer.
func socketMetadata(typ, identity string) []byte {
	data := appendProperty(nil, "Socket-Type", typ)
	if typ == "REQ" || typ == "DEALER" || typ == "ROUTER" {
		data = appendProperty(data, "Identity", identity)
	}
	return data
}

func appendProperty(b []byte, name, value string) []byte {
	b = append(append(b, byte(len(name))), name...)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}

// parseProperties reads the metadata of a peer; names are returned in lower case.
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
// peer were refused afterwards.
func (c *conn) shakeHands() error {
	c.net.SetDeadline(time.Now().Add(c.listener.config.Handshake))
	mechanism, role, exchange := "NULL", byte(0), c.exchange
	if c.listener.config.Keys != nil {
		mechanism, role, exchange = "CURVE", 1, c.exchangeKeys
	}
	if _, err := c.net.Write(greetingOf(mechanism, role)); err != nil {
		return err
	}
	err := readGreeting(c.reader, mechanism, 0)
	if err == io.ErrUnexpectedEOF && c.listener.config.Keys != nil { // libzmq leaves before it names its mechanism
		err = errors.New("the peer left when it had read the mechanism CURVE: only encrypted connections are accepted")
	}
	if err != nil {
		return err
	}
	metadata, sendReady, err := exchange()
	if err == nil {
		err = c.examine(metadata)
	}
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

// exchange reads the metadata of a peer that speaks NULL, and returns a function that
// sends READY. A peer that waits for our READY gets it after half a second.
func (c *conn) exchange() (metadata []byte, sendReady func(), err error) {
	sendReady = sync.OnceFunc(func() { c.net.Write(readyFrame(string(c.listener.socket.Type()), "")) })
	timer := time.AfterFunc(readyAfter, sendReady)
	defer timer.Stop()
	metadata, err = readCommand(c.reader, "READY")
	return metadata, sendReady, err
}

// readGreeting checks the peer's greeting: its mechanism and, with CURVE, its role.
func readGreeting(r *bufio.Reader, want string, role byte) error {
	var g [greetingSize]byte
	if _, err := io.ReadFull(r, g[:1]); err != nil {
		return err
	}
	if g[0] != 0xff {
		return fmt.Errorf("first byte %#02x, ZMTP begins with 0xff", g[0])
	}
	if _, err := io.ReadFull(r, g[1:11]); err != nil {
		return unexpected(err)
	}
	if g[9] != 0x7f || g[10] < 3 {
		return fmt.Errorf("signature %#02x, ZMTP version %d, want 0x7f and 3 or later", g[9], g[10])
	}
	if _, err := io.ReadFull(r, g[11:]); err != nil {
		return unexpected(err)
	}
	switch mechanism := bytes.TrimRight(g[12:32], "\x00"); {
	case string(mechanism) == want && (want != "CURVE" || g[32] == role):
		return nil
	case string(mechanism) == want:
		return fmt.Errorf("CURVE with as-server %d, want %d", g[32], role)
	case want == "CURVE":
		return fmt.Errorf("mechanism %q, want CURVE: only encrypted connections are accepted", mechanism)
	default:
		return fmt.Errorf("mechanism %q, want %s", mechanism, want)
	}
}

// readCommand returns the data of the command that the handshake expects next.
func readCommand(r *bufio.Reader, want string) (data []byte, err error) {
	flags, body, err := readFrame(r, maxReady, nil)
	if err != nil {
		return nil, unexpected(err)
	}
	if flags&flagCommand == 0 {
		return nil, fmt.Errorf("message before %s", want)
	}
	name, data, err := parseCommand(body)
	switch {
	case err != nil:
		return nil, err
	case name == "ERROR" && len(data) > 0:
		return nil, fmt.Errorf("the peer refused the connection: %.40q", data[1:])
	case name != want:
		return nil, fmt.Errorf("command %q, want %s", name, want)
	}
	return data, nil
}

// examine checks the metadata of the peer.
func (c *conn) examine(metadata []byte) error {
	properties, err := parseProperties(metadata)
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

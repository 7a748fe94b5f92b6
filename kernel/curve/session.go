package curve

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Flags of a message, as libzmq sends them; the RFC has only More.
const (
	More    = 1 // whether another frame of the message follows
	Command = 2 // whether the frame is a command, such as PING
)

const (
	messageName = "\x07MESSAGE"
	fromServer  = "CurveZMQMESSAGES"
	fromClient  = "CurveZMQMESSAGEC"
)

// Overhead is the number of bytes by which MESSAGE is longer than the body of its frame.
const Overhead = len(messageName) + 8 + boxOverhead + 1

// Session seals and opens the messages of one connection after its handshake. One
// goroutine may seal while another opens.
type Session struct {
	key      boxKey
	out, in  string  // prefixes of the nonces of sent and of received messages
	sent     uint64  // nonce of the last command sent
	received counter // nonce of the last command of the peer
	text     []byte  // flags and body while they are sealed
}

// Seal appends the command MESSAGE, with its name, to dst.
func (s *Session) Seal(dst []byte, flags byte, body []byte) []byte {
	s.sent++ // 2^64 messages take longer than any connection lasts
	dst = binary.BigEndian.AppendUint64(append(dst, messageName...), s.sent)
	s.text = append(append(s.text[:0], flags), body...)
	dst = s.key.seal(dst, s.text, shortNonce(s.out, s.sent))
	if cap(s.text) > maxKept {
		s.text = nil
	}
	return dst
}

// maxKept is the capacity up to which a buffer is used again.
const maxKept = 64 << 10

// Open returns the flags and the body in a command MESSAGE.
func (s *Session) Open(message []byte) (flags byte, body []byte, err error) {
	if len(message) < Overhead || string(message[:len(messageName)]) != messageName {
		return 0, nil, fmt.Errorf("got %d bytes that are not a MESSAGE command; after the handshake only encrypted messages are allowed", len(message))
	}
	message = message[len(messageName):]
	n := binary.BigEndian.Uint64(message)
	if err := s.received.accept(n); err != nil {
		return 0, nil, err
	}
	text, ok := s.key.open(nil, message[8:], shortNonce(s.in, n))
	if !ok {
		return 0, nil, errors.New("a message cannot be decrypted")
	}
	if text[0]&^(More|Command) != 0 || text[0] == More|Command {
		return 0, nil, fmt.Errorf("message flags %#02x, want MORE or COMMAND", text[0])
	}
	return text[0], text[1:], nil
}

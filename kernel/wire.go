package kernel

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"unicode/utf8"
)

// The format of a message on the wire (Jupyter messaging protocol, "The wire
// protocol"):
//
//	identities…  <IDS|MSG>  signature  header  parent_header  metadata  content  buffers…
const delimiter = "<IDS|MSG>"

const (
	maxHeader = 64 << 10 // bytes of a header
	maxDepth  = 32       // nesting depth of headers, which are passed on as parent headers
	maxSeen   = 1 << 16  // remembered signatures, as many as in jupyter_client
)

// Codec signs outgoing messages and checks incoming ones. Its methods may be called
// from any goroutine.
type Codec struct {
	key []byte

	mu   sync.Mutex
	seen map[[16]byte]struct{}
	ring [][16]byte // the same signatures, oldest at next
	next int

	file    *os.File // keeps the signatures for the next process; nil if they are not kept
	written int      // signatures in the file
	lost    error    // why signatures are no longer written to the file
}

// NewCodec returns a codec that signs with HMAC-SHA256 and key. With an empty key,
// messages are neither signed nor checked.
func NewCodec(key string) *Codec {
	return &Codec{key: []byte(key), seen: map[[16]byte]struct{}{}}
}

// Encode returns m's frames.
func (c *Codec) Encode(m Message) [][]byte {
	body := [4][]byte{m.Header.encode(), m.Parent.encode(), m.Metadata, m.Content}
	for i := range body {
		if body[i] == nil {
			body[i] = emptyObject
		}
	}
	frames := make([][]byte, 0, len(m.Prefix)+6+len(m.Buffers))
	frames = append(frames, m.Prefix...)
	frames = append(frames, []byte(delimiter), c.sign(body[:]))
	frames = append(frames, body[:]...)
	return append(frames, m.Buffers...)
}

// Decode returns the message in frames. Its error names the problem: a missing
// delimiter or part, a wrong or repeated signature, or an invalid header. Decode does
// not examine the content.
func (c *Codec) Decode(frames [][]byte) (Message, error) {
	prefix, signature, body, err := split(frames)
	if err != nil {
		return Message{}, err
	}
	if err := c.check(signature, body); err != nil {
		return Message{}, err
	}
	h, err := parseHeader(body[0])
	if err != nil {
		return Message{}, fmt.Errorf("header: %w", err)
	}
	if h.ID == "" || h.Type == "" {
		return Message{}, errors.New("header: msg_id or msg_type is missing")
	}
	parent, err := parseHeader(body[1])
	if err != nil {
		parent = Header{} // peers send anything here: null, or nothing
	}
	return Message{
		Prefix: prefix, Header: h, Parent: parent,
		Metadata: body[2], Content: body[3], Buffers: frames[len(prefix)+6:],
	}, nil
}

// split returns the parts of a message: the frames before the delimiter, the signature,
// and the four signed parts.
func split(frames [][]byte) (prefix [][]byte, signature []byte, body [][]byte, err error) {
	at := slices.IndexFunc(frames, func(f []byte) bool { return string(f) == delimiter })
	if at < 0 {
		return nil, nil, nil, fmt.Errorf("no %s among %d frames", delimiter, len(frames))
	}
	rest := frames[at+1:]
	if len(rest) < 5 {
		return nil, nil, nil, fmt.Errorf("%d frames after %s, want 5 or more", len(rest), delimiter)
	}
	return frames[:at], rest[0], rest[1:5], nil
}

func (c *Codec) sign(body [][]byte) []byte {
	if len(c.key) == 0 {
		return []byte{}
	}
	m := hmac.New(sha256.New, c.key)
	for _, b := range body {
		m.Write(b)
	}
	return hex.AppendEncode(nil, m.Sum(nil))
}

func (c *Codec) check(signature []byte, body [][]byte) error {
	if len(c.key) == 0 {
		return nil
	}
	if err := c.verify(signature, body); err != nil {
		return err
	}
	short := shorten(signature)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.seen[short]; ok {
		return errors.New("repeated signature")
	}
	c.remember(short)
	c.write(short)
	return nil
}

// remember adds a signature to the table; c.mu is held.
func (c *Codec) remember(short [16]byte) {
	if _, ok := c.seen[short]; ok {
		return
	}
	c.seen[short] = struct{}{}
	if len(c.ring) < maxSeen {
		c.ring = append(c.ring, short)
		return
	}
	delete(c.seen, c.ring[c.next])
	c.ring[c.next] = short
	c.next = (c.next + 1) % maxSeen
}

// verify returns an error if the signature is not that of body.
func (c *Codec) verify(signature []byte, body [][]byte) error {
	if len(c.key) > 0 && !hmac.Equal(signature, c.sign(body)) {
		return errors.New("wrong signature")
	}
	return nil
}

// received reports whether a message with this signature was received before.
func (c *Codec) received(signature []byte) bool {
	if len(c.key) == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.seen[shorten(signature)]
	return ok
}

// shorten returns half of a signature, which is enough to tell messages apart.
func shorten(signature []byte) (short [16]byte) {
	hex.Decode(short[:], signature[:min(32, len(signature))])
	return short
}

// parseHeader reads a header. It may be repeated to every subscriber, so it must be
// valid for any JSON parser.
func parseHeader(b []byte) (Header, error) {
	var h Header
	switch {
	case len(b) > maxHeader:
		return h, fmt.Errorf("%d bytes, the limit is %d", len(b), maxHeader)
	case !utf8.Valid(b):
		return h, errors.New("not UTF-8")
	case depth(b) > maxDepth:
		return h, fmt.Errorf("nesting exceeds %d levels", maxDepth)
	case !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")):
		return h, errors.New("not a JSON object")
	}
	if err := json.Unmarshal(b, &h); err != nil {
		return h, err
	}
	if h.ID != "" || h.Type != "" {
		h.raw = bytes.Clone(b)
	}
	return h, nil
}

// depth returns the nesting depth of the brackets in a JSON text.
func depth(b []byte) int {
	deepest, d, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			d++
			deepest = max(deepest, d)
		case c == '}' || c == ']':
			d--
		}
	}
	return deepest
}

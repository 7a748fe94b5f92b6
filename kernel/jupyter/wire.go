package jupyter

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"halfnote/kernel"
)

// The format of a message on the wire (Jupyter messaging protocol, "The wire
// protocol"):
//
//	identities…  <IDS|MSG>  signature  header  parent_header  metadata  content  buffers…
const delimiter = "<IDS|MSG>"

const maxSeen = 1 << 16 // remembered signatures, as many as in jupyter_client

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
func (c *Codec) Encode(m kernel.Message) [][]byte {
	body := [4][]byte{m.Header.JSON(), m.Parent.JSON(), m.Metadata, m.Content}
	for i := range body {
		if body[i] == nil {
			body[i] = []byte("{}")
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
func (c *Codec) Decode(frames [][]byte) (kernel.Message, error) {
	prefix, signature, body, err := split(frames)
	if err != nil {
		return kernel.Message{}, err
	}
	if err := c.check(signature, body); err != nil {
		return kernel.Message{}, err
	}
	h, err := kernel.ParseHeader(body[0])
	if err != nil {
		return kernel.Message{}, fmt.Errorf("header: %w", err)
	}
	if h.ID == "" || h.Type == "" {
		return kernel.Message{}, errors.New("header: msg_id or msg_type is missing")
	}
	parent, err := kernel.ParseHeader(body[1])
	if err != nil {
		parent = kernel.Header{} // peers send anything here: null, or nothing
	}
	return kernel.Message{
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

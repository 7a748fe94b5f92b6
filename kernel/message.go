package kernel

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"
)

// ProtocolVersion is the supported version of Jupyter's messaging protocol.
const ProtocolVersion = "5.5"

// Message is one Jupyter message, as it passes between sockets and handlers.
type Message struct {
	// Prefix holds the frames before the delimiter: the identities that route to a peer
	// on a ROUTER, or the topic on iopub.
	Prefix   [][]byte
	Header   Header
	Parent   Header
	Metadata json.RawMessage // an object; nil stands for {}
	Content  json.RawMessage // an object; nil stands for {}
	Buffers  [][]byte
}

// Header is a message's header. The zero Header is the parent of an unsolicited
// message, {} on the wire.
type Header struct {
	ID       string `json:"msg_id"`
	Type     string `json:"msg_type"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Version  string `json:"version"`
	// Subshell selects the subshell of a request on shell; "" is the main shell.
	Subshell string `json:"subshell_id,omitempty"`

	// raw is the header as received: a parent_header repeats it whole, including
	// unknown fields.
	raw json.RawMessage
}

// encode returns the header's JSON.
func (h Header) encode() json.RawMessage {
	switch {
	case h.raw != nil:
		return h.raw
	case h.ID == "" && h.Type == "":
		return emptyObject
	}
	return mustEncode(h)
}

var emptyObject = json.RawMessage("{}")

// Session numbers the messages of one kernel or client.
type Session struct {
	ID       string
	Username string
	n        atomic.Int64
}

// NewSession returns a session with a random id.
func NewSession(username string) *Session {
	return &Session{ID: NewID(), Username: username}
}

// Header returns the header of a new message of the given type.
func (s *Session) Header(msgType string) Header {
	return Header{
		ID:       fmt.Sprintf("%s_%d", s.ID, s.n.Add(1)),
		Type:     msgType,
		Session:  s.ID,
		Username: s.Username,
		Date:     timestamp(time.Now()),
		Version:  ProtocolVersion,
	}
}

// NewID returns a random UUID (RFC 9562, version 4).
func NewID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// timestamp formats a time as in Jupyter's headers, ISO 8601 with microseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// encode returns v's JSON without the escapes that only HTML needs.
func encode(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// mustEncode is encode for values of this package, which cannot fail.
func mustEncode(v any) json.RawMessage {
	b, err := encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

package kernel

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unicode/utf8"
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

const (
	maxHeader = 64 << 10 // bytes of a header
	maxDepth  = 32       // nesting depth of headers, which are passed on as parent headers
)

// JSON returns the header as it was received, or its JSON.
func (h Header) JSON() json.RawMessage {
	switch {
	case h.raw != nil:
		return h.raw
	case h.ID == "" && h.Type == "":
		return emptyObject
	}
	return mustEncode(h)
}

// ParseHeader reads the JSON of a header. It may be repeated to every subscriber, so it must be
// valid for any JSON parser.
func ParseHeader(b []byte) (Header, error) {
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

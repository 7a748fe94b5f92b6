package kerneltest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"halfnote/kernel"
	"halfnote/kernel/curve"
)

// The flags of a frame, ZMTP 3.0 (https://rfc.zeromq.org/spec/23).
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

var greeting = "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00NULL" + strings.Repeat("\x00", 48)

// longHeader is the header of a frame of n bytes.
func longHeader(flags byte, n uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, n))
}

func zmtp(flags byte, body string) string {
	if len(body) > 255 {
		return longHeader(flags, uint64(len(body))) + body
	}
	return string([]byte{flags, byte(len(body))}) + body
}

func ready(socketType, identity string) string {
	property := func(name, value string) string {
		return string([]byte{byte(len(name))}) + name + string(binary.BigEndian.AppendUint32(nil, uint32(len(value)))) + value
	}
	return zmtp(flagCommand, "\x05READY"+property("Socket-Type", socketType)+property("Identity", identity))
}

var dealer, sub = greeting + ready("DEALER", ""), greeting + ready("SUB", "")

// peer is a connection to one of a kernel's ports that can send arbitrary bytes.
type peer struct {
	net.Conn
	got     []byte
	session *curve.Session // encrypts well-formed frames; nil without keys
	sealed  []byte         // received bytes that have yet to be decrypted
}

func (h *hostile) dial(port int, data string) *peer {
	network, address := h.kernel.Connection().Address(port)
	conn, err := net.Dial(network, address)
	if err != nil {
		h.t.Fatal(err)
	}
	p := &peer{Conn: conn}
	h.held = append(h.held, p)
	keys, err := h.kernel.Connection().CurveKeys()
	if err != nil {
		h.t.Fatal(err)
	}
	if metadata, rest, ok := cutReady(data); ok && keys != nil {
		p.shakeHands(keys, metadata)
		data = rest
	}
	p.raw(data)
	return p
}

// raw sends data. The kernel may disconnect in the middle, or not read.
func (p *peer) raw(data string) {
	p.SetWriteDeadline(time.Now().Add(5 * time.Second))
	p.Write(p.seal(data))
}

// awaits reads until the received data contains text.
func (p *peer) awaits(text string, limit time.Duration) error {
	p.SetReadDeadline(time.Now().Add(limit))
	for b := make([]byte, 64<<10); !bytes.Contains(p.got, []byte(text)); {
		n, err := p.Read(b)
		p.open(b[:n])
		if err != nil {
			return fmt.Errorf("waiting for %q: %w", text, err)
		}
	}
	return nil
}

// multipart returns a message's bytes.
func multipart(frames ...string) string {
	var b strings.Builder
	for i, f := range frames {
		var flags byte
		if i < len(frames)-1 {
			flags = flagMore
		}
		b.WriteString(zmtp(flags, f))
	}
	return b.String()
}

// message returns the bytes of a Jupyter message with any parts and a correct signature.
func (h *hostile) message(header, metadata, content string, buffers ...string) string {
	mac := hmac.New(sha256.New, []byte(h.kernel.Connection().Key))
	for _, part := range []string{header, "{}", metadata, content} {
		io.WriteString(mac, part)
	}
	frames := []string{"<IDS|MSG>", hex.EncodeToString(mac.Sum(nil)), header, "{}", metadata, content}
	return multipart(append(frames, buffers...)...)
}

// request returns the bytes of a message of that type.
func (h *hostile) request(msgType, content string, buffers ...string) string {
	header := fmt.Sprintf(`{"msg_id":%q,"msg_type":%q,"session":"hostile","username":"","date":"","version":"5.5"}`, kernel.NewID(), msgType)
	return h.message(header, "{}", content, buffers...)
}

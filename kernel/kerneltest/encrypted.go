package kerneltest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"halfnote/kernel/curve"
)

// cutReady cuts a greeting and READY off the front of data.
func cutReady(data string) (metadata, rest string, ok bool) {
	data, ok = strings.CutPrefix(data, greeting)
	if !ok {
		return "", "", false
	}
	_, body, rest, ok := cutFrame(data)
	metadata, isReady := strings.CutPrefix(body, "\x05READY")
	return metadata, rest, ok && isReady
}

// cutFrame cuts a whole frame off the front of data.
func cutFrame(data string) (flags byte, body, rest string, ok bool) {
	if len(data) < 2 {
		return 0, "", "", false
	}
	flags, size, data := data[0], uint64(data[1]), data[1:]
	header := 1
	if flags&flagLong != 0 {
		if len(data) < 8 {
			return 0, "", "", false
		}
		size, header = binary.BigEndian.Uint64([]byte(data)), 8
	}
	if data = data[header:]; flags&^(flagMore|flagLong|flagCommand) != 0 || size > uint64(len(data)) {
		return 0, "", "", false
	}
	return flags &^ flagLong, data[:size], data[size:], true
}

var curveGreeting = strings.Replace(greeting, "NULL\x00", "CURVE", 1)

// shakeHands performs the client's side of the handshake of CURVE. A refusal is not an
// error here.
func (p *peer) shakeHands(keys *curve.Keys, metadata string) {
	c, err := curve.NewClient(keys)
	if err != nil {
		panic(err)
	}
	p.SetDeadline(time.Now().Add(limit))
	defer p.SetDeadline(time.Time{})
	io.WriteString(p, curveGreeting+zmtp(flagCommand, "\x05HELLO"+string(c.Hello())))
	if _, err := io.ReadFull(p, make([]byte, len(greeting))); err != nil {
		return
	}
	welcome, ok := p.command("WELCOME")
	if !ok {
		return
	}
	initiate, err := c.Initiate(welcome, []byte(metadata))
	if err != nil {
		panic(err)
	}
	io.WriteString(p, zmtp(flagCommand, "\x08INITIATE"+string(initiate)))
	ready, ok := p.command("READY")
	if !ok {
		return
	}
	answer, err := c.Finish(ready)
	if err != nil {
		panic(err)
	}
	p.got = append(p.got, zmtp(flagCommand, "\x05READY"+string(answer))...)
	p.session = c.Session()
}

// command reads a command of the handshake, which is short.
func (p *peer) command(name string) (data []byte, ok bool) {
	header := make([]byte, 2)
	if _, err := io.ReadFull(p, header); err != nil {
		return nil, false
	}
	body := make([]byte, header[1])
	if _, err := io.ReadFull(p, body); err != nil {
		return nil, false
	}
	text, ok := strings.CutPrefix(string(body), string([]byte{byte(len(name))})+name)
	return []byte(text), ok
}

// seal encrypts the whole frames at the front of data, and leaves the rest as it is.
func (p *peer) seal(data string) (b []byte) {
	for p.session != nil {
		flags, body, rest, ok := cutFrame(data)
		if !ok {
			break
		}
		inside := byte(0)
		switch {
		case flags&flagCommand != 0:
			inside = curve.Command
		case flags&flagMore != 0:
			inside = curve.More
		}
		b = append(b, zmtp(0, string(p.session.Seal(nil, inside, []byte(body))))...)
		data = rest
	}
	return append(b, data...)
}

// open appends received bytes to those that the peer got, decrypted.
func (p *peer) open(b []byte) {
	if p.session == nil {
		p.got = append(p.got, b...)
		return
	}
	p.sealed = append(p.sealed, b...)
	for {
		_, message, rest, ok := cutFrame(string(p.sealed))
		if !ok {
			return
		}
		p.sealed = []byte(rest)
		inside, body, err := p.session.Open([]byte(message))
		if err != nil {
			panic(err)
		}
		flags := byte(0)
		if inside == curve.Command {
			flags = flagCommand
		}
		p.got = append(p.got, zmtp(flags, string(body))...)
	}
}

// hello returns the HELLO of a client with these keys.
func hello(keys *curve.Keys) string {
	c, err := curve.NewClient(keys)
	if err != nil {
		panic(err)
	}
	return zmtp(flagCommand, "\x05HELLO"+string(c.Hello()))
}

// inClear runs an attack by a peer that does not complete the handshake.
func inClear(name string, f func(h *hostile, p *peer)) attack {
	return attack{name, func(h *hostile) error {
		f(h, h.dial(h.kernel.Connection().ShellPort, ""))
		return nil
	}}
}

// inside runs an attack by a client that has completed the handshake.
func inside(name string, f func(h *hostile, p *peer)) attack {
	return attack{name, func(h *hostile) error {
		f(h, h.dial(h.kernel.Connection().ShellPort, dealer))
		return nil
	}}
}

// message returns the frame of an encrypted message.
func (p *peer) message(flags byte, body string) string {
	return zmtp(0, string(p.session.Seal(nil, flags, []byte(body))))
}

// onEncryption are attacks on a kernel whose connection is encrypted.
var onEncryption = []attack{
	{"a client without keys runs nothing", func(h *hostile) error {
		p := h.dial(h.kernel.Connection().ShellPort, "")
		p.raw(dealer + h.request("execute_request", `{"code":""}`))
		return p.disconnected()
	}},
	{"a client with keys of another kernel is refused", func(h *hostile) error {
		p := h.dial(h.kernel.Connection().ShellPort, "")
		p.raw(curveGreeting + hello(curve.NewKeys()))
		return p.disconnected()
	}},
	{"500 clients with keys of another kernel", func(h *hostile) error {
		data := curveGreeting + hello(curve.NewKeys())
		for range 500 {
			h.dial(h.kernel.Connection().ShellPort, "").raw(data)
		}
		return nil
	}},
	inClear("HELLO cut short, held open", func(h *hostile, p *peer) { p.raw(curveGreeting + hello(curve.NewKeys())[:100]) }),
	inClear("HELLO of 3 bytes", func(h *hostile, p *peer) { p.raw(curveGreeting + zmtp(flagCommand, "\x05HELLO\x01\x00\x00")) }),
	inClear("HELLO of 2^62 bytes", func(h *hostile, p *peer) { p.raw(curveGreeting + longHeader(flagCommand, 1<<62)) }),
	inClear("INITIATE without HELLO", func(h *hostile, p *peer) { p.raw(curveGreeting + zmtp(flagCommand, "\x08INITIATE"+noise(300))) }),
	inClear("READY without HELLO", func(h *hostile, p *peer) { p.raw(curveGreeting + ready("DEALER", "")) }),
	inClear("a message without a handshake", func(h *hostile, p *peer) {
		p.raw(curveGreeting + zmtp(0, "\x07MESSAGE"+noise(100)) + h.request("execute_request", `{"code":""}`))
	}),
	inClear("a client that claims to be the server", func(h *hostile, p *peer) {
		p.raw(curveGreeting[:32] + "\x01" + curveGreeting[33:] + hello(curve.NewKeys()))
	}),
	inside("clear text after the handshake", func(h *hostile, p *peer) {
		p.session = nil
		p.raw(h.request("execute_request", `{"code":""}`))
	}),
	inside("noise as a message", func(h *hostile, p *peer) { p.raw(longHeader(0, 1<<62)) }),
	inside("one encrypted frame twice", func(h *hostile, p *peer) {
		frame := p.message(0, "x")
		p.Write([]byte(frame + frame))
	}),
	inside("an encrypted frame that was changed", func(h *hostile, p *peer) {
		frame := []byte(p.message(0, "x"))
		frame[len(frame)-1] ^= 1
		p.Write(frame)
	}),
	inside("an encrypted frame with MORE outside", func(h *hostile, p *peer) {
		frame := []byte(p.message(0, "x"))
		frame[0] = flagMore
		p.Write(frame)
	}),
	inside("an encrypted frame with unknown flags", func(h *hostile, p *peer) { p.Write([]byte(p.message(0x80, "x"))) }),
}

// disconnected waits until the kernel closes the connection. The kernel may answer only with its
// greeting.
func (p *peer) disconnected() error {
	p.SetReadDeadline(time.Now().Add(limit))
	got, err := io.ReadAll(p)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("still connected: %w", err)
	case len(got) > len(greeting):
		return fmt.Errorf("the kernel answered with %d bytes, want %d: its greeting only", len(got), len(greeting))
	}
	return nil
}

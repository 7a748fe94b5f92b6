package guard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bits of a frame's first byte, and the first byte of a subscription's body.
// See https://rfc.zeromq.org/spec/23, "Framing" and "The Publish-Subscribe
// Pattern".
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4

	subscribe = 1
	cancel    = 0
)

// frameCost is added to the length of a frame when it counts towards a limit, so that a
// message of empty frames is limited too.
const frameCost = 64

// appendHeader appends the header of a frame with a body of n bytes.
func appendHeader(b []byte, flags byte, n int) []byte {
	if n > 255 {
		return binary.BigEndian.AppendUint64(append(b, flags|flagLong), uint64(n))
	}
	return append(b, flags, byte(n))
}

func appendFrame(b []byte, flags byte, body []byte) []byte {
	return append(appendHeader(b, flags, len(body)), body...)
}

// appendMessage appends frames as one message; without frames it appends nothing.
func appendMessage(b []byte, frames [][]byte) []byte {
	for i, f := range frames {
		flags := byte(flagMore)
		if i == len(frames)-1 {
			flags = 0
		}
		b = appendFrame(b, flags, f)
	}
	return b
}

// commandFrame returns a command: its name, then data.
func commandFrame(name string, data []byte) []byte {
	body := append([]byte{byte(len(name))}, name...)
	return appendFrame(nil, flagCommand, append(body, data...))
}

// parseCommand splits the body of a command into its name and data.
func parseCommand(body []byte) (name string, data []byte, err error) {
	if len(body) == 0 || body[0] == 0 || int(body[0]) > len(body)-1 {
		return "", nil, errors.New("command without a name")
	}
	end := 1 + int(body[0])
	return string(body[1:end]), body[end:], nil
}

// readFrame reads one frame with a body of at most limit bytes. It allocates memory as
// bytes arrive, not by the announced length, and asks room before, unless it is nil.
func readFrame(r *bufio.Reader, limit int, room func(n int) error) (flags byte, body []byte, err error) {
	if flags, err = r.ReadByte(); err != nil {
		return 0, nil, err
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return 0, nil, fmt.Errorf("frame flags %#02x, want MORE, LONG or COMMAND, and no command with MORE", flags)
	}
	var header [8]byte
	size := header[7:]
	if flags&flagLong != 0 {
		size = header[:]
	}
	if _, err = io.ReadFull(r, size); err != nil {
		return 0, nil, unexpected(err)
	}
	n := binary.BigEndian.Uint64(header[:])
	if n > uint64(limit) {
		return 0, nil, fmt.Errorf("frame of %d bytes, the limit is %d", n, limit)
	}
	body, err = readBody(r, int(n), room)
	return flags, body, unexpected(err)
}

func readBody(r io.Reader, n int, room func(n int) error) ([]byte, error) {
	const first = 64 << 10
	if room == nil {
		room = func(int) error { return nil }
	}
	if err := room(min(n, first)); err != nil {
		return nil, err
	}
	body := make([]byte, min(n, first))
	for done := 0; ; {
		if _, err := io.ReadFull(r, body[done:]); err != nil {
			return nil, err
		}
		done = len(body)
		if done == n {
			return body, nil
		}
		if err := room(min(n, 2*done) - done); err != nil {
			return nil, err
		}
		grown := make([]byte, min(n, 2*done))
		copy(grown, body)
		body = grown
	}
}

// unexpected turns the end of a stream inside a frame into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// tracker follows a greeting and then frames through a stream of well-formed bytes that
// arrives in pieces.
type tracker struct {
	greeting int // bytes of the greeting still to come
	header   [9]byte
	have     int    // bytes of the header so far
	left     uint64 // bytes of the body still to come
	inBody   bool
	more     bool // whether the last complete frame announced another
}

// take consumes the front of p, up to the end of a frame, and reports whether a frame
// ended there.
func (t *tracker) take(p []byte) (n int, end bool) {
	if t.greeting > 0 {
		n = min(t.greeting, len(p))
		t.greeting -= n
		return n, false
	}
	for !t.inBody {
		if n == len(p) {
			return n, false
		}
		t.header[t.have] = p[n]
		t.have++
		n++
		long := t.header[0]&flagLong != 0
		switch {
		case !long && t.have == 2:
			t.left, t.inBody = uint64(t.header[1]), true
		case t.have == 9:
			t.left, t.inBody = binary.BigEndian.Uint64(t.header[1:]), true
		}
	}
	k := min(uint64(len(p)-n), t.left)
	n += int(k)
	t.left -= k
	if t.left > 0 {
		return n, false
	}
	t.more = t.header[0]&flagMore != 0
	t.have, t.inBody = 0, false
	return n, true
}

// between reports whether the stream is between two messages.
func (t *tracker) between() bool {
	return t.greeting == 0 && t.have == 0 && !t.inBody && !t.more
}

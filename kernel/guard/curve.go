package guard

import (
	"bufio"
	"errors"

	"halfnote/kernel/curve"
)

// exchangeKeys reads the metadata of a peer that speaks CURVE
// (https://rfc.zeromq.org/spec/25), and returns a function that sends READY. From then on
// both sides encrypt. A peer with other keys is disconnected without an ERROR command, as by
// libzmq: after one, the next send of jupyter_client would wait forever.
func (c *conn) exchangeKeys() (metadata []byte, sendReady func(), err error) {
	server := curve.NewServer(c.listener.config.Keys)
	hello, err := readCommand(c.reader, "HELLO")
	if err != nil {
		return nil, nil, err
	}
	welcome, err := server.Welcome(hello)
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.net.Write(commandFrame("WELCOME", welcome)); err != nil {
		return nil, nil, err
	}
	initiate, err := readCommand(c.reader, "INITIATE")
	if err != nil {
		return nil, nil, err
	}
	if metadata, err = server.Accept(initiate); err != nil {
		return nil, nil, err
	}
	ready := commandFrame("READY", server.Ready(socketMetadata(string(c.listener.socket.Type()), "")))
	c.session = server.Session()
	c.out.sealer = &sealer{session: c.session}
	return metadata, func() { c.net.Write(ready) }, nil
}

// read reads the peer's next frame, with a body of at most limit bytes.
func (c *conn) read(limit int) (flags byte, body []byte, err error) {
	if c.session == nil {
		return readFrame(c.reader, limit, c.room)
	}
	return readSealed(c.reader, c.session, limit, func(n int) error { return c.room(2 * n) }) // decrypting needs as much again
}

// readSealed reads a frame and decrypts the frame inside.
func readSealed(r *bufio.Reader, s *curve.Session, limit int, room func(n int) error) (flags byte, body []byte, err error) {
	flags, message, err := readFrame(r, limit+curve.Overhead, room)
	if err != nil {
		return 0, nil, err
	}
	if flags&flagMore != 0 {
		return 0, nil, errors.New("an encrypted frame with MORE, which belongs inside")
	}
	inside, body, err := s.Open(message)
	switch inside {
	case curve.More:
		return flagMore, body, err
	case curve.Command:
		return flagCommand, body, err
	}
	return 0, body, err
}

// sealer encrypts a stream of well-formed frames that arrives in pieces.
type sealer struct {
	session *curve.Session
	track   tracker
	start   []byte // start of a frame whose end has yet to come
}

// next returns the frames that end in b, encrypted.
func (s *sealer) next(b []byte) (sealed []byte) {
	for len(b) > 0 {
		n, end := s.track.take(b)
		frame := b[:n]
		b = b[n:]
		if !end || len(s.start) > 0 {
			s.start = append(s.start, frame...)
			frame = s.start
		}
		if !end {
			continue
		}
		sealed = s.seal(sealed, frame)
		s.start = s.start[:0]
		if cap(s.start) > maxBlock {
			s.start = nil
		}
	}
	return sealed
}

// seal appends a whole frame, encrypted.
func (s *sealer) seal(sealed, frame []byte) []byte {
	flags, body := frame[0], frame[2:]
	if flags&flagLong != 0 {
		body = frame[9:]
	}
	inside := byte(0)
	switch {
	case flags&flagMore != 0:
		inside = curve.More
	case flags&flagCommand != 0:
		inside = curve.Command
	}
	return s.session.Seal(appendHeader(sealed, 0, len(body)+curve.Overhead), inside, body)
}

package guard

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// fuzzed runs a connection over which a peer sends input and closes, and
// returns what zmq4 reads of it; through is false if the peer was refused.
func fuzzed(s zmq4.Socket, c Config, input ...[]byte) (read []byte, through bool) {
	l := newListener(s, "tcp", "", c)
	ours, theirs := net.Pipe()
	guarded := newConn(l, ours)
	l.await(guarded)
	go io.Copy(io.Discard, theirs)
	go func() {
		for _, b := range input {
			theirs.Write(b)
		}
		theirs.Close()
	}()
	ended := make(chan struct{})
	go func() { guarded.run(); close(ended) }()
	select {
	case z := <-l.ready:
		read, _ = io.ReadAll(z)
		through = true
		<-ended
	case <-ended:
		select { // run may have ended already for a peer that went through
		case z := <-l.ready:
			read, _ = io.ReadAll(z)
			through = true
		default:
		}
	}
	return read, through
}

// FuzzPeer sends any bytes after a valid handshake. zmq4 must read only the canonical
// handshake and whole frames of messages, and on a PUB only subscriptions.
func FuzzPeer(f *testing.F) {
	f.Add([]byte{0, 2, 'h', 'i'})
	f.Add([]byte("\x04\x0b\x04PING\x00\x0actxt\x01\x00\x00\x01a"))
	f.Add([]byte("\x04\x0b\x09SUBSCRIBEa\x00\x02\x00a"))
	f.Add([]byte("\x00\x01\x01\x01\x02\x01a\x00\x01\x01"))
	f.Add(longHeader(0, 1<<62))
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 1, 0})
	router, pub := socket(f, zmq4.Router), socket(f, zmq4.Pub)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []struct {
			zmq4.Socket
			peer string
		}{{router, "DEALER"}, {pub, "SUB"}} {
			got, through := fuzzed(s, Config{MaxMessage: 1 << 16}, greeting(), readyFrame(s.peer, ""), data)
			rest, ok := bytes.CutPrefix(got, append(greeting(), readyFrame(s.peer, "")...))
			if !ok || !through {
				t.Fatalf("through %v, zmq4 reads %q, want the canonical handshake first", through, got)
			}
			for r := bufio.NewReader(bytes.NewReader(rest)); ; {
				flags, body, err := readFrame(r, 1<<16, nil)
				if err == io.EOF {
					break
				}
				if err != nil || flags&flagCommand != 0 {
					t.Fatalf("zmq4 reads %q: flags %#x, %v, want whole frames of messages", rest, flags, err)
				}
				if s.peer == "SUB" && (len(body) == 0 || body[0] > subscribe || flags&flagMore != 0) {
					t.Fatalf("zmq4 reads %q: frame %q, want subscriptions only", rest, body)
				}
			}
		}
	})
}

// FuzzHandshake sends any bytes in place of READY. If the peer is accepted, zmq4 must
// read the canonical greeting, READY with the two properties that it supports, and
// frames of messages.
func FuzzHandshake(f *testing.F) {
	f.Add(readyFrame("DEALER", "me"))
	f.Add([]byte("\x04\x0c\x05READY\x05Socke"))
	f.Add([]byte("\x04\x1e\x05READY\x0bsocket-type\x00\x00\x00\x03REQ\x01x\x00\x00\x00\x00"))
	router := socket(f, zmq4.Router)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, through := fuzzed(router, Config{Handshake: time.Second}, greeting(), data)
		if !through {
			return
		}
		rest, ok := bytes.CutPrefix(got, greeting())
		if !ok {
			t.Fatalf("zmq4 reads %q, want the canonical greeting first", got)
		}
		r := bufio.NewReader(bytes.NewReader(rest))
		flags, body, err := readFrame(r, maxReady, nil)
		if err != nil || flags&flagCommand == 0 {
			t.Fatalf("zmq4 reads %q: flags %#x, %v, want READY", rest, flags, err)
		}
		name, meta, err := parseCommand(body)
		if err != nil || name != "READY" {
			t.Fatalf("zmq4 reads command %q, %v, want READY", name, err)
		}
		properties, err := parseProperties(meta)
		typ, identity := properties["socket-type"], properties["identity"]
		if want := readyFrame(typ, identity); err != nil || !bytes.Equal(rest[:len(want)], want) {
			t.Errorf("zmq4 reads %q, %v, want %q", rest, err, want)
		}
		if !zmq4.SocketType(typ).IsCompatible(zmq4.Router) {
			t.Errorf("a ROUTER accepted a peer of type %s", typ)
		}
	})
}

// FuzzTracker cuts a stream into pieces. The tracker must find the same ends of frames
// as readFrame.
func FuzzTracker(f *testing.F) {
	f.Add(appendMessage(nil, [][]byte{[]byte("a"), nil, make([]byte, 300)}), uint8(7))
	f.Add([]byte("\x00\x00\x01\x00\x00\x00"), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		var want, got []int
		unread := bytes.NewReader(data)
		for r := bufio.NewReader(unread); ; {
			if _, _, err := readFrame(r, len(data), nil); err != nil {
				break
			}
			want = append(want, len(data)-unread.Len()-r.Buffered())
		}
		if len(want) == 0 {
			return
		}
		var track tracker
		for at, end := 0, want[len(want)-1]; at < end; {
			piece := data[at:min(at+1+int(size), end)]
			for len(piece) > 0 {
				n, whole := track.take(piece)
				piece = piece[n:]
				at += n
				if whole {
					got = append(got, at)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("ends of frames: got %d, want %d", got, want)
		}
	})
}

package guard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

func TestHostileFrames(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   string
		log  string // empty: no line
	}{
		{"frame of 2^62 bytes", string(longHeader(0, 1<<62)) + "x", "frame of 4611686018427387904 bytes"},
		{"frame of 2^63 bytes", string(longHeader(0, 1<<63)) + "x", "frame of 9223372036854775808 bytes"},
		{"frame of 40 GB", string(longHeader(0, 40<<30)) + "x", "frame of 42949672960 bytes"},
		{"second frame beyond what is left", "\x01\x02hi" + string(longHeader(0, 1<<16-10)), "the limit is"},
		{"10,000 empty frames, never the last", strings.Repeat("\x01\x00", 10_000), "message exceeds the limit of 65536 bytes"},
		{"reserved flags", "\xf0\x00", "frame flags 0xf0"},
		{"command with MORE", "\x05\x00", "frame flags 0x05"},
		{"command without a name", "\x04\x00", "without a name"},
		{"command with a name beyond its end", "\x04\x02\x09x", "without a name"},
		{"PING with a context of 17 bytes", string(commandFrame("PING", make([]byte, 19))), "PING of 19 bytes"},
		{"PING without its time to live", string(commandFrame("PING", []byte{1})), "PING of 1 bytes"},
		{"ERROR", string(commandFrame("ERROR", []byte("\x02no"))), "the peer sent ERROR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, zmq4.Router, Config{MaxMessage: 1 << 16}).echo()
			p := dial(t, s).hello("DEALER", "")
			p.raw([]byte(tt.in))
			p.disconnected()
			eventually(t, "a log line with "+tt.log, func() bool { return strings.Contains(s.lines(), tt.log) })
			s.serves(t)
		})
	}
}

func TestPing(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	p := dial(t, s).hello("DEALER", "")
	for _, context := range []string{"", "ctxt", "sixteen bytes..."} {
		p.raw(commandFrame("PING", []byte("\x00\x0a"+context)))
		if name, data := p.command(); name != "PONG" || data != context {
			t.Errorf("got %s %q, want PONG %q", name, data, context)
		}
	}
	p.raw(commandFrame("PONG", nil), commandFrame("WHATEVER", []byte("newer than our version")))
	p.send("after") // the first message that the socket receives
	if got := p.message(); len(got) != 1 || got[0] != "after" {
		t.Errorf("got %q, want the message after the commands and nothing else", got)
	}
}

func TestPingWithoutAReceiver(t *testing.T) {
	s := serve(t, zmq4.Router, Config{})
	p := dial(t, s).hello("DEALER", "me")
	const n = 40 // zmq4 holds ten
	for i := range n {
		p.send(fmt.Sprint(i))
	}
	p.raw(commandFrame("PING", []byte("\x00\x0ax")))
	if name, _ := p.command(); name != "PONG" {
		t.Fatalf("got %s, want PONG", name)
	}
	for i := range n {
		if got := receive(t, s.Socket); !slices.Equal(got, []string{"me", fmt.Sprint(i)}) {
			t.Fatalf("message %d: got %q", i, got)
		}
	}
}

// TestPingsOfAPeerThatDoesNotRead uses a pipe. It has no buffer, so the guard cannot
// send any PONG.
func TestPingsOfAPeerThatDoesNotRead(t *testing.T) {
	const high, n = 1 << 10, 5000
	l := newListener(socket(t, zmq4.Router), "tcp", "", Config{High: high})
	ours, theirs := net.Pipe()
	defer theirs.Close()
	theirs.SetDeadline(time.Now().Add(patience))
	c := newConn(l, ours)
	l.await(c)
	go c.run()
	p := &peer{theirs, bufio.NewReader(theirs), t}
	go p.raw(greeting(), readyFrame("DEALER", ""))
	p.greeted()
	zmq := <-l.ready
	if _, err := zmq.Write(append(greeting(), readyFrame("ROUTER", "")...)); err != nil {
		t.Fatal(err)
	}
	ping := commandFrame("PING", make([]byte, 18))
	for i := range n {
		if _, err := p.Write(ping); err != nil {
			t.Fatalf("PING %d: %v", i, err)
		}
	}
	p.send("last")
	last := appendFrame(nil, 0, []byte("last"))
	want := slices.Concat(greeting(), readyFrame("DEALER", ""), last)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(zmq, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("zmq4 reads %q, %v, want the handshake and the message", got, err)
	}
	if n := c.queued.Load(); n < high || n > 2*high {
		t.Errorf("got %d bytes of queued PONGs, want at most High, %d", n, high)
	}
}

// TestBackPressure checks that messages the socket does not receive stay with the peer.
func TestBackPressure(t *testing.T) {
	const high, size, n = 64 << 10, 10 << 10, 2000
	s := serve(t, zmq4.Router, Config{High: high})
	p := dial(t, s).hello("DEALER", "me")
	go func() {
		for i := range n {
			p.send(fmt.Sprint(i), strings.Repeat("x", size))
		}
	}()
	waiting := func() (size int) {
		s.Listener.mu.Lock()
		defer s.Listener.mu.Unlock()
		for c := range s.conns {
			c.in.Lock()
			size += c.in.size
			c.in.Unlock()
		}
		return size
	}
	eventually(t, "the queue is full", func() bool { return waiting() > high })
	for i := range n {
		if got := waiting(); got > high+size+2*frameCost+len("1999") {
			t.Fatalf("%d bytes wait for the reader, want at most one message more than %d", got, high)
		}
		if got := receive(t, s.Socket); got[1] != fmt.Sprint(i) || len(got[2]) != size {
			t.Fatalf("message %d: got %.10q", i, got)
		}
	}
}

func TestStrayMessagesOfASubscriber(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	p := dial(t, s).hello("SUB", "")
	for range 50 {
		p.send("hello")
		p.send("")
		p.send("\x01", "frames")
	}
	p.send("\x01t")
	if got := p.message(); !slices.Equal(got, []string{"t", "welcome"}) {
		t.Fatalf("got %q, want the welcome", got)
	}
	publish(t, s, "", "not subscribed to")
	publish(t, s, "t", "1")
	if got := p.message(); !slices.Equal(got, []string{"t", "1"}) {
		t.Errorf("got %q, want the message under t", got)
	}
}

func TestCancelAndCommands(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	p := dial(t, s).hello("SUB", "")
	p.raw(commandFrame("SUBSCRIBE", []byte("a")))
	p.message()
	p.send("\x01b")
	p.message()
	p.raw(commandFrame("CANCEL", []byte("a")))
	p.send("\x01c") // its welcome proves that the CANCEL before it holds
	p.message()
	publish(t, s, "a", "cancelled")
	publish(t, s, "b", "kept")
	if got := p.message(); !slices.Equal(got, []string{"b", "kept"}) {
		t.Errorf("got %q, want the message under b", got)
	}
}

func TestTooManyTopics(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   func(p *peer)
	}{
		{"many", func(p *peer) {
			for i := range maxTopics / frameCost {
				p.send(fmt.Sprintf("\x01%d", i))
			}
		}},
		{"long", func(p *peer) { p.send("\x01" + strings.Repeat("x", maxTopics)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, serve(t, zmq4.Pub, Config{})).hello("SUB", "")
			tt.in(p)
			p.disconnected()
		})
	}
}

// TestPeerThatClosesInsideAFrame checks that zmq4 forgets the peer and its topics.
func TestPeerThatClosesInsideAFrame(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	topics := func() []string { return s.Socket.(zmq4.Topics).Topics() }
	for i := range 50 {
		p := dial(t, s).hello("SUB", "")
		p.send(fmt.Sprintf("\x01%d", i))
		p.message()
		p.raw([]byte("\x00\x50abc"))
		p.Close()
	}
	eventually(t, "zmq4 has only the tap's topic", func() bool { return slices.Equal(topics(), []string{""}) })
	eventually(t, "no peer is left", func() bool { n, _ := s.Counts(); return n == 0 })
	if s.lines() != "" {
		t.Errorf("got log %q, want no line about peers that leave", s.lines())
	}
}

func TestPeersThatLeftTakeNoMemory(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	s.serves(t)
	empty := func() bool { n, _ := s.Counts(); return n == 0 }
	eventually(t, "the first peer has gone", empty)
	before := runtime.NumGoroutine()
	for range 50 {
		s.serves(t)
	}
	eventually(t, "all peers have gone", empty)
	eventually(t, "no more goroutines than before", func() bool { return runtime.NumGoroutine() <= before })
	s.Listener.mu.Lock()
	defer s.Listener.mu.Unlock()
	if len(s.pending) > 0 || len(s.identities) > 0 || s.queued.Load() != 0 {
		t.Errorf("got %d handshakes, %d identities and %d bytes, want none",
			len(s.pending), len(s.identities), s.queued.Load())
	}
}

package guard

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

func TestCanonicalHandshake(t *testing.T) {
	null := "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00NULL" + strings.Repeat("\x00", 48)
	for _, tt := range []struct {
		typ  zmq4.SocketType
		peer string
		want string
	}{
		{zmq4.Router, "DEALER", null + "\x04\x29\x05READY\x0bSocket-Type\x00\x00\x00\x06ROUTER\x08Identity\x00\x00\x00\x00"},
		{zmq4.Pub, "SUB", null + "\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB"},
	} {
		t.Run(string(tt.typ), func(t *testing.T) {
			s := serve(t, tt.typ, Config{})
			p := dial(t, s)
			got := make([]byte, len(tt.want))
			if _, err := io.ReadFull(p.r, got[:greetingSize]); err != nil {
				t.Fatalf("waiting for the guard's greeting: %v", err)
			}
			p.raw(greeting(), readyFrame(tt.peer, ""))
			if _, err := io.ReadFull(p.r, got[greetingSize:]); err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			eventually(t, "one peer, none pending", func() bool {
				conns, pending := s.Counts()
				return conns == 1 && pending == 0
			})
		})
	}
}

func TestPeerThatWaitsForReady(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	p := dial(t, s)
	p.raw(greeting())
	p.greeted()
	p.raw(readyFrame("DEALER", ""))
	p.send("hello")
	if got := p.message(); len(got) != 1 || got[0] != "hello" {
		t.Errorf("got %q, want hello", got)
	}
}

func TestHandshakeRefuses(t *testing.T) {
	greet := string(greeting())
	for _, tt := range []struct {
		name string
		in   string
		log  string
	}{
		{"HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "first byte 0x47"},
		{"signature", "\xff" + strings.Repeat("x", 63), "signature 0x78"},
		{"ZMTP 2", "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x01\x05\x00\x00", "version 1"},
		{"CURVE", strings.Replace(greet, "NULL\x00", "CURVE", 1), `mechanism "CURVE", want NULL`},
		{"message before READY", greet + "\x00\x02hi", "message before READY"},
		{"another command", greet + "\x04\x06\x05HELLO", `command "HELLO", want READY`},
		{"command without a name", greet + "\x04\x00", "without a name"},
		{"frame of 2^62 bytes", greet + string(longHeader(flagCommand, 1<<62)) + "x", "frame of 4611686018427387904 bytes"},
		{"READY of 5000 bytes", greet + string(longHeader(flagCommand, 5000)), "the limit is 4096"},
		{"metadata cut short", greet + "\x04\x0c\x05READY\x05Socke", "READY ends inside a property"},
		{"metadata cut short in the value", greet + "\x04\x16\x05READY\x0bSocket-Type\xff\xff\xff\xff", "4294967295 bytes announced"},
		{"unknown Socket-Type", greet + string(readyFrame("FOO", "")), `socket type "FOO" is not compatible with ROUTER`},
		{"no Socket-Type", greet + "\x04\x06\x05READY", `socket type ""`},
		{"wrong Socket-Type", greet + string(readyFrame("SUB", "")), `socket type "SUB"`},
		{"reserved identity", greet + string(readyFrame("DEALER", "\x00\x01")), "no leading zero"},
		{"long identity", greet + string(readyFrame("DEALER", strings.Repeat("i", 256))), "identity of 256 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, zmq4.Router, Config{}).echo()
			p := dial(t, s)
			p.raw([]byte(tt.in))
			p.disconnected()
			eventually(t, "a log line with "+tt.log, func() bool { return strings.Contains(s.lines(), tt.log) })
			s.serves(t)
			if conns, _ := s.Counts(); conns > 1 {
				t.Errorf("got %d connected peers, want at most the last one", conns)
			}
		})
	}
}

func TestErrorCommandForWrongType(t *testing.T) {
	p := dial(t, serve(t, zmq4.Pub, Config{}))
	p.raw(greeting(), readyFrame("DEALER", ""))
	if _, err := io.ReadFull(p.r, make([]byte, greetingSize)); err != nil {
		t.Fatal(err)
	}
	if name, _ := p.command(); name != "ERROR" {
		t.Errorf("got command %s, want ERROR", name)
	}
	p.disconnected()
}

func TestSilentClients(t *testing.T) {
	for _, tt := range []struct {
		name      string
		handshake time.Duration
	}{
		{"do not block others", time.Hour},
		{"are disconnected", 100 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) { silentClients(t, tt.handshake) })
	}
}

func silentClients(t *testing.T, handshake time.Duration) {
	s := serve(t, zmq4.Router, Config{Handshake: handshake}).echo()
	var silent []*peer
	for range 5 {
		silent = append(silent, dial(t, s)) // sends nothing
		half := dial(t, s)                  // stops after the greeting
		half.raw(greeting())
		cut := dial(t, s) // stops inside READY
		cut.raw(greeting(), readyFrame("DEALER", "")[:9])
		silent = append(silent, half, cut)
	}
	if handshake > patience {
		eventually(t, "all are pending", func() bool { _, pending := s.Counts(); return pending == len(silent) })
		s.serves(t)
		return
	}
	for _, p := range silent {
		p.disconnected()
	}
	eventually(t, "none is pending", func() bool { _, pending := s.Counts(); return pending == 0 })
	s.serves(t)
}

func TestOldestHandshakeGivesWay(t *testing.T) {
	s := serve(t, zmq4.Router, Config{MaxPending: 2, Handshake: time.Minute}).echo()
	pending := func(n int) {
		t.Helper()
		eventually(t, "pending", func() bool { _, got := s.Counts(); return got == n })
	}
	oldest := dial(t, s)
	pending(1)
	second := dial(t, s)
	pending(2)
	s.serves(t) // the third
	oldest.disconnected()
	eventually(t, "a log line", func() bool { return strings.Contains(s.lines(), "this was the oldest") })
	second.hello("DEALER", "").send("me, too")
	if got := second.message(); len(got) != 1 {
		t.Errorf("the second peer got %q, want its message back", got)
	}
}

func TestTooManyPeers(t *testing.T) {
	s := serve(t, zmq4.Router, Config{MaxConns: 1}).echo()
	first := dial(t, s).hello("DEALER", "")
	second := dial(t, s)
	second.raw(greeting(), readyFrame("DEALER", ""))
	if n := second.disconnected(); n != greetingSize {
		t.Errorf("the second peer got %d bytes, want %d: the greeting without READY", n, greetingSize)
	}
	if !strings.Contains(s.lines(), "the limit of 1 connected peers is reached") {
		t.Errorf("got log %q, want it to name the limit", s.lines())
	}
	first.Close()
	eventually(t, "the first has gone", func() bool { n, _ := s.Counts(); return n == 0 })
	s.serves(t)
}

func TestSubscribersNeedNoIdentity(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	ready := commandFrame("READY", appendProperty(appendProperty(nil, "Socket-Type", "SUB"), "Identity", "same"))
	for range 2 {
		p := dial(t, s)
		p.raw(greeting(), ready)
		p.greeted()
		p.send("\x01")
		p.message()
	}
	if n, _ := s.Counts(); n != 2 {
		t.Errorf("got %d subscribers of one identity, want 2", n)
	}
}

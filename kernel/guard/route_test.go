package guard

import (
	"bytes"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-zeromq/zmq4"
)

// says sends a message and checks that an echoing socket returns it.
func (p *peer) says(text string) {
	p.t.Helper()
	p.send(text)
	if got := p.message(); !slices.Equal(got, []string{text}) {
		p.t.Fatalf("got %q, want the answer to %q", got, text)
	}
}

// unserved sends a message and checks that it is not answered although the connection
// stays open: the next message must be the answer to a PING.
func (p *peer) unserved(s *server, text string) {
	p.t.Helper()
	p.send(text)
	p.pinged()
	s.serves(p.t) // the socket has now answered all earlier messages
	p.pinged()
}

func (p *peer) pinged() {
	p.t.Helper()
	p.raw(commandFrame("PING", []byte("\x00\x0a")))
	if name, _ := p.command(); name != "PONG" {
		p.t.Fatalf("got %s, want PONG", name)
	}
}

func TestHandover(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	first := dial(t, s).hello("DEALER", "same")
	first.says("first")
	second := dial(t, s).hello("DEALER", "same")
	second.says("second")
	first.unserved(s, "first again")
	third := dial(t, s).hello("REQ", "same")
	third.says("third")
	first.unserved(s, "first again")
	second.unserved(s, "second again")
	third.Close()
	eventually(t, "the third has gone", func() bool { n, _ := s.Counts(); return n == 2 })
	second.unserved(s, "no other takes its place")
	dial(t, s).hello("DEALER", "same").says("fourth")
}

func TestReplyInTransit(t *testing.T) {
	s := serve(t, zmq4.Router, Config{})
	first := dial(t, s).hello("DEALER", "same")
	first.send("request")
	receive(t, s.Socket)
	second := dial(t, s).hello("DEALER", "same")
	s.SendMulti(zmq4.NewMsgFromString([]string{"same", "reply"}))
	if got := second.message(); !slices.Equal(got, []string{"reply"}) {
		t.Errorf("the newest got %q, want the reply", got)
	}
	first.pinged() // with no reply before
}

// TestRequestsBeforeTheHandover checks that complete messages of the displaced peer are
// served, and nothing of a message that it had begun.
func TestRequestsBeforeTheHandover(t *testing.T) {
	s := serve(t, zmq4.Router, Config{})
	first := dial(t, s).hello("DEALER", "same")
	const n = 30 // zmq4 holds ten
	for i := range n {
		first.send(strconv.Itoa(i), "end")
	}
	first.raw(appendFrame(nil, flagMore, []byte("begun")))
	first.pinged() // all messages have arrived
	second := dial(t, s).hello("DEALER", "same")
	first.send("displaced")
	first.pinged()
	second.send("second")
	for i := range n {
		if got := receive(t, s.Socket); !slices.Equal(got, []string{"same", strconv.Itoa(i), "end"}) {
			t.Fatalf("got %q, want request %d", got, i)
		}
	}
	if got := receive(t, s.Socket); !slices.Equal(got, []string{"same", "second"}) {
		t.Errorf("got %q, want the newest peer's message", got)
	}
}

// TestHandoverInsideAReply checks that the displaced peer gets the whole message that
// zmq4 is writing, and the newest gets the next one.
func TestHandoverInsideAReply(t *testing.T) {
	l := newListener(socket(t, zmq4.Router), "tcp", "", Config{})
	enter := func() *conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { theirs.Close() })
		c := newConn(l, ours)
		c.identity = "same"
		l.await(c)
		if err := l.enter(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := enter()
	r := first.route
	write := func(b []byte) {
		t.Helper()
		if _, err := r.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	queue := func(c *conn) string { return string(bytes.Join(c.out.queue.take(), nil)) }
	write(greeting())
	second := enter() // before zmq4's READY, which is not for the second
	write(readyFrame("ROUTER", ""))
	message := appendMessage(nil, [][]byte{[]byte("one"), []byte("two")})
	write(message[:7])
	third := enter()
	write(message[7:])
	write(message)
	for _, tt := range []struct {
		name string
		c    *conn
		want string
	}{
		{"first", first, ""}, {"second", second, string(message)}, {"third", third, string(message)},
	} {
		if got := queue(tt.c); got != tt.want {
			t.Errorf("the %s gets %q, want %q", tt.name, got, tt.want)
		}
	}
	third.cut("")
	if _, err := r.Write(message); err == nil {
		t.Error("Write to a route that is over: got no error")
	}
}

// TestHandoverFromAPeerThatDoesNotRead hands over from a peer whose connection may be
// half open. What is queued for it must still be sent if it reads again.
func TestHandoverFromAPeerThatDoesNotRead(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	first := dial(t, s).hello("DEALER", "same")
	first.Conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	reply := strings.Repeat("x", 20<<20)
	first.send(reply)
	eventually(t, "the reply waits", func() bool { return s.queued.Load() > 1<<20 })
	second := dial(t, s).hello("DEALER", "same")
	second.says("second")
	if got := first.message(); len(got) != 1 || got[0] != reply {
		t.Errorf("got %d frames, want the reply from before the handover", len(got))
	}
	first.unserved(s, "displaced")
}

func TestHalfAHandshakeDisplacesNoPeer(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	first := dial(t, s).hello("DEALER", "same")
	ready := readyFrame("DEALER", "same")
	var half []*peer
	for _, sent := range [][]byte{{}, greeting()[:20], greeting(), append(greeting(), ready[:len(ready)-1]...)} {
		p := dial(t, s)
		p.raw(sent)
		half = append(half, p)
	}
	refused := dial(t, s)
	refused.raw(greeting(), readyFrame("SUB", "same"))
	refused.disconnected()
	eventually(t, "the handshakes are under way", func() bool { _, n := s.Counts(); return n == len(half) })
	first.says("still here")
	last := half[len(half)-1]
	last.raw(ready[len(ready)-1:])
	last.greeted()
	last.says("the newest")
	first.unserved(s, "displaced")
}

// TestProbation checks that a peer without the key displaces another only until the
// other sends a message.
func TestProbation(t *testing.T) {
	key := func(frames [][]byte) bool { return bytes.HasPrefix(frames[0], []byte("key")) }
	s := serve(t, zmq4.Router, Config{Proves: key}).echo()
	dial(t, s).hello("DEALER", "other").says("alone it needs no proof")

	first := dial(t, s).hello("DEALER", "same")
	thief := dial(t, s).hello("DEALER", "same")
	first.says("key: an unproven peer takes its identity back")
	thief.unserved(s, "no proof")
	second := dial(t, s).hello("DEALER", "same")
	second.says("key: a new peer with the key")
	first.unserved(s, "key: older than the newest with the key")
	thief.unserved(s, "no proof")

	thieves := []*peer{dial(t, s).hello("DEALER", "same"), dial(t, s).hello("DEALER", "same")}
	second.says("a message of a proven peer")
	thieves[1].unserved(s, "no proof")
	gone := dial(t, s).hello("DEALER", "same")
	gone.Close()
	thieves[0].Close()
	thieves[1].Close()
	eventually(t, "the thieves have gone", func() bool { n, _ := s.Counts(); return n == 4 })
	s.SendMulti(zmq4.NewMsgFromString([]string{"same", "for the second"}))
	if got := second.message(); !slices.Equal(got, []string{"for the second"}) {
		t.Errorf("got %q, want the identity back", got)
	}
}

// TestHolds checks that a peer on probation neither reads messages nor takes them away,
// and gets a copy when it has proved itself.
func TestHolds(t *testing.T) {
	key := func(frames [][]byte) bool { return string(frames[0]) == "key" }
	s := serve(t, zmq4.Router, Config{Proves: key, Holds: true, High: 1000, Limit: 100000})
	send := func(text string, to ...*peer) {
		t.Helper()
		s.SendMulti(zmq4.NewMsgFromString([]string{"same", text}))
		for _, p := range to {
			if got := p.message(); !slices.Equal(got, []string{text}) {
				t.Fatalf("got %q, want %q", got, text)
			}
		}
	}
	join := func() *peer {
		t.Helper()
		return dial(t, s).hello("DEALER", "same")
	}
	proves := func(p *peer) {
		t.Helper()
		p.send("key")
		receive(t, s.Socket)
	}
	silent := join()
	first := join()
	proves(first)
	send("to the first", first)
	gets := func(p *peer, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if got := p.message(); !slices.Equal(got, []string{text}) {
				t.Fatalf("got %q, want %q, which was held", got, text)
			}
		}
	}
	second := join()
	third := join()
	send("to the first", first)
	send("and not to the third", first)
	proves(third)
	gets(third, "to the first", "and not to the third")
	send("to the third", third)
	late := join()
	send("to the third and not to the late one", third)
	proves(third) // takes the identity back
	proves(late)
	gets(late, "to the third and not to the late one")
	send("to the late one", late)
	third = late
	send("to the third", third)
	fourth := join()
	send(strings.Repeat("x", 2000), third)
	send("too much is held", third)
	proves(fourth)
	if got := fourth.message(); !slices.Equal(got, []string{strings.Repeat("x", 2000)}) {
		t.Fatalf("the fourth peer got %d bytes, want the first held message, of 2000 bytes", len(got[0]))
	}
	send("to the fourth", fourth)
	for _, p := range []*peer{silent, first, second, third, fourth} {
		p.pinged() // with no other message before
	}
}

// TestFloodOfOneIdentity checks that connections of one identity take no slot from
// other peers.
func TestFloodOfOneIdentity(t *testing.T) {
	s := serve(t, zmq4.Router, Config{MaxConns: 8}).echo()
	s.serves(t)
	eventually(t, "the first peer has gone", func() bool { n, _ := s.Counts(); return n == 0 })
	before := runtime.NumGoroutine()
	other := dial(t, s).hello("DEALER", "other")
	var flood []*peer
	for range 100 {
		flood = append(flood, dial(t, s).hello("DEALER", "same"))
	}
	if n, _ := s.Counts(); n != 8 {
		t.Errorf("got %d connected peers, want 8", n)
	}
	other.says("not displaced")
	s.serves(t)
	flood[99].says("the newest")
	flood[0].disconnected()
	for _, p := range append(flood, other) {
		p.Close()
	}
	eventually(t, "all have gone", func() bool { n, _ := s.Counts(); return n == 0 })
	eventually(t, "no more goroutines than before", func() bool { return runtime.NumGoroutine() <= before })
	s.Listener.mu.Lock()
	defer s.Listener.mu.Unlock()
	if len(s.identities) > 0 || s.queued.Load() != 0 {
		t.Errorf("got %d identities and %d bytes, want none", len(s.identities), s.queued.Load())
	}
}

// TestEachReplyArrivesOnce sends messages while one peer after the other takes over the
// identity. Each message must arrive at exactly one of them.
func TestEachReplyArrivesOnce(t *testing.T) {
	s := serve(t, zmq4.Router, Config{})
	var mu sync.Mutex
	seen := map[int]int{} // how often each message has arrived
	join := func() *peer {
		p := dial(t, s).hello("DEALER", "same")
		go func() {
			for before := -1; ; {
				m := p.message()
				if m == nil {
					return
				}
				n, err := strconv.Atoi(m[0])
				if err != nil || n <= before || len(m[1]) != n%5000 {
					t.Errorf("message %q of %d bytes follows %d", m[0], len(m[1]), before)
				}
				mu.Lock()
				seen[n]++
				mu.Unlock()
				before = n
			}
		}()
		return p
	}
	join().send("hello")
	receive(t, s.Socket) // zmq4 has registered the identity
	stop, sent := make(chan struct{}), make(chan int)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				sent <- i
				return
			default:
				s.SendMulti(zmq4.NewMsgFromString([]string{"same", strconv.Itoa(i), strings.Repeat("x", i%5000)}))
			}
		}
	}()
	for range 50 {
		join()
	}
	close(stop)
	n := <-sent
	eventually(t, "every message has arrived", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) == n
	})
	mu.Lock()
	defer mu.Unlock()
	for i, times := range seen {
		if times != 1 {
			t.Errorf("message %d arrived %d times, want once", i, times)
		}
	}
}

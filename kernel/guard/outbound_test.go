package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

func welcome(topic []byte) [][][]byte { return [][][]byte{{topic, []byte("welcome")}} }

// subscriber subscribes raw and waits for the welcome.
func subscriber(t testing.TB, s *server, topic string) *peer {
	t.Helper()
	p := dial(t, s).hello("SUB", "")
	p.send("\x01" + topic)
	if got := p.message(); !slices.Equal(got, []string{topic, "welcome"}) {
		t.Fatalf("got %.40q, want the welcome first", got)
	}
	return p
}

// stuck subscribes and reads nothing more.
func stuck(t testing.TB, s *server, topic string) *peer {
	t.Helper()
	p := subscriber(t, s, topic)
	p.Conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	return p
}

func TestWelcome(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	all := subscriber(t, s, "")
	some := subscriber(t, s, "stream")
	publish(t, s, "stream", "1")
	for _, p := range []*peer{all, some} {
		if got := p.message(); !slices.Equal(got, []string{"stream", "1"}) {
			t.Errorf("got %q, want the message without the welcome of another subscriber", got)
		}
	}
}

// TestMessageBeforeTheWelcome covers a message that zmq4 writes after it has acted on the
// subscription and before it reads again.
func TestMessageBeforeTheWelcome(t *testing.T) {
	l := newListener(socket(t, zmq4.Pub), "tcp", "", Config{Welcome: welcome})
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := newConn(l, ours)
	if _, err := c.Write(append(greeting(), readyFrame("PUB", "")...)); err != nil {
		t.Fatal(err)
	}
	if err := c.subscription([]byte("\x01t")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	message := [][]byte{[]byte("t"), []byte("1")}
	if _, err := c.Write(appendMessage(nil, message)); err != nil {
		t.Fatal(err)
	}
	c.in.finish()
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatalf("Read: got %d bytes, want the end", n)
	}
	want := appendMessage(appendMessage(nil, welcome([]byte("t"))[0]), message)
	if got := bytes.Join(c.out.queue.take(), nil); !bytes.Equal(got, want) {
		t.Errorf("the peer gets %q, want one welcome and then the message, %q", got, want)
	}
}

func TestNoWelcome(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: func([]byte) [][][]byte { return nil }})
	p := dial(t, s).hello("SUB", "")
	p.send("\x01t")
	eventually(t, "zmq4 has the subscription", func() bool { return slices.Contains(s.Socket.(zmq4.Topics).Topics(), "t") })
	publish(t, s, "t")
	if got := p.message(); !slices.Equal(got, []string{"t"}) {
		t.Errorf("got %q, want what was published", got)
	}
}

func TestNothingIsLostAfterTheWelcome(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	for i := range 200 {
		p := subscriber(t, s, "")
		publish(t, s, fmt.Sprint(i))
		if got := p.message(); !slices.Equal(got, []string{fmt.Sprint(i)}) {
			t.Fatalf("subscriber %d got %q", i, got)
		}
		p.Close()
	}
}

func TestWelcomeInAFlood(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	ctx, stop := context.WithCancel(context.Background())
	var flood sync.WaitGroup
	flood.Go(func() {
		body := make([]byte, 2000)
		for i := 0; ctx.Err() == nil; i++ {
			s.Publish(ctx, []byte("t"), fmt.Append(nil, i), body)
		}
	})
	defer flood.Wait()
	defer stop()
	for range 30 {
		p := subscriber(t, s, "")
		last := -1
		for range 20 {
			m := p.message()
			var i int
			if len(m) != 3 || m[0] != "t" || len(m[2]) != 2000 {
				t.Fatalf("got %.40q, want a whole message", m)
			}
			if fmt.Sscan(m[1], &i); last >= 0 && i != last+1 {
				t.Fatalf("message %d follows %d", i, last)
			}
			last = i
		}
		p.Close()
	}
}

func TestStuckSubscriber(t *testing.T) {
	const n, size = 3000, 10_000
	var cuts atomic.Int32
	s := serve(t, zmq4.Pub, Config{Welcome: welcome, Limit: 4 << 20, Cut: func() { cuts.Add(1) }})
	bad := stuck(t, s, "")
	good := subscriber(t, s, "")
	go func() {
		for i := range n {
			s.Publish(context.Background(), []byte("t"), fmt.Append(nil, i), make([]byte, size))
		}
	}()
	for i := range n {
		if got := good.message(); len(got) != 3 || got[1] != fmt.Sprint(i) || len(got[2]) != size {
			t.Fatalf("message %d: the healthy subscriber got %.20q", i, got)
		}
	}
	if got := bad.disconnected(); got >= n*size {
		t.Errorf("the stuck subscriber got all of %d bytes, want it disconnected", got)
	}
	if !strings.Contains(s.lines(), "it is not reading") {
		t.Errorf("got log %q, want a line about the cut", s.lines())
	}
	if n := cuts.Load(); n != 1 {
		t.Errorf("Cut was called %d times, want once", n)
	}
}

func TestStuckSubscriberAlone(t *testing.T) {
	const n, size = 2000, 10_000
	s := serve(t, zmq4.Pub, Config{Welcome: welcome, Patience: 50 * time.Millisecond, Limit: 4 << 20})
	bad := stuck(t, s, "")
	for range n { // publishing continues
		publish(t, s, "t", strings.Repeat("x", size))
	}
	if got := bad.disconnected(); got >= n*size {
		t.Errorf("the stuck subscriber got all of %d bytes, want it disconnected", got)
	}
}

// publishUntilFull publishes under topic until Publish has to wait.
func publishUntilFull(t *testing.T, s *server, topic string) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	body := make([]byte, 100<<10)
	for range 1000 {
		ctx, stop := context.WithTimeout(ctx, 300*time.Millisecond)
		err := s.Publish(ctx, []byte(topic), body)
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func TestPublishWaitsForTheFastest(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	slow := stuck(t, s, "t")
	subscriber(t, s, "u") // reads, but gets none of it
	if err := publishUntilFull(t, s, "t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want context.DeadlineExceeded: Publish waits for the subscriber", err)
	}
	if n := s.queued.Load(); n > 2<<20 {
		t.Errorf("%d bytes are queued, want about High, %d", n, 1<<20)
	}
	publish(t, s, "u", "what others subscribe to does not wait")
	go io.Copy(io.Discard, slow)
	publish(t, s, "t", "it reads again")
}

func TestSlowSubscriberAlone(t *testing.T) {
	const n, size = 3000, 10_000
	s := serve(t, zmq4.Pub, Config{Welcome: welcome, High: 64 << 10, Limit: 512 << 10})
	slow := stuck(t, s, "")
	go func() {
		for i := range n {
			s.Publish(context.Background(), []byte("t"), fmt.Append(nil, i), make([]byte, size))
		}
	}()
	for i := range n {
		if got := slow.message(); len(got) != 3 || got[1] != fmt.Sprint(i) {
			t.Fatalf("message %d: got %.20q", i, got)
		}
		if i%300 == 0 {
			time.Sleep(time.Millisecond) // read in bursts
		}
	}
}

func TestRouterReplyToAClientThatDoesNotRead(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	bad := dial(t, s).hello("DEALER", "")
	bad.Conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	reply := strings.Repeat("q", 20_000_000)
	bad.send(reply)
	eventually(t, "the reply waits", func() bool { return s.queued.Load() > 1<<20 })
	for range 20 {
		s.serves(t)
	}
	if got := bad.message(); len(got) != 1 || len(got[0]) != len(reply) {
		t.Errorf("got %d frames, want the reply once the client reads", len(got))
	}
}

func TestLongestQueueIsCut(t *testing.T) {
	s := serve(t, zmq4.Router, Config{Total: 20 << 20})
	reply := func(id string, size int) {
		t.Helper()
		if err := s.SendMulti(zmq4.NewMsgFrom([]byte(id), make([]byte, size))); err != nil {
			t.Fatal(err)
		}
	}
	peers := map[string]*peer{}
	for id, size := range map[string]int{"small": 12 << 20, "large": 24 << 20, "reads": 0} {
		peers[id] = dial(t, s).hello("DEALER", id)
		peers[id].Conn.(*net.TCPConn).SetReadBuffer(256 << 10)
		peers[id].send("hello")
		receive(t, s.Socket)
		if size > 0 {
			reply(id, size)
		}
	}
	reply("reads", 100) // passes 20 MiB: the check stands before a message
	if got := peers["reads"].message(); len(got) != 1 || len(got[0]) != 100 {
		t.Errorf("got %d frames, want the reply", len(got))
	}
	if n := peers["large"].disconnected(); n >= 24<<20 {
		t.Errorf("the longest queue was sent, %d bytes, want it disconnected", n)
	}
	if got := peers["small"].message(); len(got) != 1 || len(got[0]) != 12<<20 {
		t.Errorf("got %d frames, want the shorter queue sent", len(got))
	}
	if !strings.Contains(s.lines(), "most of them for this one") {
		t.Errorf("got log %q, want a line about the cut", s.lines())
	}
}

// TestFlushReachesEverySubscriber stops zmq4 between two subscribers: it writes a
// message to one after the other, and first to the tap, which measures its progress.
func TestFlushReachesEverySubscriber(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	p := subscriber(t, s, "")
	var c *conn
	s.Listener.mu.Lock()
	for c = range s.conns {
	}
	s.Listener.mu.Unlock()
	c.out.Lock() // stops zmq4 between the tap and the subscriber
	publish(t, s, "t")
	eventually(t, "the tap has the message", func() bool { return s.seen.Load() == s.sent.Load() })
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	err := s.Flush(ctx)
	c.out.Unlock()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Flush before the subscriber has the message: got %v, want it to wait", err)
	}
	if err := s.Flush(context.Background()); err != nil {
		t.Error(err)
	}
	s.sever()
	if got := p.message(); !slices.Equal(got, []string{"t"}) {
		t.Errorf("got %q, want the message", got)
	}
}

func TestFlushBeforeExit(t *testing.T) {
	const n = 5000
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	var clients []*peer
	for range 3 {
		clients = append(clients, subscriber(t, s, ""))
	}
	var reading sync.WaitGroup
	for _, p := range clients {
		reading.Go(func() {
			got := 0
			for p.message() != nil {
				got++
			}
			if got != n {
				t.Errorf("%d messages arrived, want %d", got, n)
			}
		})
	}
	for i := range n {
		publish(t, s, fmt.Sprint(i), strings.Repeat("x", 1000))
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := s.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	s.sever()
	reading.Wait()
}

// sever ends all connections as the end of the process would: data queued above the
// operating system is lost.
func (s *server) sever() {
	var conns []*conn
	s.Listener.mu.Lock()
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.Listener.mu.Unlock()
	for _, c := range conns {
		c.cut("")
	}
}

func TestFlushOfARouter(t *testing.T) {
	s := serve(t, zmq4.Router, Config{}).echo()
	p := dial(t, s).hello("DEALER", "")
	p.Conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	size := 20 << 20
	p.send(strings.Repeat("x", size))
	eventually(t, "the reply waits", func() bool { return s.queued.Load() > 1<<20 })
	flushed := make(chan error)
	go func() {
		err := s.Flush(context.Background())
		s.sever()
		flushed <- err
	}()
	if got := p.message(); len(got) != 1 || len(got[0]) != size {
		t.Errorf("got %d frames, want the whole reply", len(got))
	}
	if err := <-flushed; err != nil {
		t.Error(err)
	}
}

func TestFlushDoesNotWaitForStuckPeers(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome, Patience: 50 * time.Millisecond})
	stuck(t, s, "")
	for range 100 {
		publish(t, s, "t", strings.Repeat("x", 200<<10))
	}
	if s.queued.Load() == 0 {
		t.Fatal("nothing waits, so nothing is tested")
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := s.Flush(ctx); err != nil {
		t.Error(err)
	}
}

func TestCloseLingers(t *testing.T) {
	s := serve(t, zmq4.Router, Config{Linger: patience})
	p := dial(t, s).hello("DEALER", "me")
	p.send("hello")
	receive(t, s.Socket)
	const size = 20 << 20
	if err := s.SendMulti(zmq4.NewMsgFrom([]byte("me"), make([]byte, size))); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	if got := p.message(); len(got) != 1 || len(got[0]) != size {
		t.Errorf("got %d frames, want the whole reply", len(got))
	}
	p.disconnected()
	<-closed
	if s.queued.Load() != 0 {
		t.Errorf("%d bytes are still counted", s.queued.Load())
	}
}

func TestPublishAfterClose(t *testing.T) {
	s := serve(t, zmq4.Pub, Config{Welcome: welcome})
	p := subscriber(t, s, "")
	half := dial(t, s)
	eventually(t, "a handshake is under way", func() bool { _, n := s.Counts(); return n == 1 })
	s.Listener.Close()
	p.disconnected()
	half.disconnected()
	if err := s.Publish(context.Background(), []byte("t")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Publish: got %v, want %v", err, net.ErrClosed)
	}
	if err := s.Flush(context.Background()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Flush: got %v, want %v", err, net.ErrClosed)
	}
	if _, err := net.Dial("tcp", s.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}

func TestPublishRefuses(t *testing.T) {
	router := serve(t, zmq4.Router, Config{})
	if err := router.Publish(context.Background(), []byte("t")); err == nil || !strings.Contains(err.Error(), "want PUB") {
		t.Errorf("on a ROUTER: got %v", err)
	}
	pub := serve(t, zmq4.Pub, Config{})
	if err := pub.Publish(context.Background()); err == nil || !strings.Contains(err.Error(), "no frames") {
		t.Errorf("without frames: got %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := pub.Publish(ctx, []byte("t")); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: got %v", err)
	}
}

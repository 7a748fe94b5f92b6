package guard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// patience bounds every wait in these tests; a longer wait is a failure.
const patience = time.Minute

// server is a socket behind the guard, with the guard's log.
type server struct {
	zmq4.Socket
	*Listener
	mu  sync.Mutex
	log []string
}

// Socket and Listener both have these methods; the socket's Close closes the Listener.

func (s *server) Addr() net.Addr { return s.Listener.Addr() }
func (s *server) Close() error   { return s.Socket.Close() }
func (s *server) lines() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

var newSocket = map[zmq4.SocketType]func(context.Context, ...zmq4.Option) zmq4.Socket{
	zmq4.Dealer: zmq4.NewDealer, zmq4.Pub: zmq4.NewPub, zmq4.Rep: zmq4.NewRep, zmq4.Req: zmq4.NewReq,
	zmq4.Router: zmq4.NewRouter, zmq4.Sub: zmq4.NewSub, zmq4.XPub: zmq4.NewXPub,
}

func socket(t testing.TB, typ zmq4.SocketType, options ...zmq4.Option) zmq4.Socket {
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0))
	s := newSocket[typ](context.Background(), append(options, quiet)...)
	t.Cleanup(func() { s.Close() })
	return s
}

func serve(t testing.TB, typ zmq4.SocketType, c Config) *server {
	t.Helper()
	s := &server{}
	c.Log = func(format string, args ...any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, fmt.Sprintf(format, args...))
	}
	s.Socket = socket(t, typ)
	var err error
	if s.Listener, err = Listen(s.Socket, "tcp", "127.0.0.1:0", c); err != nil {
		t.Fatal(err)
	}
	return s
}

// echo returns all messages to their senders, until the socket is closed.
func (s *server) echo() *server {
	go func() {
		for {
			m, err := s.Recv()
			if err != nil {
				return
			}
			s.SendMulti(m)
		}
	}()
	return s
}

// client connects a zmq4 socket; a SUB subscribes to topic.
func client(t testing.TB, s *server, typ zmq4.SocketType, topic string) zmq4.Socket {
	t.Helper()
	c := socket(t, typ)
	if typ == zmq4.Sub {
		if err := c.SetOption(zmq4.OptionSubscribe, topic); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Dial("tcp://" + s.Addr().String()); err != nil {
		t.Fatal(err)
	}
	return c
}

// receive returns the frames of the next message.
func receive(t testing.TB, s zmq4.Socket) []string {
	t.Helper()
	type result struct {
		m   zmq4.Msg
		err error
	}
	ch := make(chan result, 1)
	go func() { m, err := s.Recv(); ch <- result{m, err} }()
	select {
	case r := <-ch:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return texts(r.m.Frames)
	case <-time.After(patience):
		t.Fatal("timed out waiting for a message")
		return nil
	}
}

func texts(frames [][]byte) (s []string) {
	for _, f := range frames {
		s = append(s, string(f))
	}
	return s
}

// serves checks that a new client gets an answer from an echoing ROUTER.
func (s *server) serves(t testing.TB) {
	t.Helper()
	p := dial(t, s).hello("DEALER", "")
	p.send("still there?")
	if got := p.message(); len(got) != 1 || got[0] != "still there?" {
		t.Fatalf("new client: got %q, want its message back", got)
	}
	p.Close()
}

// peer is a client that speaks raw ZMTP.
type peer struct {
	net.Conn
	r *bufio.Reader
	t testing.TB
}

func dial(t testing.TB, s *server) *peer {
	t.Helper()
	nc, err := net.Dial(s.Addr().Network(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(patience))
	return &peer{nc, bufio.NewReader(nc), t}
}

// hello sends the peer's half of the handshake and waits for the guard's.
func (p *peer) hello(typ, identity string) *peer {
	p.t.Helper()
	p.raw(greeting(), readyFrame(typ, identity))
	p.greeted()
	return p
}

// greeted reads the guard's half of the handshake.
func (p *peer) greeted() {
	p.t.Helper()
	var g [greetingSize]byte
	if _, err := io.ReadFull(p.r, g[:]); err != nil {
		p.t.Fatalf("greeting: %v", err)
	}
	if name, _ := p.command(); name != "READY" {
		p.t.Fatalf("got command %q, want READY", name)
	}
}

// raw writes bytes; the guard may have cut the connection in the meantime.
func (p *peer) raw(bytes ...[]byte) {
	for _, b := range bytes {
		if _, err := p.Write(b); err != nil {
			return
		}
	}
}

func (p *peer) send(frames ...string) {
	var bs [][]byte
	for _, f := range frames {
		bs = append(bs, []byte(f))
	}
	p.raw(appendMessage(nil, bs))
}

func (p *peer) command() (name, data string) {
	p.t.Helper()
	flags, body, err := readFrame(p.r, 1<<30, nil)
	if err != nil || flags&flagCommand == 0 {
		p.t.Fatalf("got flags %#x, %q, %v, want a command", flags, body, err)
	}
	n, d, err := parseCommand(body)
	if err != nil {
		p.t.Fatal(err)
	}
	return n, string(d)
}

// message reads a message; nil at the end of the connection.
func (p *peer) message() (frames []string) {
	p.t.Helper()
	for {
		flags, body, err := readFrame(p.r, 1<<30, nil)
		if gone(err) && len(frames) == 0 {
			return nil
		}
		if err != nil || flags&flagCommand != 0 {
			p.t.Fatalf("after %d frames: flags %#x, %.40q, %v, want a message", len(frames), flags, body, err)
		}
		frames = append(frames, string(body))
		if flags&flagMore == 0 {
			return frames
		}
	}
}

func gone(err error) bool {
	ne, ok := err.(net.Error)
	return err != nil && !(ok && ne.Timeout())
}

// disconnected waits for the end of the connection and returns the number of bytes read
// before it.
func (p *peer) disconnected() (n int64) {
	p.t.Helper()
	n, err := io.Copy(io.Discard, p.r)
	if err != nil && !gone(err) {
		p.t.Fatalf("still connected: %v", err)
	}
	return n
}

// eventually waits until ok returns true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

func publish(t testing.TB, s *server, frames ...string) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var bs [][]byte
	for _, f := range frames {
		bs = append(bs, []byte(f))
	}
	if err := s.Publish(ctx, bs...); err != nil {
		t.Fatal(err)
	}
}

func TestSockets(t *testing.T) {
	t.Run("ROUTER", func(t *testing.T) {
		s := serve(t, zmq4.Router, Config{}).echo()
		c := client(t, s, zmq4.Dealer, "")
		big := strings.Repeat("x", 3<<20)
		c.SendMulti(zmq4.NewMsgFrom([]byte("a"), nil, []byte(big)))
		if got := receive(t, c); len(got) != 3 || got[0] != "a" || got[1] != "" || got[2] != big {
			t.Errorf("got %d frames, want the three that were sent", len(got))
		}
	})
	t.Run("REP", func(t *testing.T) {
		s := serve(t, zmq4.Rep, Config{}).echo()
		c := client(t, s, zmq4.Req, "")
		c.Send(zmq4.NewMsgString("ping"))
		if got := receive(t, c); len(got) != 1 || got[0] != "ping" {
			t.Errorf("got %q, want ping", got)
		}
	})
	t.Run("XPUB", func(t *testing.T) {
		s := serve(t, zmq4.XPub, Config{Welcome: func([]byte) [][][]byte { return [][][]byte{{[]byte("t: hello")}} }})
		c := client(t, s, zmq4.Sub, "t")
		receive(t, c)
		publish(t, s, "u", "not for us")
		publish(t, s, "t", "for us")
		if got := receive(t, c); len(got) != 2 || got[1] != "for us" {
			t.Errorf("got %q, want for us", got)
		}
	})
}

func TestListenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, network, address string
		typ                    zmq4.SocketType
		want                   string
	}{
		{"socket type", "tcp", "127.0.0.1:0", zmq4.Sub, "socket type SUB, want ROUTER"},
		{"network", "udp", "127.0.0.1:0", zmq4.Pub, "want tcp, tcp4 or unix"},
		{"address", "tcp", "127.0.0.1:notaport", zmq4.Pub, "notaport"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Listen(socket(t, tt.typ), tt.network, tt.address, Config{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
	s := socket(t, zmq4.Pub)
	s.Close()
	if _, err := Listen(s, "tcp", "127.0.0.1:0", Config{}); err == nil {
		t.Error("Listen on a closed socket: got no error")
	}
}

func TestUnixSocket(t *testing.T) {
	path := t.TempDir() + "/socket"
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Skip("needs unix sockets: ", err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close() // like the socket of a process that was killed
	s := &server{Socket: socket(t, zmq4.Router)}
	if s.Listener, err = Listen(s.Socket, "unix", path, Config{}); err != nil {
		t.Fatal(err)
	}
	s.echo().serves(t)
	if _, err := Listen(socket(t, zmq4.Router), "unix", path, Config{}); err == nil {
		t.Error("Listen on a unix socket that is in use: got no error")
	}
}

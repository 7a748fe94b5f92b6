package guard

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel/curve"
)

// encrypted connects a zmq4 socket with keys; a SUB subscribes to everything.
func encrypted(t testing.TB, address string, typ zmq4.SocketType, keys *curve.Keys) zmq4.Socket {
	t.Helper()
	c := socket(t, typ)
	if typ == zmq4.Sub {
		if err := c.SetOption(zmq4.OptionSubscribe, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := Dial(c, "tcp", address, keys); err != nil {
		t.Fatal(err)
	}
	return c
}

// recorder is a proxy that keeps all bytes of both directions.
type recorder struct {
	net.Listener
	mu  sync.Mutex
	got []byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, b...)
	return len(b), nil
}

func record(t *testing.T, target string) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &recorder{Listener: l}
	go func() {
		for {
			left, err := l.Accept()
			if err != nil {
				return
			}
			right, err := net.Dial("tcp", target)
			if err != nil {
				left.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{left, right}, {right, left}} {
				go func() {
					io.Copy(io.MultiWriter(way[0], r), way[1])
					way[0].Close()
				}()
			}
		}
	}()
	return r
}

// TestListenerInTheMiddle sends messages of many sizes through a proxy. It must see neither
// their text nor identities, topics, types of sockets and keys.
func TestListenerInTheMiddle(t *testing.T) {
	const secret = "attack at dawn"
	for _, keys := range []*curve.Keys{nil, curve.NewKeys()} {
		router, pub := serve(t, zmq4.Router, Config{Keys: keys}).echo(), serve(t, zmq4.Pub, Config{Keys: keys, Welcome: welcome})
		proxies := []*recorder{record(t, router.Addr().String()), record(t, pub.Addr().String())}
		connect := func(p *recorder, typ zmq4.SocketType) zmq4.Socket {
			if keys != nil {
				return encrypted(t, p.Addr().String(), typ, keys)
			}
			return client(t, &server{Listener: &Listener{inner: p}}, typ, "")
		}
		dealer, sub := connect(proxies[0], zmq4.Dealer), connect(proxies[1], zmq4.Sub)
		receive(t, sub) // the welcome
		for _, size := range []int{0, 1, 200, 222, 223, 255, 256, 70_000, 3 << 20} {
			body := secret + strings.Repeat("x", size)
			dealer.SendMulti(zmq4.NewMsgFrom([]byte(body), nil, []byte("end")))
			if got := receive(t, dealer); len(got) != 3 || got[0] != body || got[2] != "end" {
				t.Fatalf("%d bytes: got %d frames, want the three that were sent", size, len(got))
			}
			publish(t, pub, "topic", body)
			if got := receive(t, sub); len(got) != 2 || got[1] != body {
				t.Fatalf("%d bytes: the subscriber got %d frames, want both", size, len(got))
			}
		}
		texts := []string{secret, "topic", "Socket-Type", "DEALER", "welcome"}
		if keys != nil {
			public, private := keys.Z85()
			texts = append(texts, public, private)
		}
		for _, text := range texts {
			seen := false
			for _, p := range proxies {
				p.mu.Lock()
				seen = seen || bytes.Contains(p.got, []byte(text))
				p.mu.Unlock()
			}
			if seen == (keys != nil) {
				t.Errorf("with keys %v: the proxy saw %q: %v, want %v", keys != nil, text, seen, keys == nil)
			}
		}
	}
}

func TestWrongKeys(t *testing.T) {
	s := serve(t, zmq4.Router, Config{Keys: curve.NewKeys()}).echo()
	clear := serve(t, zmq4.Router, Config{}).echo()
	for _, tt := range []struct {
		name      string
		dial      func(zmq4.Socket) error
		err, line string
		listener  *server
	}{
		{"other keys", func(c zmq4.Socket) error { return Dial(c, "tcp", s.Addr().String(), curve.NewKeys()) },
			curve.ErrKey.Error(), "refused: the peer's keys are not those of this connection", s},
		{"no keys", func(c zmq4.Socket) error { return c.Dial("tcp://" + s.Addr().String()) },
			"", `refused: mechanism "NULL", want CURVE: only encrypted connections are accepted`, s},
		{"keys for a server without", func(c zmq4.Socket) error { return Dial(c, "tcp", clear.Addr().String(), curve.NewKeys()) },
			`mechanism "NULL", want CURVE`, `refused: mechanism "CURVE", want NULL`, clear},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.dial(socket(t, zmq4.Dealer))
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got error %v, want %q", err, tt.err)
			}
			eventually(t, "a log line with "+tt.line, func() bool { return strings.Contains(tt.listener.lines(), tt.line) })
		})
	}
	d := encrypted(t, s.Addr().String(), zmq4.Dealer, s.config.Keys)
	d.Send(zmq4.NewMsgString("still there?"))
	if got := receive(t, d); len(got) != 1 || got[0] != "still there?" {
		t.Errorf("a client with the keys got %q, want its message", got)
	}
}

// TestStrangersGetNoAnswer checks that the guard does not amplify, nor tell a stranger that its keys are wrong.
func TestStrangersGetNoAnswer(t *testing.T) {
	s := serve(t, zmq4.Router, Config{Keys: curve.NewKeys()})
	stranger, err := curve.NewClient(curve.NewKeys())
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, s)
	p.raw(greetingOf("CURVE", 0), commandFrame("HELLO", stranger.Hello()))
	if n := p.disconnected(); n != greetingSize {
		t.Errorf("got %d bytes, want %d: the greeting only", n, greetingSize)
	}
}

// TestLimitsInsideEncryption checks that a frame is counted by its decrypted bytes, and refused above the limit.
func TestLimitsInsideEncryption(t *testing.T) {
	s := serve(t, zmq4.Router, Config{Keys: curve.NewKeys(), MaxMessage: 1000}).echo()
	d := encrypted(t, s.Addr().String(), zmq4.Dealer, s.config.Keys)
	fits := strings.Repeat("x", 1000-frameCost)
	d.Send(zmq4.NewMsgString(fits))
	if got := receive(t, d); len(got) != 1 || got[0] != fits {
		t.Errorf("got %d frames, want a message of the limit's size", len(got))
	}
	d.Send(zmq4.NewMsgString(fits + "x"))
	eventually(t, "a log line", func() bool { return strings.Contains(s.lines(), "the limit is") })
}

// TestSealer cuts a stream of frames into pieces: the peer must get the same frames.
func TestSealer(t *testing.T) {
	messages := [][][]byte{{nil}, {[]byte("a"), nil, make([]byte, 255)}, {make([]byte, 256), make([]byte, 70_000), []byte("end")}}
	var stream []byte
	for _, m := range messages {
		stream = appendMessage(stream, m)
	}
	stream = append(stream, commandFrame("PING", []byte("\x00\x00context"))...)
	keys := curve.NewKeys()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(1, seed))
		server, client := sessions(t, keys)
		s := &sealer{session: server}
		var sealed []byte
		for at := 0; at < len(stream); {
			n := min(1+rnd.IntN(400), len(stream)-at)
			sealed = append(sealed, s.next(stream[at:at+n])...)
			at += n
		}
		var got []byte
		for r := bufio.NewReader(bytes.NewReader(sealed)); ; {
			flags, body, err := readSealed(r, client, 1<<20, nil)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = appendFrame(got, flags, body)
		}
		if !bytes.Equal(got, stream) {
			t.Fatalf("seed %d: got %d bytes of frames, want the %d that were sealed", seed, len(got), len(stream))
		}
	}
}

// sessions performs a handshake.
func sessions(t testing.TB, keys *curve.Keys) (server, client *curve.Session) {
	t.Helper()
	c, err := curve.NewClient(keys)
	if err != nil {
		t.Fatal(err)
	}
	s := curve.NewServer(keys)
	welcome, err := s.Welcome(c.Hello())
	if err != nil {
		t.Fatal(err)
	}
	initiate, err := c.Initiate(welcome, nil)
	if err == nil {
		_, err = s.Accept(initiate)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Finish(s.Ready(nil)); err != nil {
		t.Fatal(err)
	}
	return s.Session(), c.Session()
}

// FuzzEncrypted sends any bytes in place of each step of the handshake: none may pass.
func FuzzEncrypted(f *testing.F) {
	keys := curve.NewKeys()
	f.Add([]byte{}, true)
	f.Add(commandFrame("HELLO", make([]byte, 194)), false)
	f.Add(commandFrame("INITIATE", make([]byte, 300)), true)
	f.Add(appendFrame(nil, 0, []byte("\x07MESSAGE")), true)
	f.Add(readyFrame("DEALER", ""), true)
	router := socket(f, zmq4.Router)
	f.Fuzz(func(t *testing.T, data []byte, greeted bool) {
		first := greetingOf("CURVE", 0)
		if greeted {
			c, err := curve.NewClient(keys)
			if err != nil {
				t.Fatal(err)
			}
			first = append(first, commandFrame("HELLO", c.Hello())...)
		}
		if got, through := fuzzed(router, Config{Keys: keys}, first, data); through {
			t.Errorf("a peer that does not know the keys went through; zmq4 reads %q", got)
		}
	})
}

// BenchmarkEcho measures a message to a ROUTER and back, in clear text and encrypted.
func BenchmarkEcho(b *testing.B) {
	for _, tt := range []struct {
		name string
		keys *curve.Keys
	}{{"clear", nil}, {"encrypted", curve.NewKeys()}} {
		for _, size := range []int{100, 1 << 20} {
			b.Run(tt.name+"/"+map[bool]string{true: "small", false: "1MB"}[size < 1000], func(b *testing.B) {
				s := serve(b, zmq4.Router, Config{Keys: tt.keys}).echo()
				var c zmq4.Socket
				if tt.keys == nil {
					c = client(b, s, zmq4.Dealer, "")
				} else {
					c = encrypted(b, s.Addr().String(), zmq4.Dealer, tt.keys)
				}
				body := make([]byte, size)
				b.SetBytes(int64(2 * size))
				for b.Loop() {
					c.Send(zmq4.NewMsg(body))
					if _, err := c.Recv(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

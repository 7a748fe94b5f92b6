package jupyter

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/guard"
)

// sockets are the five sockets of a kernel.
type sockets struct {
	shell, control, stdin, heartbeat, publisher *socket

	life  context.Context // ends when the sockets close
	die   context.CancelFunc
	loops sync.WaitGroup // the goroutines that receive
}

// socket is a zmq4 socket behind the guard.
type socket struct {
	zmq4.Socket
	guard *guard.Listener
	name  string
}

// bind opens the sockets.
func (s *server) bind() error {
	strangers := guard.NewStrangers()
	router := func(o ...zmq4.Option) zmq4.Socket { return zmq4.NewRouter(s.life, o...) }
	pub := func(o ...zmq4.Option) zmq4.Socket { return zmq4.NewPub(s.life, o...) }
	keys, err := s.conn.CurveKeys()
	if err != nil {
		return fmt.Errorf("kernel: connection: %w", err)
	}
	for _, b := range []struct {
		name    string
		open    func(...zmq4.Option) zmq4.Socket
		port    *int
		to      **socket
		welcome func(topic []byte) [][][]byte
		cut     func()
		proves  func(frames [][]byte) bool // heartbeats are not signed
	}{
		{"control", router, &s.conn.ControlPort, &s.control, nil, nil, s.proves},
		{"heartbeat", router, &s.conn.HeartbeatPort, &s.heartbeat, nil, nil, nil},
		{"iopub", pub, &s.conn.IOPubPort, &s.publisher, s.welcome, s.hooks.Cut, nil},
		{"shell", router, &s.conn.ShellPort, &s.shell, nil, nil, s.proves},
		{"stdin", router, &s.conn.StdinPort, &s.stdin, nil, nil, s.proves},
	} {
		network, address := s.conn.Address(*b.port)
		z := b.open(zmq4.WithLogger(log.New(s.log, "", 0)))
		*b.to = &socket{Socket: z, name: b.name}
		l, err := guard.Listen(z, network, address, guard.Config{
			Keys:      keys,
			Log:       func(format string, args ...any) { s.log.Printf(b.name+": "+format, args...) },
			Welcome:   b.welcome,
			Proves:    b.proves,
			Strangers: strangers,
			// On stdin a front end sends only replies, so a new peer could never prove itself:
			// the newest peer gets the input request at once. A new peer without the key can
			// withhold the request from others, but cannot answer it.
			Holds: b.name != "stdin",
			Cut:   b.cut,
		})
		if err != nil {
			return fmt.Errorf("kernel: %s: listen on %s: %w", b.name, address, err)
		}
		(*b.to).guard = l
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			*b.port = a.Port
		}
	}
	return nil
}

// welcome returns the frames of the first messages of a subscriber to a topic.
func (s *server) welcome(topic []byte) (list [][][]byte) {
	for _, m := range s.hooks.Welcome(string(topic)) {
		m.Prefix = [][]byte{topic}
		list = append(list, s.codec.Encode(m))
	}
	return list
}

// receive hands the messages of every socket to the kernel until the sockets close.
func (s *server) receive() {
	s.loops.Go(s.echo)
	for c, from := range map[kernel.Channel]*socket{kernel.Shell: s.shell, kernel.Control: s.control, kernel.Stdin: s.stdin} {
		s.loops.Go(func() {
			for {
				msg, err := from.Recv()
				if s.life.Err() != nil {
					return
				}
				if err != nil {
					s.log.Printf("%s: %v", from.name, err)
					time.Sleep(time.Millisecond) // a persistent error must not use up the processor
					continue
				}
				m, err := s.codec.Decode(msg.Frames)
				if err != nil {
					s.log.Printf("%s: dropped a message: %v", from.name, err)
					continue
				}
				s.hooks.Receive(c, m)
			}
		})
	}
}

// Send sends a message to the peer whose identities m.Prefix holds.
func (s *server) Send(c kernel.Channel, m kernel.Message) error {
	to := s.shell
	switch c {
	case kernel.Control:
		to = s.control
	case kernel.Stdin:
		to = s.stdin
	}
	return to.SendMulti(zmq4.NewMsgFrom(s.codec.Encode(m)...))
}

// Publish sends a message to the subscribers of its type.
func (s *server) Publish(ctx context.Context, m kernel.Message) error {
	m.Prefix = [][]byte{[]byte(m.Header.Type)}
	return s.publisher.guard.Publish(ctx, s.codec.Encode(m)...)
}

// Close sends what is queued and closes the sockets.
func (s *server) Close(ctx context.Context, again bool) {
	open := []*socket{s.publisher, s.shell, s.control, s.stdin, s.heartbeat}
	for _, z := range open[:4] {
		if ctx.Err() != nil || z == nil || z.guard == nil {
			continue
		}
		if err := z.guard.Flush(ctx); err != nil {
			s.log.Printf("%s: the last messages were not sent: %v", z.name, err)
		}
	}
	s.die()
	if s.codec != nil {
		if err := s.codec.forget(again); err != nil {
			s.log.Printf("%v", err)
		}
	}
	for _, z := range open {
		if z != nil {
			if z.guard != nil {
				z.guard.Close()
			}
			z.Close()
		}
	}
	s.loops.Wait()
}

// Ports returns the ports by the names that connect_reply has for them.
func (s *server) Ports() map[string]int {
	ports := map[string]int{}
	for _, p := range s.conn.ports() {
		ports[p.field] = *p.port
	}
	return ports
}

package kernel

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel/guard"
)

// Config holds the settings of a kernel. Either ConnectionFile or Connection is
// required.
type Config struct {
	// ConnectionFile is the path of the file that Jupyter wrote.
	ConnectionFile string
	// Connection is used when ConnectionFile is empty. A port of 0 is chosen by the
	// system.
	Connection Connection
	// Log gets a line for each dropped message and each disconnected peer, at a bounded
	// rate; nil discards them.
	Log io.Writer
	// Process declares that the process exists for this kernel: SIGINT interrupts the
	// running cell; SIGTERM ends the kernel, and so does the end of the parent process
	// if JPY_PARENT_PID is set. Serve then raises GOMAXPROCS by two, unless the
	// environment sets it, so that the kernel answers requests while cells use all
	// processors.
	Process bool
	// History is the path of the database that keeps the cells of all sessions; ""
	// keeps those of this kernel in memory. See [HistoryFile]. The outputs of cells are kept in
	// the same database, and not at all without one.
	History string
	// Notebook names the notebook of this kernel, for finding the outputs of its earlier kernels.
	Notebook string
	// Ended is how the process of the kernel ended that this one replaces, if what started both knows: its exit status, or the number of the signal that
	// ended it, with a minus. The first cell shows it if that kernel died.
	Ended string
	// HelpLinks are shown in the Help menu of front ends.
	HelpLinks []HelpLink
	// Ready is called once, when all sockets are bound; it may be nil.
	Ready func(Connection)
}

// HelpLink is one entry of kernel_info_reply's help_links.
type HelpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

const (
	grace   = time.Second     // time for a cell to end when the kernel shuts down
	flush   = 2 * time.Second // time for the last messages to be sent
	closing = 2 * time.Second // time for the evaluator to close

	arrival = 100 * time.Millisecond // time for an interrupt to reach the cell, before the processes end that it waits for
)

// Serve runs a kernel until a shutdown request, until ctx ends or, with c.Process, until
// a signal ends the process; then it returns nil. It closes e, even if it fails to start
// because of the connection file or a port in use.
func Serve(ctx context.Context, c Config, e Evaluator) error {
	defer within(closing, func() { e.Close() })
	k, err := newKernel(c, e)
	if err != nil {
		return err
	}
	if err := k.bind(); err != nil {
		k.again.Store(true)
		k.unbind()
		return err
	}
	if c.Process {
		if err := k.last.listen(c.History, k.conn.Key, c.Notebook, c.Ended); err != nil {
			k.log.Printf("the next kernel will not know why this one ends: %v", err)
		}
		defer k.last.forget()
		defer k.watchProcess()()
		defer paceProcess()()
	}
	if c.Ready != nil {
		c.Ready(k.conn)
	}
	k.run(ctx)
	return nil
}

// kernel is one running kernel.
type kernel struct {
	Config
	conn    Connection
	codec   *Codec
	session *Session
	eval    Evaluator
	log     *logger

	shell, control, stdin, heartbeat, publisher *socket
	iopub                                       *iopub
	lost                                        lostOutput
	last                                        postMortem
	subshells                                   subshells
	comms                                       *comms
	history                                     *history
	kept                                        *kept // nil without a database
	clients                                     clients
	debugging                                   debugging
	usages                                      usages
	inputs                                      inputs

	signalled atomic.Int64  // time at which this kernel sent SIGINT to its own process group, in Unix nanoseconds; 0 when it has arrived
	again     atomic.Bool   // whether a kernel with the same key follows this one
	cellSem   chan struct{} // holds one token while a cell runs
	count     atomic.Int64  // execution count; changed only by the holder of cellSem

	life    context.Context // ends when the last message has been sent
	die     context.CancelFunc
	cellCtx context.Context // ends when the kernel shuts down, which ends a running cell
	stop    context.CancelFunc

	mu      sync.Mutex
	running map[*context.CancelFunc]bool // running cells and callbacks
}

func newKernel(c Config, e Evaluator) (*kernel, error) {
	conn := c.Connection
	if c.ConnectionFile != "" {
		var err error
		if conn, err = ReadConnection(c.ConnectionFile); err != nil {
			return nil, err
		}
	} else if err := conn.check(); err != nil {
		return nil, fmt.Errorf("kernel: connection: %w", err)
	}
	k := &kernel{
		Config: c, conn: conn, eval: e,
		codec: NewCodec(conn.Key), session: NewSession("kernel"), log: newLogger(c.Log),
		cellSem: make(chan struct{}, 1), running: map[*context.CancelFunc]bool{},
	}
	k.subshells = subshells{main: newQueue(), comms: newQueue(), created: map[string]*queue{}}
	k.comms = newComms(k)
	k.lost.k = k
	k.history = newHistory(c.History, k.log)
	if c.History != "" {
		k.kept = &kept{history: k.history, notebook: c.Notebook}
	}
	k.comms.Register(restoreTarget, k.restorer)
	k.life, k.die = context.WithCancel(context.Background())
	k.cellCtx, k.stop = context.WithCancel(k.life)
	if c.ConnectionFile != "" {
		if err := k.codec.keep(seenPath(c.History, conn.Key)); err != nil {
			k.log.Printf("messages recorded before this start are not recognised: %v", err)
		}
		if who := openTo(c.ConnectionFile); who != "" {
			k.log.Printf("connection file %s: %s", c.ConnectionFile, who)
		}
	}
	if !conn.local() && conn.CurvePublicKey == "" {
		k.log.Printf("listening on %s: messages are signed, but not encrypted", conn.IP)
	}
	if conn.Key == "" {
		k.log.Printf("the connection has no key: any process that reaches the ports can run code")
	}
	return k, nil
}

// socket is a zmq4 socket behind the guard.
type socket struct {
	zmq4.Socket
	guard *guard.Listener
	name  string
}

// bind opens the five sockets.
func (k *kernel) bind() error {
	strangers := guard.NewStrangers()
	router := func(o ...zmq4.Option) zmq4.Socket { return zmq4.NewRouter(k.life, o...) }
	pub := func(o ...zmq4.Option) zmq4.Socket { return zmq4.NewPub(k.life, o...) }
	keys, err := k.conn.CurveKeys()
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
		{"control", router, &k.conn.ControlPort, &k.control, nil, nil, k.proves},
		{"heartbeat", router, &k.conn.HeartbeatPort, &k.heartbeat, nil, nil, nil},
		{"iopub", pub, &k.conn.IOPubPort, &k.publisher, k.welcome, k.lost.note, nil},
		{"shell", router, &k.conn.ShellPort, &k.shell, nil, nil, k.proves},
		{"stdin", router, &k.conn.StdinPort, &k.stdin, nil, nil, k.proves},
	} {
		network, address := k.conn.Address(*b.port)
		s := b.open(zmq4.WithLogger(log.New(k.log, "", 0)))
		*b.to = &socket{Socket: s, name: b.name}
		l, err := guard.Listen(s, network, address, guard.Config{
			Keys:      keys,
			Log:       func(format string, args ...any) { k.log.Printf(b.name+": "+format, args...) },
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
	k.iopub = newIOPub(k, k.publisher.guard)
	return nil
}

func (k *kernel) unbind() {
	k.stop()
	k.die()
	if err := k.codec.forget(k.again.Load()); err != nil {
		k.log.Printf("%v", err)
	}
	for _, s := range []*socket{k.shell, k.control, k.stdin, k.heartbeat, k.publisher} {
		if s != nil {
			if s.guard != nil {
				s.guard.Close()
			}
			s.Close()
		}
	}
}

// run serves until the kernel must end, and then shuts down: it interrupts the
// running cell, sends the remaining messages and closes the sockets.
func (k *kernel) run(ctx context.Context) {
	var loops sync.WaitGroup
	for _, loop := range []func(){k.iopub.loop, k.heartbeatLoop, k.controlLoop, k.stdinLoop, k.shellLoop} {
		loops.Go(loop)
	}
	if u, ok := k.eval.(CommUser); ok {
		u.UseComms(k.comms)
	}
	if u, ok := k.eval.(OutputUser); ok && k.kept != nil {
		u.UseOutputs(keptOutputs{k})
	}
	for _, q := range []*queue{k.subshells.main, k.subshells.comms} {
		k.subshells.workers.Go(func() { k.work(q) })
	}
	k.iopub.later(Header{}, "status", status{"starting"})

	select {
	case <-ctx.Done():
		k.stop()
	case <-k.cellCtx.Done():
	}
	k.last.forget()
	k.subshells.close()
	if !within(grace, k.subshells.workers.Wait) {
		k.log.Printf("a cell did not end within %v of its interrupt", grace)
	}
	out, cancel := context.WithTimeout(k.life, flush)
	defer cancel()
	k.iopub.wait(out)
	for _, s := range []*socket{k.publisher, k.shell, k.control, k.stdin} {
		if err := s.guard.Flush(out); err != nil {
			k.log.Printf("%s: the last messages were not sent: %v", s.name, err)
		}
	}
	k.kept.flush()
	within(closing, k.history.close)
	k.unbind()
	loops.Wait()
}

// interruptible returns the context for a new cell or callback; done must be called at
// its end.
func (k *kernel) interruptible() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(k.cellCtx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running[&cancel] = true
	return ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.running, &cancel)
		cancel()
	}
}

// interrupt ends the running cell and callbacks of comms, if any.
func (k *kernel) interrupt() {
	k.mu.Lock()
	for cancel := range k.running {
		(*cancel)()
	}
	k.mu.Unlock()
	if e, ok := k.eval.(Interrupter); ok {
		e.Interrupt()
	}
}

// receive hands every well-formed message of a socket to f, until the socket closes. f
// must not wait for a cell.
func (k *kernel) receive(s *socket, f func(*request)) {
	for {
		m, err := s.Recv()
		if k.life.Err() != nil {
			return
		}
		if err != nil {
			k.log.Printf("%s: %v", s.name, err)
			time.Sleep(time.Millisecond) // a persistent error must not use up the processor
			continue
		}
		msg, err := k.codec.Decode(m.Frames)
		if err != nil {
			k.log.Printf("%s: dropped a message: %v", s.name, err)
			continue
		}
		f(&request{Message: msg, socket: s})
	}
}

// send sends a message on a ROUTER socket to the peer whose identities prefix holds. A
// peer that has left is not an error.
func (k *kernel) send(s *socket, prefix [][]byte, h, parent Header, metadata, content any) {
	meta, err := encode(metadata)
	if err != nil {
		meta = nil
	}
	frames := k.codec.Encode(Message{Prefix: prefix, Header: h, Parent: parent, Metadata: meta, Content: mustEncode(content)})
	if err := s.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil && k.life.Err() == nil {
		k.log.Printf("%s: %s: %v", s.name, h.Type, err)
	}
}

// within calls f and reports whether it returned in time.
func within(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

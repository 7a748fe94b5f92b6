package jupyter

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"halfnote/kernel"
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
	HelpLinks []kernel.HelpLink
	// Ready is called once, when all sockets are bound; it may be nil.
	Ready func(Connection)
}

// Serve runs a kernel until a shutdown request, until ctx ends or, with c.Process, until
// a signal ends the process; then it returns nil. It closes e, even if it fails to start
// because of the connection file or a port in use.
func Serve(ctx context.Context, c Config, e kernel.Evaluator) error {
	s := &server{Config: c, log: kernel.NewLog(c.Log)}
	s.life, s.die = context.WithCancel(context.Background())
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	config := kernel.Config{Log: s.log, Witness: &s.last, HelpLinks: c.HelpLinks}
	if c.History != "" {
		config.History = newHistory(c.History, c.Notebook, &s.last, s.log)
	}
	if c.Process {
		config.Interrupted = s.interruptChildren
	}
	err := kernel.Serve(ctx, config, s, e)
	for _, undo := range s.undo {
		undo()
	}
	return err
}

// server is the transport of one kernel: five sockets, and the process around them.
type server struct {
	Config
	log  *kernel.Log
	stop context.CancelFunc // ends the kernel
	undo []func()           // called when it has ended

	sockets
	conn      Connection
	codec     *Codec
	hooks     kernel.Hooks
	last      postMortem
	signalled atomic.Int64 // time at which this kernel sent SIGINT to its own process group, in Unix nanoseconds; 0 when it has arrived
}

// Open reads the connection, opens the sockets and ties the kernel to its process.
func (s *server) Open(h kernel.Hooks) error {
	s.hooks = h
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.bind(); err != nil {
		return err
	}
	if s.Process {
		if err := s.last.listen(s.History, s.conn.Key, s.Notebook, s.Ended); err != nil {
			s.log.Printf("the next kernel will not know why this one ends: %v", err)
		}
		s.undo = append(s.undo, paceProcess(), s.watchProcess(), s.last.Stops)
	}
	if s.Ready != nil {
		s.Ready(s.conn)
	}
	s.receive()
	return nil
}

// connect reads the connection, and warns of what is unsafe in it.
func (s *server) connect() error {
	s.conn = s.Connection
	if s.ConnectionFile != "" {
		var err error
		if s.conn, err = ReadConnection(s.ConnectionFile); err != nil {
			return err
		}
	} else if err := s.conn.check(); err != nil {
		return fmt.Errorf("kernel: connection: %w", err)
	}
	s.codec = NewCodec(s.conn.Key)
	if s.ConnectionFile != "" {
		if err := s.codec.keep(seenPath(s.History, s.conn.Key)); err != nil {
			s.log.Printf("messages recorded before this start are not recognised: %v", err)
		}
		if who := openTo(s.ConnectionFile); who != "" {
			s.log.Printf("connection file %s: %s", s.ConnectionFile, who)
		}
	}
	if !s.conn.local() && s.conn.CurvePublicKey == "" {
		s.log.Printf("listening on %s: messages are signed, but not encrypted", s.conn.IP)
	}
	if s.conn.Key == "" {
		s.log.Printf("the connection has no key: any process that reaches the ports can run code")
	}
	return nil
}

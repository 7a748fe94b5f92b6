package kernel

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Config holds the settings of a kernel. The zero value is valid.
type Config struct {
	// Log gets a line for each message that was dropped; nil discards them.
	Log *Log
	// History keeps the cells; nil keeps them and their outputs in memory. Outputs are kept if it is also a [KeptOutputs].
	History History
	// Witness is told what the kernel does; nil for none.
	Witness Witness
	// Interrupted is called after each interrupt_request; nil does nothing.
	Interrupted func()
	// HelpLinks are shown in the Help menu of front ends.
	HelpLinks []HelpLink
}

// HelpLink is one entry of kernel_info_reply's help_links.
type HelpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Witness is told what a kernel does, so that the next one can say why it died.
type Witness interface {
	// Begins notes that a cell begins, and returns what it shows first, or "". A silent cell shows nothing.
	Begins(cell int, silent bool) (note string)
	// Ends notes that no cell runs.
	Ends()
	// Stops notes that the kernel ends in order.
	Stops()
}

const (
	grace   = time.Second     // time for a cell to end when the kernel shuts down
	flush   = 2 * time.Second // time for the last messages to be sent
	closing = 2 * time.Second // time for the evaluator to close
)

// Serve runs a kernel until a shutdown request or until ctx ends; then it returns nil. It closes e, even if t cannot be opened, which is
// the only error.
func Serve(ctx context.Context, c Config, t Transport, e Evaluator) error {
	defer within(closing, func() { e.Close() })
	k := newKernel(c, t, e)
	if u, ok := e.(CommUser); ok {
		u.UseComms(k.comms)
	}
	if u, ok := e.(OutputUser); ok && k.kept != nil {
		u.UseOutputs(k.kept)
	}
	if err := t.Open(k.hooks()); err != nil {
		k.again.Store(true)
		k.die() // there are no messages to send
		k.close()
		return err
	}
	k.run(ctx)
	return nil
}

// kernel is one running kernel.
type kernel struct {
	Config
	transport Transport
	session   *Session
	eval      Evaluator
	log       *Log

	iopub     *iopub
	lost      lostOutput
	subshells subshells
	comms     *comms
	history   History
	kept      *kept // nil if outputs are not kept
	clients   clients
	debugging debugging
	usages    usages
	inputs    inputs

	again   atomic.Bool   // whether a kernel for the same front ends follows this one
	cellSem chan struct{} // holds one token while a cell runs
	count   atomic.Int64  // execution count; changed only by the holder of cellSem

	life    context.Context // ends when the last message has been sent
	die     context.CancelFunc
	cellCtx context.Context // ends when the kernel shuts down, which ends a running cell
	stop    context.CancelFunc

	mu      sync.Mutex
	running map[*context.CancelFunc]bool // running cells and callbacks
}

func newKernel(c Config, t Transport, e Evaluator) *kernel {
	k := &kernel{
		Config: c, transport: t, eval: e, session: NewSession("kernel"), log: c.Log, history: c.History,
		cellSem: make(chan struct{}, 1), running: map[*context.CancelFunc]bool{},
	}
	if k.log == nil {
		k.log = NewLog(nil)
	}
	if k.history == nil {
		k.history = &Keeper{}
	}
	if outputs, ok := k.history.(KeptOutputs); ok {
		k.kept = &kept{history: k.history, stored: outputs}
	}
	if k.Witness == nil {
		k.Witness = unseen{}
	}
	k.subshells = subshells{main: newQueue(), comms: newQueue(), created: map[string]*queue{}}
	k.iopub = newIOPub(k)
	k.comms = newComms(k)
	k.lost.k = k
	k.comms.Register(restoreTarget, k.restorer)
	k.life, k.die = context.WithCancel(context.Background())
	k.cellCtx, k.stop = context.WithCancel(k.life)
	return k
}

// unseen is the Witness of a kernel without one.
type unseen struct{}

func (unseen) Begins(int, bool) string { return "" }
func (unseen) Ends()                   {}
func (unseen) Stops()                  {}

// run serves until the kernel must end, and then shuts down: it interrupts the
// running cell and sends the remaining messages.
func (k *kernel) run(ctx context.Context) {
	go k.iopub.loop()
	for _, q := range []*queue{k.subshells.main, k.subshells.comms} {
		k.subshells.workers.Go(func() { k.work(q) })
	}
	k.iopub.later(Header{}, "status", status{"starting"})

	select {
	case <-ctx.Done():
		k.stop()
	case <-k.cellCtx.Done():
	}
	k.Witness.Stops()
	k.subshells.close()
	if !within(grace, k.subshells.workers.Wait) {
		k.log.Printf("a cell did not end within %v of its interrupt", grace)
	}
	k.close()
}

// close sends the last messages and closes what the kernel uses.
func (k *kernel) close() {
	out, cancel := context.WithTimeout(k.life, flush)
	defer cancel()
	k.iopub.wait(out)
	k.transport.Close(out, k.again.Load())
	k.kept.flush()
	within(closing, k.history.Close)
	k.stop()
	k.die()
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

// send sends a message to the front end whose identities prefix holds.
func (k *kernel) send(c Channel, prefix [][]byte, h, parent Header, metadata, content any) {
	meta, err := encode(metadata)
	if err != nil {
		meta = nil
	}
	m := Message{Prefix: prefix, Header: h, Parent: parent, Metadata: meta, Content: mustEncode(content)}
	if err := k.transport.Send(c, m); err != nil && k.life.Err() == nil {
		k.log.Printf("%s: %s: %v", c, h.Type, err)
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

package interp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"halfnote/display/widget"
	"halfnote/interp/internal/live"
	"halfnote/kernel/eval"
)

// UseComms implements eval.CommUser.
func (s *Session) UseComms(c eval.Comms) { s.comms.use(c) }

// transport connects the widgets of cells to front ends through the kernel, and runs
// incoming messages as code of cells.
type transport struct {
	live    *live.Registry
	widgets *widget.Manager // widgets known to front ends

	mu      sync.Mutex
	kernel  eval.Comms // nil until UseComms
	targets map[string]eval.CommOpened
}

func (t *transport) use(c eval.Comms) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kernel = c
	for target, opened := range t.targets {
		c.Register(target, opened)
	}
}

// Open implements widget.Transport.
func (t *transport) Open(target string, m widget.Message, h widget.Handler) (widget.Conn, error) {
	t.mu.Lock()
	k := t.kernel
	t.mu.Unlock()
	if k == nil {
		return nil, errors.New("interp: cannot open a comm: there is no front end")
	}
	t.live.Expect(-1) // from now on, a click may wake any goroutine
	c, err := k.Open(target, eval.CommMessage(m), t.live.Current().Kernel(), t.handler(h))
	if err != nil {
		return nil, err
	}
	return conn{c, t.live}, nil
}

// Register implements widget.Transport.
func (t *transport) Register(target string, opened func(widget.Conn, widget.Message) widget.Handler) {
	var take eval.CommOpened
	if opened != nil {
		take = func(ctx context.Context, c eval.Comm, m eval.CommMessage, out eval.Output) (h eval.CommHandler) {
			t.run(ctx, out, func() { h = t.handler(opened(conn{c, t.live}, widget.Message(m))) })
			return h
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.targets[target] = take; take == nil {
		delete(t.targets, target)
	}
	if t.kernel != nil {
		t.live.Expect(-1)
		t.kernel.Register(target, take)
	}
}

// Redirect implements widget.Transport.
func (t *transport) Redirect(o *widget.Output, f func()) { t.live.Redirect(o, f) }

func (t *transport) handler(h widget.Handler) eval.CommHandler {
	call := func(f func(widget.Message)) func(context.Context, eval.CommMessage, eval.Output) {
		if f == nil {
			return nil
		}
		return func(ctx context.Context, m eval.CommMessage, out eval.Output) {
			t.run(ctx, out, func() { f(widget.Message(m)) })
		}
	}
	return eval.CommHandler{Message: call(h.Message), Closed: call(h.Closed)}
}

// run runs a callback.
func (t *transport) run(ctx context.Context, out eval.Output, f func()) {
	if t.live.Beside(ctx, out, f) {
		fmt.Fprintln(out.Stderr(), "a widget callback was interrupted")
	}
}

// conn is a comm of the kernel. The parent of its messages is the cell that the calling
// goroutine belongs to.
type conn struct {
	eval.Comm
	live *live.Registry
}

func (c conn) Send(m widget.Message) error {
	return c.Comm.Send(eval.CommMessage(m), c.live.Current().Kernel())
}

func (c conn) Close(m widget.Message) error {
	return c.Comm.Close(eval.CommMessage(m), c.live.Current().Kernel())
}

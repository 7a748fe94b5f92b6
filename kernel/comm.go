package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
)

// maxComms is the limit of open comms: a front end that keeps opening comms must not
// use up memory.
const maxComms = 1 << 14

// comms is the kernel's Comms.
type comms struct {
	k *kernel

	mu      sync.Mutex
	targets map[string]CommOpened
	open    map[string]*comm // by comm_id
	latest  *output          // output of the newest cell
}

func newComms(k *kernel) *comms {
	return &comms{k: k, targets: map[string]CommOpened{}, open: map[string]*comm{}}
}

func (s *comms) Register(target string, opened CommOpened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if opened == nil {
		delete(s.targets, target)
		return
	}
	s.targets[target] = opened
}

func (s *comms) Open(target string, m CommMessage, out Output, h CommHandler) (Comm, error) {
	c := &comm{s: s, id: NewID(), target: target, handler: h}
	if err := s.add(c); err != nil {
		return nil, fmt.Errorf("kernel: open a comm with %q: %w", target, err)
	}
	if err := c.say("comm_open", m, out); err != nil {
		s.remove(c)
		return nil, err
	}
	return c, nil
}

func (s *comms) add(c *comm) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open[c.id] != nil:
		return fmt.Errorf("comm_id: %q is already open", c.id)
	case len(s.open) >= maxComms:
		return fmt.Errorf("%d comms are open, the limit is %d", len(s.open), maxComms)
	}
	s.open[c.id] = c
	c.owner = s.latest
	return nil
}

// remove reports whether c was open.
func (s *comms) remove(c *comm) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[c.id] != c {
		return false
	}
	delete(s.open, c.id)
	return true
}

func (s *comms) find(id string) *comm {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// cellStarts records the newest cell, which owns the comms that no cell opened.
func (s *comms) cellStarts(o *output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = o
}

// comm is one open comm.
type comm struct {
	s          *comms
	id, target string
	owner      *output // output of the owning cell, under s.mu; nil before the first cell

	handling sync.Mutex // held by a callback
	handler  CommHandler
}

func (c *comm) ID() string     { return c.id }
func (c *comm) Target() string { return c.target }

var errCommClosed = errors.New("kernel: comm: closed")

func (c *comm) Send(m CommMessage, out Output) error {
	if c.s.find(c.id) != c {
		return errCommClosed
	}
	return c.say("comm_msg", m, out)
}

func (c *comm) Close(m CommMessage, out Output) error {
	if !c.s.remove(c) {
		return nil
	}
	return c.say("comm_close", m, out)
}

// say publishes a message of the comm; its parent is the message that caused it.
func (c *comm) say(msgType string, m CommMessage, out Output) error {
	data := m.Data
	if data == nil {
		data = emptyObject
	}
	if !json.Valid(data) || m.Metadata != nil && !json.Valid(m.Metadata) {
		return fmt.Errorf("kernel: %s: data or metadata is not JSON", msgType)
	}
	content := object{"comm_id": c.id, "data": data}
	if msgType == "comm_open" {
		content["target_name"] = c.target
	}
	message := Message{Metadata: m.Metadata, Content: mustEncode(content), Buffers: m.Buffers}
	for {
		w, ok := out.(interface{ Unwrap() Output })
		if !ok {
			break
		}
		out = w.Unwrap()
	}
	switch o := out.(type) {
	case *output:
		c.s.mu.Lock()
		c.owner = o
		c.s.mu.Unlock()
		message.Parent = o.r.Header
		return o.sayMessage(msgType, message)
	case *commOutput:
		message.Parent = o.parent
		return c.s.k.iopub.publishMessage(o.ctx, msgType, message)
	}
	return c.s.k.iopub.publishMessage(c.s.k.life, msgType, message)
}

// commOutput is the Output of a callback: a cell's Output except for comm messages.
type commOutput struct {
	*output
	parent Header
	ctx    context.Context
}

// commContent is the content of comm_open, comm_msg and comm_close.
type commContent struct {
	ID     *string         `json:"comm_id"`
	Target string          `json:"target_name"`
	Data   json.RawMessage `json:"data"`
}

// objectOf returns the value of a field, unchanged, or an empty object if it is null or missing.
func objectOf(field string, value json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if len(value) > 0 {
		if err := json.Unmarshal(value, &fields); err != nil {
			if e, ok := err.(*json.UnmarshalTypeError); ok {
				err = fmt.Errorf("%s is a JSON %s, want object", field, e.Value)
			}
			return emptyObject, err
		}
	}
	if fields == nil {
		return emptyObject, nil
	}
	return value, nil
}

func (r *request) comm() (c commContent, m CommMessage, err error) {
	if err := r.decode(&c); err != nil {
		return c, m, err
	}
	if c.ID == nil {
		return c, m, errors.New("content has no comm_id, want a string")
	}
	m.Buffers = r.Buffers
	if m.Data, err = objectOf("data", c.Data); err != nil {
		return c, m, err
	}
	m.Metadata, _ = objectOf("metadata", r.Metadata) // metadata that is not an object counts as none
	return c, m, nil
}

// callback calls f, which handles a message of c. A panic of f is printed as output.
func (k *kernel) callback(c *comm, r *request, f func(ctx context.Context, out Output)) {
	c.handling.Lock()
	defer c.handling.Unlock()
	ctx, done := k.interruptible()
	defer done()
	k.comms.mu.Lock()
	owner := c.owner
	k.comms.mu.Unlock()
	if owner == nil {
		owner = newOutput(k, r, k.life)
	}
	out := &commOutput{output: owner, parent: r.Header, ctx: ctx}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(out.Stderr(), "a callback of %s failed: %v\n", c.target, p)
			k.log.Printf("%s: panic: %v\n%s", r.Header.Type, p, debug.Stack())
		}
	}()
	f(ctx, out)
}

func (k *kernel) commOpen(r *request) (any, error) {
	content, m, err := r.comm()
	if err != nil {
		return nil, err
	}
	k.comms.mu.Lock()
	opened := k.comms.targets[content.Target]
	k.comms.mu.Unlock()
	c := &comm{s: k.comms, id: *content.ID, target: content.Target}
	if opened == nil {
		// The protocol requires that a comm with an unknown target is closed at once.
		err = fmt.Errorf("target_name: %q is not registered", content.Target)
	} else {
		err = k.comms.add(c)
	}
	if err != nil {
		k.log.Printf("comm_open: %s", firstLine(err.Error()))
		return nil, k.iopub.publish(k.life, r.Header, "comm_close", object{"comm_id": c.id, "data": object{}})
	}
	k.callback(c, r, func(ctx context.Context, out Output) { c.handler = opened(ctx, c, m, out) })
	return nil, nil
}

func (k *kernel) commMessage(r *request) (any, error) {
	content, m, err := r.comm()
	if err != nil {
		return nil, err
	}
	c := k.comms.find(*content.ID)
	if c == nil {
		k.log.Printf("comm_msg: no comm %q is open", strings.ToValidUTF8(*content.ID, "?"))
		return nil, nil
	}
	k.callback(c, r, func(ctx context.Context, out Output) {
		if f := c.handler.Message; f != nil {
			f(ctx, m, out)
		}
	})
	return nil, nil
}

func (k *kernel) commClose(r *request) (any, error) {
	content, m, err := r.comm()
	if err != nil {
		return nil, err
	}
	c := k.comms.find(*content.ID)
	if c == nil || !k.comms.remove(c) {
		return nil, nil
	}
	k.callback(c, r, func(ctx context.Context, out Output) {
		if f := c.handler.Closed; f != nil {
			f(ctx, m, out)
		}
	})
	return nil, nil
}

func (k *kernel) commInfo(r *request) (any, error) {
	var want struct {
		Target string `json:"target_name"`
	}
	if err := r.decode(&want); err != nil {
		return nil, err
	}
	open := object{}
	k.comms.mu.Lock()
	defer k.comms.mu.Unlock()
	for id, c := range k.comms.open {
		if want.Target == "" || c.target == want.Target {
			open[id] = object{"target_name": c.target}
		}
	}
	return object{"status": "ok", "comms": open}, nil
}

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
)

// Call is a request that was sent, with the messages that arrived for it.
type Call struct {
	// ID is the request's msg_id, and the Parent.ID of every message it causes.
	ID string

	k       *Kernel
	channel string
	input   func(prompt string, password bool) (string, error)

	mu       sync.Mutex
	messages []Message
	closed   bool
	wake     chan struct{}

	reply   Message // reply, once it has arrived
	replied bool
	idle    bool
}

// Send sends a request on "shell", "control" or "stdin". Messages for it are kept until
// Wait or Reply of the call is called, which must happen once.
func (k *Kernel) Send(channel, msgType string, content any) (*Call, error) {
	return k.SendRequest(Request{Channel: channel, Type: msgType, Content: content})
}

// Request is a message to send. Only Channel, "shell", "control" or "stdin", and Type
// are required.
type Request struct {
	Channel, Type string
	Content       any
	Metadata      any // encodes as a JSON object, or is nil
	Buffers       [][]byte
	Subshell      string // subshell_id
	// Input answers input_request.
	Input func(prompt string, password bool) (string, error)
}

// SendRequest is Send with every field of a request.
func (k *Kernel) SendRequest(r Request) (*Call, error) {
	h := k.session.Header(r.Type)
	h.Subshell = r.Subshell
	c := &Call{ID: h.ID, k: k, channel: r.Channel, input: r.Input, wake: make(chan struct{}, 1)}
	k.mu.Lock()
	k.calls[c.ID] = c
	k.mu.Unlock()
	m := kernel.Message{Header: h, Buffers: r.Buffers}
	var err error
	if r.Metadata != nil {
		m.Metadata, err = json.Marshal(r.Metadata)
	}
	if err == nil {
		err = k.write(r.Channel, m, r.Content)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (k *Kernel) write(channel string, m kernel.Message, content any) error {
	h := m.Header
	s, ok := k.sockets[channel]
	if !ok || channel == "iopub" || channel == "hb" {
		return fmt.Errorf("client: send %s: channel %q, want shell, control or stdin", h.Type, channel)
	}
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("client: send %s: %w", h.Type, err)
	}
	m.Content = body
	frames := k.codec.Encode(m)
	if err := s.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		return k.orExit(fmt.Errorf("client: send %s: %w", h.Type, err))
	}
	return nil
}

// Request sends a request and returns its reply, without waiting for the idle status
// that follows.
func (k *Kernel) Request(ctx context.Context, channel, msgType string, content any) (Message, error) {
	c, err := k.Send(channel, msgType, content)
	if err != nil {
		return Message{}, err
	}
	return c.Reply(ctx)
}

// Reply waits for the call's reply only, and returns it.
func (c *Call) Reply(ctx context.Context) (Message, error) {
	defer c.close()
	err := c.wait(ctx, nil, true, false)
	return c.reply, err
}

// Wait calls on, in order, with every iopub message of the call, and returns its reply
// once both the reply and the idle status have arrived. The error is ctx's, an
// [*ExitError] if the kernel has ended, or reports a lost connection.
func (c *Call) Wait(ctx context.Context, on func(Message)) (Message, error) {
	defer c.close()
	err := c.wait(ctx, on, true, true)
	return c.reply, err
}

// Idle is Wait for a message without a reply, such as a comm message.
func (c *Call) Idle(ctx context.Context, on func(Message)) error {
	defer c.close()
	return c.wait(ctx, on, false, true)
}

func (c *Call) wait(ctx context.Context, on func(Message), reply, idle bool) error {
	ended := func() bool {
		c.take(on)
		return (c.replied || !reply) && (c.idle || !idle)
	}
	for !ended() {
		var err error
		select {
		case <-c.wake:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.k.process.exited:
			err = c.k.process.err()
			c.k.drained()
		case <-c.k.lost:
			err = c.k.orExit(c.k.lostErr)
			c.k.drained()
		}
		if ended() { // messages in transit have arrived
			return nil
		}
		return err
	}
	return nil
}

// take handles the messages that have arrived.
func (c *Call) take(on func(Message)) {
	c.mu.Lock()
	arrived := c.messages
	c.messages = nil
	c.mu.Unlock()
	for _, m := range arrived {
		switch {
		case m.Channel == "iopub":
			if on != nil {
				on(m)
			}
			var s struct {
				State string `json:"execution_state"`
			}
			if m.Header.Type == "status" && m.Decode(&s) == nil && s.State == "idle" {
				c.idle = true
			}
		case m.Channel == "stdin":
			if c.input != nil && m.Header.Type == "input_request" {
				go c.answer(m)
			}
		case m.Channel == c.channel:
			c.reply, c.replied = m, true
		}
	}
}

// answer answers the kernel's input_request with a line from the caller. Without one
// the kernel gets an empty line; otherwise it would wait forever.
func (c *Call) answer(m Message) {
	var q struct {
		Prompt   string
		Password bool
	}
	if m.Decode(&q) != nil {
		return
	}
	line, err := c.input(q.Prompt, q.Password)
	if err != nil {
		line = ""
	}
	c.k.write("stdin", kernel.Message{Header: c.k.session.Header("input_reply"), Parent: m.Header}, map[string]string{"value": line})
}

// close ends the call: messages that still arrive for it are late.
func (c *Call) close() {
	c.k.mu.Lock()
	delete(c.k.calls, c.ID)
	c.k.mu.Unlock()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
}

// deliver gives a message to its call.
func (k *Kernel) deliver(m Message) {
	k.mu.Lock()
	c := k.calls[m.Parent.ID]
	k.mu.Unlock()
	if c != nil && c.put(m) {
		return
	}
	if m.Channel == "iopub" && k.options.Late != nil && k.greeted.Load() {
		k.options.Late(m)
	}
}

func (c *Call) put(m Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.messages = append(c.messages, m)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return true
}

// drained waits until the messages that the kernel sent before it ended have been read.
func (k *Kernel) drained() {
	done := make(chan struct{})
	go func() {
		k.loops.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
}

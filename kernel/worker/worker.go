// Package worker serves a kernel to the page that started it, in a worker of a browser. It is the [kernel.Transport] of
// messages that JavaScript passes on: there are no sockets, keys or files.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"halfnote/kernel"
)

// message is the JSON of a message, in the form of Jupyter's front ends (@jupyterlab/services, serialize.ts), without its buffers.
type message struct {
	Channel  kernel.Channel  `json:"channel"`
	Header   json.RawMessage `json:"header"`
	Parent   json.RawMessage `json:"parent_header"`
	Metadata json.RawMessage `json:"metadata"`
	Content  json.RawMessage `json:"content"`
}

// iopub is the channel of what a kernel publishes.
const iopub kernel.Channel = "iopub"

// high is the number of bytes that the page may have to take before Publish waits for it.
const high = 1 << 20

// Transport carries messages between a kernel and a page.
type Transport struct {
	post  func(text []byte, buffers [][]byte)
	hooks kernel.Hooks

	mu      sync.Mutex
	changed chan struct{} // closed when the page has taken messages, or at the end
	ahead   int           // bytes that the page has yet to take
	closed  bool
	queues  map[kernel.Channel]*queue
	loops   sync.WaitGroup
}

// New returns a transport that posts messages to the page by calling post, which must not wait.
func New(post func(text []byte, buffers [][]byte)) *Transport {
	t := &Transport{post: post, changed: make(chan struct{}), queues: map[kernel.Channel]*queue{}}
	for _, c := range []kernel.Channel{kernel.Shell, kernel.Control, kernel.Stdin} {
		t.queues[c] = newQueue()
	}
	return t
}

// Open begins to pass messages on. The page is a subscriber from the start.
func (t *Transport) Open(h kernel.Hooks) error {
	t.hooks = h
	for _, m := range h.Welcome("") {
		t.send(iopub, m)
	}
	for c, q := range t.queues {
		t.loops.Go(func() {
			for m, ok := q.pop(); ok; m, ok = q.pop() {
				h.Receive(c, m)
			}
		})
	}
	return nil
}

// Receive takes a message of the page. It does not wait, and may be called before Open. Its error says what is wrong with a message that it dropped.
func (t *Transport) Receive(text []byte, buffers [][]byte) error {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("worker: message: %w", err)
	}
	q := t.queues[m.Channel]
	if q == nil {
		return fmt.Errorf("worker: channel %q, want shell, control or stdin", m.Channel)
	}
	h, err := kernel.ParseHeader(m.Header)
	if err != nil {
		return fmt.Errorf("worker: header: %w", err)
	}
	if h.ID == "" || h.Type == "" {
		return fmt.Errorf("worker: header: msg_id or msg_type is missing")
	}
	parent, err := kernel.ParseHeader(m.Parent)
	if err != nil {
		parent = kernel.Header{} // most requests have none
	}
	q.push(kernel.Message{Header: h, Parent: parent, Metadata: m.Metadata, Content: m.Content, Buffers: buffers})
	return nil
}

// Taken notes that the page has taken messages of n bytes.
func (t *Transport) Taken(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ahead = max(t.ahead-n, 0)
	t.wake()
}

// wake lets Publish look again; mu is held.
func (t *Transport) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Send sends a message to the page.
func (t *Transport) Send(c kernel.Channel, m kernel.Message) error { return t.send(c, m) }

// Publish sends a message to the page. It waits while the page is slow.
func (t *Transport) Publish(ctx context.Context, m kernel.Message) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.mu.Lock()
		room, changed := t.ahead < high || t.closed, t.changed
		t.mu.Unlock()
		if room {
			return t.send(iopub, m)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (t *Transport) send(c kernel.Channel, m kernel.Message) error {
	text, err := json.Marshal(message{c, m.Header.JSON(), m.Parent.JSON(), orEmpty(m.Metadata), orEmpty(m.Content)})
	if err != nil {
		return fmt.Errorf("worker: %s: %w", m.Header.Type, err)
	}
	n := len(text)
	for _, b := range m.Buffers {
		n += len(b)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	t.ahead += n
	t.post(text, m.Buffers) // under the lock: messages arrive in the order in which they are sent
	return nil
}

var errClosed = errors.New("worker: closed")

func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}

// Close stops. What was sent is with the page already.
func (t *Transport) Close(context.Context, bool) {
	t.mu.Lock()
	t.closed = true
	t.wake()
	t.mu.Unlock()
	for _, q := range t.queues {
		q.close()
	}
	t.loops.Wait()
}

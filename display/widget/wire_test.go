package widget

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// wire is a Transport that records messages.
type wire struct {
	mu      sync.Mutex
	n       int
	sent    []sent
	handler map[string]Handler
	targets map[string]func(Conn, Message) Handler
}

// sent is a recorded message: "open", "msg" or "close" of a comm.
type sent struct {
	what, id string
	m        Message
}

func newWire() *wire {
	return &wire{handler: map[string]Handler{}, targets: map[string]func(Conn, Message) Handler{}}
}

func (w *wire) Open(target string, m Message, h Handler) (Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	c := wireConn{w, fmt.Sprint("c", w.n), target}
	w.handler[c.id] = h
	w.sent = append(w.sent, sent{"open", c.id, m})
	return c, nil
}

func (w *wire) Register(target string, opened func(Conn, Message) Handler) {
	w.targets[target] = opened
}
func (w *wire) Redirect(o *Output, f func()) { fmt.Fprint(o.Stdout(), "called\n"); f() }

// take returns the messages recorded since the last call.
func (w *wire) take() []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.sent
	w.sent = nil
	return list
}

// receive passes a front end's message to the widget of a comm.
func (w *wire) receive(id, data string) { w.handler[id].Message(Message{Data: json.RawMessage(data)}) }

type wireConn struct {
	w          *wire
	id, target string
}

func (c wireConn) ID() string           { return c.id }
func (c wireConn) Target() string       { return c.target }
func (c wireConn) Send(m Message) error { return c.record("msg", m) }
func (c wireConn) Close(m Message) error {
	return c.record("close", m)
}

func (c wireConn) record(what string, m Message) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.sent = append(c.w.sent, sent{what, c.id, m})
	return nil
}

// updates formats the messages of one comm, "update {…}", and skips others.
func updates(t *testing.T, list []sent, id string) string {
	t.Helper()
	var lines []string
	for _, s := range list {
		if s.id != id {
			continue
		}
		var m struct {
			Method string
			State  json.RawMessage
		}
		if s.what == "msg" {
			if err := s.m.Decode(&m); err != nil {
				t.Fatal(err)
			}
		}
		lines = append(lines, strings.TrimSpace(s.what+" "+m.Method+" "+string(m.State)))
	}
	return strings.Join(lines, "\n")
}

// connect returns a manager and the wire on which it has opened w.
func connect(w Widget) (*Manager, *wire) {
	x := newWire()
	m := NewManager(x)
	m.Connect(w)
	return m, x
}

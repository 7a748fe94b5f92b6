package widget

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Transport is what a [Manager] needs of the kernel. Its methods may be called from any
// goroutine.
type Transport interface {
	// Open opens a comm with a target of the front ends.
	Open(target string, m Message, h Handler) (Conn, error)
	// Register says who takes the comms that front ends open with a target; nil: nobody.
	Register(target string, opened func(c Conn, m Message) Handler)
	// Redirect calls f, whose prints and pictures go to o.
	Redirect(o *Output, f func())
}

// Conn is an open comm, as a transport sees it.
type Conn interface {
	ID() string
	Target() string
	Send(Message) error
	Close(Message) error
}

// Handler takes what front ends send. Its functions are called one at a time, in
// goroutines that may run code of cells.
type Handler struct {
	Message func(Message)
	Closed  func(Message)
}

// Message is what is said on a comm.
type Message struct {
	Data     json.RawMessage // an object
	Metadata json.RawMessage // an object, or nil
	Buffers  [][]byte
}

// Decode reads the message's data into the value that v points to, as
// [json.Unmarshal] does.
func (m Message) Decode(v any) error {
	if err := json.Unmarshal(m.Data, v); err != nil {
		return fmt.Errorf("widget: the data of a comm's message: %w", err)
	}
	return nil
}

// String returns the message's data, JSON.
func (m Message) String() string { return string(m.Data) }

// Comm is an open channel to code of the front ends.
type Comm struct {
	conn Conn

	mu      sync.Mutex
	message func(Message)
	closed  func(Message)
}

// errNoFrontEnd is what comms fail with outside notebooks.
var errNoFrontEnd = errors.New("widget: there is no front end: comms need a notebook")

// OpenComm opens a comm with a target that code of the front ends has registered.
// data, any value that becomes a JSON object, and buffers are what it is told first.
// received, which may be nil, gets the messages that come.
func OpenComm(target string, data any, received func(Message), buffers ...[]byte) (*Comm, error) {
	return standard.OpenComm(target, data, received, buffers...)
}

// OpenComm opens a comm with a target that code of the front ends has registered.
func (m *Manager) OpenComm(target string, data any, received func(Message), buffers ...[]byte) (*Comm, error) {
	if m.transport == nil {
		return nil, errNoFrontEnd
	}
	message, err := encode(data, buffers)
	if err != nil {
		return nil, err
	}
	c := &Comm{message: received}
	c.mu.Lock() // whoever answers at once waits for conn
	defer c.mu.Unlock()
	if c.conn, err = m.transport.Open(target, message, c.handler()); err != nil {
		return nil, err
	}
	m.keep(c.conn)
	return c, nil
}

// RegisterTarget has opened called with every comm that a front end opens with the
// target, and with the message that came with it. nil forgets the target.
func RegisterTarget(target string, opened func(*Comm, Message)) error {
	return standard.RegisterTarget(target, opened)
}

// RegisterTarget has opened called with every comm that a front end opens with the
// target.
func (m *Manager) RegisterTarget(target string, opened func(*Comm, Message)) error {
	switch {
	case m.transport == nil:
		return errNoFrontEnd
	case target == controlTarget:
		return fmt.Errorf("widget: the target %q is that of the widgets themselves", target)
	case opened == nil:
		m.transport.Register(target, nil)
		return nil
	}
	m.mu.Lock()
	m.targets = append(m.targets, target)
	m.mu.Unlock()
	m.transport.Register(target, func(conn Conn, first Message) Handler {
		c := &Comm{conn: conn}
		m.keep(conn)
		opened(c, first)
		return c.handler()
	})
	return nil
}

// OnMessage has f called with each message that comes from now on, in place of what
// was given before.
func (c *Comm) OnMessage(f func(Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.message = f
}

// OnClose has f called when the front end closes the comm.
func (c *Comm) OnClose(f func(Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = f
}

func (c *Comm) handler() Handler {
	return Handler{
		Message: func(m Message) { c.call(func() func(Message) { return c.message }, m) },
		Closed:  func(m Message) { c.call(func() func(Message) { return c.closed }, m) },
	}
}

func (c *Comm) call(which func() func(Message), m Message) {
	c.mu.Lock()
	f := which()
	c.mu.Unlock()
	if f != nil {
		f(m)
	}
}

// Send sends data, any value that becomes a JSON object, and buffers.
func (c *Comm) Send(data any, buffers ...[]byte) error {
	m, err := encode(data, buffers)
	if err != nil {
		return err
	}
	return c.conn.Send(m)
}

// Close closes the comm. Closing again does nothing.
func (c *Comm) Close() error { return c.conn.Close(Message{}) }

// ID returns the comm's name, by which both sides know it.
func (c *Comm) ID() string { return c.conn.ID() }

// String names the comm.
func (c *Comm) String() string { return "comm " + c.conn.ID() + " with " + c.conn.Target() }

func encode(data any, buffers [][]byte) (Message, error) {
	if data == nil {
		data = struct{}{}
	}
	b, err := json.Marshal(data)
	if err != nil {
		return Message{}, fmt.Errorf("widget: the data of a comm's message: %w", err)
	}
	if len(b) == 0 || b[0] != '{' {
		return Message{}, fmt.Errorf("widget: the data of a comm's message is %.40s, expected a JSON object", b)
	}
	return Message{Data: b, Buffers: buffers}, nil
}

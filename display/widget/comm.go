package widget

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Transport is the connection of a [Manager] to the kernel. Its methods may be called from any
// goroutine.
type Transport interface {
	// Open opens a comm with a target of the front ends.
	Open(target string, m Message, h Handler) (Conn, error)
	// Register sets the handler of comms that front ends open with a target; nil removes it.
	Register(target string, opened func(c Conn, m Message) Handler)
	// Redirect calls f and sends its prints and pictures to o.
	Redirect(o *Output, f func())
}

// Conn is an open comm of a transport.
type Conn interface {
	ID() string
	Target() string
	Send(Message) error
	Close(Message) error
}

// Handler receives messages of front ends. Its functions are called one at a time, in goroutines
// that may run code of cells.
type Handler struct {
	Message func(Message)
	Closed  func(Message)
}

// Message is a message on a comm.
type Message struct {
	Data     json.RawMessage // JSON object
	Metadata json.RawMessage // JSON object, or nil
	Buffers  [][]byte
}

// Decode reads the message's data into the value that v points to, as
// [json.Unmarshal] does.
func (m Message) Decode(v any) error {
	if err := json.Unmarshal(m.Data, v); err != nil {
		return fmt.Errorf("widget: comm message: %w", err)
	}
	return nil
}

// String returns the message's data as JSON.
func (m Message) String() string { return string(m.Data) }

// Comm is an open channel to front-end code.
type Comm struct {
	conn Conn

	mu      sync.Mutex
	message func(Message)
	closed  func(Message)
}

// errNoFrontEnd is the error of comms outside notebooks.
var errNoFrontEnd = errors.New("widget: no front end: comms need a notebook")

// OpenComm opens a comm with a target that front-end code has registered. Its opening message
// carries data, any value that encodes as a JSON object, and buffers. received handles incoming
// messages; it may be nil.
func OpenComm(target string, data any, received func(Message), buffers ...[]byte) (*Comm, error) {
	return standard.OpenComm(target, data, received, buffers...)
}

// OpenComm opens a comm with a target that front-end code has registered.
func (m *Manager) OpenComm(target string, data any, received func(Message), buffers ...[]byte) (*Comm, error) {
	if m.transport == nil {
		return nil, errNoFrontEnd
	}
	message, err := encode(data, buffers)
	if err != nil {
		return nil, err
	}
	c := &Comm{message: received}
	c.mu.Lock() // a handler that is called immediately waits for conn
	defer c.mu.Unlock()
	if c.conn, err = m.transport.Open(target, message, c.handler()); err != nil {
		return nil, err
	}
	m.keep(c.conn)
	return c, nil
}

// RegisterTarget registers opened, which is called with every comm that a front end opens with
// the target, and with its opening message. nil removes the target.
func RegisterTarget(target string, opened func(*Comm, Message)) error {
	return standard.RegisterTarget(target, opened)
}

// RegisterTarget registers opened, which is called with every comm that a front end opens with
// the target.
func (m *Manager) RegisterTarget(target string, opened func(*Comm, Message)) error {
	switch {
	case m.transport == nil:
		return errNoFrontEnd
	case target == controlTarget:
		return fmt.Errorf("widget: target %q is reserved for widgets", target)
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

// OnMessage registers f for messages that arrive from now on, replacing any earlier function.
func (c *Comm) OnMessage(f func(Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.message = f
}

// OnClose registers f, which is called when the front end closes the comm.
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

// Send sends data, any value that encodes as a JSON object, and buffers.
func (c *Comm) Send(data any, buffers ...[]byte) error {
	m, err := encode(data, buffers)
	if err != nil {
		return err
	}
	return c.conn.Send(m)
}

// Close closes the comm. Closing it again does nothing.
func (c *Comm) Close() error { return c.conn.Close(Message{}) }

// ID returns the comm's identifier, which both sides use.
func (c *Comm) ID() string { return c.conn.ID() }

// String returns the comm's ID and target.
func (c *Comm) String() string { return "comm " + c.conn.ID() + " with " + c.conn.Target() }

func encode(data any, buffers [][]byte) (Message, error) {
	if data == nil {
		data = struct{}{}
	}
	b, err := json.Marshal(data)
	if err != nil {
		return Message{}, fmt.Errorf("widget: comm message: %w", err)
	}
	if len(b) == 0 || b[0] != '{' {
		return Message{}, fmt.Errorf("widget: comm message is %.40s; want a JSON object", b)
	}
	return Message{Data: b, Buffers: buffers}, nil
}

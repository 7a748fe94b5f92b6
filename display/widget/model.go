package widget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"halfnote/display"
)

// model is the state of one widget. While it is open, front ends hold a copy.
type model struct {
	kind *kind
	// fit, called after a change, corrects values that the widget does not allow.
	fit func(state traits)
	// event handles custom messages of the front end.
	event func(content json.RawMessage)

	mu        sync.Mutex
	state     traits
	observers []func()
	changed   map[string]bool // traits not sent to the front ends yet
	sent      time.Time
	later     *time.Timer

	// sending is held while a message is built and sent, so that states reach the front ends in
	// order.
	sending sync.Mutex
	manager *Manager // nil until the model is open
	conn    Conn
}

func newModel(name string) *model {
	k := kindOf(name)
	return &model{kind: k, state: k.state(), changed: map[string]bool{}}
}

func (m *model) get(name string) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[name]
}

// set changes traits, sends them to the front ends and calls the observers if a value has
// changed.
func (m *model) set(values traits) {
	if m.change(values) {
		m.send(false)
		m.notify()
	}
}

func (m *model) change(values traits) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.put(values)) > 0
}

// put changes traits and returns the names of those whose value has changed. mu must be held.
func (m *model) put(values traits) (names []string) {
	old := maps.Clone(m.state)
	maps.Copy(m.state, values)
	if m.fit != nil {
		m.fit(m.state)
	}
	for name, v := range m.state {
		if !reflect.DeepEqual(old[name], v) {
			m.changed[name] = true
			names = append(names, name)
		}
	}
	return names
}

// observe registers f, which is called whenever a trait has changed.
func (m *model) observe(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observers = append(m.observers, f)
}

func (m *model) notify() {
	m.mu.Lock()
	observers := slices.Clone(m.observers)
	m.mu.Unlock()
	for _, f := range observers {
		f()
	}
}

// frame is the shortest time between two unsolicited messages about one widget: servers drop
// messages that arrive faster.
const frame = 20 * time.Millisecond

// send sends changed traits to the front ends, now or, shortly after the previous message, with a
// delay.
func (m *model) send(now bool) {
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.conn == nil {
		return
	}
	m.mu.Lock()
	if wait := frame - time.Since(m.sent); !now && wait > 0 {
		if m.later == nil {
			m.manager.late(m)
			m.later = time.AfterFunc(wait, func() { m.send(true) })
		}
		m.mu.Unlock()
		return
	}
	if m.later != nil {
		m.later.Stop()
		m.later = nil
	}
	part := traits{}
	for name := range m.changed {
		part[name] = m.state[name]
	}
	clear(m.changed)
	m.sent = time.Now()
	m.mu.Unlock()
	if len(part) > 0 {
		m.transmit("update", part)
	}
}

// transmit sends traits. It ignores errors: they mean that the front end has closed the comm.
func (m *model) transmit(method string, part traits) {
	state, paths, buffers := m.manager.encode(part)
	message, err := encode(map[string]any{"method": method, "state": state, "buffer_paths": paths}, buffers)
	if err == nil {
		m.conn.Send(message)
	}
}

// protocol is the metadata of every comm_open message: the version of the widget messaging
// protocol.
var protocol = json.RawMessage(`{"version": "2.1.0"}`)

// open opens the model in the front ends, after the models that it refers to.
func (m *model) open(manager *Manager) (id string, err error) {
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.conn != nil {
		return m.conn.ID(), nil
	}
	state, paths, buffers := manager.encode(m.whole())
	message, err := encode(map[string]any{"state": state, "buffer_paths": paths}, buffers)
	if err != nil {
		return "", err
	}
	message.Metadata = protocol
	m.manager = manager
	if m.conn, err = manager.transport.Open(widgetTarget, message, Handler{Message: m.receive, Closed: func(Message) { m.forget() }}); err != nil {
		return "", err
	}
	m.mu.Lock()
	clear(m.changed)
	m.mu.Unlock()
	manager.opened(m)
	return m.conn.ID(), nil
}

// whole returns the complete state.
func (m *model) whole() traits {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.kind.identity()
	maps.Copy(all, m.state)
	return all
}

// receive handles a message of a front end.
func (m *model) receive(message Message) {
	var q struct {
		Method  string                     `json:"method"`
		State   map[string]json.RawMessage `json:"state"`
		Content json.RawMessage            `json:"content"`
	}
	if err := message.Decode(&q); err != nil {
		return
	}
	defer m.manager.Flush() // the front end waits for this reply, which limits its rate
	switch q.Method {
	case "update":
		m.update(q.State)
	case "request_state":
		m.sending.Lock()
		defer m.sending.Unlock()
		if m.conn != nil {
			m.transmit("update", m.whole())
		}
	case "custom":
		if m.event != nil {
			m.event(q.Content)
		}
	}
}

// update applies traits from a front end. As the protocol demands, it echoes them first, so that
// all front ends agree, and then sends the resulting values if they differ.
func (m *model) update(state map[string]json.RawMessage) {
	echo, values := traits{}, traits{}
	m.sending.Lock() // values set meanwhile are sent after the echo
	m.mu.Lock()
	for name, raw := range state {
		if _, known := m.state[name]; !known {
			continue
		}
		echo[name] = raw
		if v, err := decode(raw, m.kind.of(name)); err == nil {
			values[name] = v
		}
	}
	changed := len(m.put(values)) > 0
	for name, raw := range echo {
		back, err := json.Marshal(finite(m.state[name]))
		if delete(m.changed, name); err != nil || !bytes.Equal(back, raw.(json.RawMessage)) {
			m.changed[name] = true
		}
	}
	m.mu.Unlock()
	if m.conn != nil && len(echo) > 0 {
		m.transmit("echo_update", echo)
	}
	m.sending.Unlock()
	m.send(true)
	if changed {
		m.notify()
	}
}

// of returns the default of a trait, whose type is the trait's type.
func (k *kind) of(name string) any {
	if v, ok := k.traits[name]; ok {
		return v
	}
	return shown[name]
}

// decode reads a value of like's type.
func decode(raw json.RawMessage, like any) (any, error) {
	switch like.(type) {
	case nil:
		var v any
		err := json.Unmarshal(raw, &v)
		return v, err
	case *model, []*model, []byte, []output:
		return nil, fmt.Errorf("read-only for front ends")
	}
	v := reflect.New(reflect.TypeOf(like))
	if err := json.Unmarshal(raw, v.Interface()); err != nil {
		return nil, err
	}
	if string(raw) == "null" && like != null {
		return nil, fmt.Errorf("null, want %T", like)
	}
	return v.Elem().Interface(), nil
}

// index is the index of a choice; [null] encodes as JSON null.
type index int

func (i index) MarshalJSON() ([]byte, error) {
	if i == null {
		return []byte("null"), nil
	}
	return json.Marshal(int(i))
}

func (i *index) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*i = null
		return nil
	}
	return json.Unmarshal(b, (*int)(i))
}

// finite returns null for non-finite numbers, which JSON cannot represent.
func finite(v any) any {
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return v
}

// forget closes the model in the front ends.
func (m *model) forget() Conn {
	m.sending.Lock()
	defer m.sending.Unlock()
	conn := m.conn
	if conn != nil {
		m.manager.closed(conn.ID())
	}
	m.conn = nil
	return conn
}

func (m *model) close() {
	if conn := m.forget(); conn != nil {
		conn.Close(Message{})
	}
	for _, name := range []string{"layout", "style"} {
		if part, ok := m.get(name).(*model); ok && part != nil {
			part.close()
		}
	}
}

// bundle returns the widget's output in a cell: a reference to the widget, and its current state
// for front ends without widgets and for static pages.
func (m *model) bundle() display.Bundle {
	b := display.Bundle{Data: map[string]any{"text/plain": m.text(), "text/html": m.html()}}
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.conn != nil {
		b.Data["application/vnd.jupyter.widget-view+json"] = map[string]any{
			"version_major": 2, "version_minor": 0, "model_id": m.conn.ID(),
		}
	}
	return b
}

// check panics unless a widget of the kind has the trait and the trait accepts v.
func (m *model) check(name string, v any) any {
	like, ok := m.kind.of(name), false
	if _, ok = m.state[name]; !ok || strings.HasPrefix(name, "_") {
		var names []string
		for name := range m.state {
			if !strings.HasPrefix(name, "_") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		panic(fmt.Sprintf("widget: a %s has no trait %q; want one of %s", m.kind.name, name, strings.Join(names, ", ")))
	}
	if like == nil {
		return v
	}
	want := reflect.TypeOf(like)
	got := reflect.ValueOf(v)
	switch {
	case got.IsValid() && got.Type() == want:
		return v
	case want.Kind() == reflect.Float64 && got.CanInt():
		return float64(got.Int())
	case want.Kind() == reflect.Int && got.CanFloat() && got.Float() == math.Trunc(got.Float()):
		return int(got.Float())
	}
	panic(fmt.Sprintf("widget: trait %q of a %s is a %T; want %s", name, m.kind.name, v, want))
}

package widget

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// Comm targets of ipywidgets: each widget is a comm with the first; front ends use the second to
// request the states of all widgets after a page is reloaded.
const (
	widgetTarget  = "jupyter.widget"
	controlTarget = "jupyter.widget.control"
)

// Manager holds the widgets that are open in the front ends of one session. Its methods may be
// called from any goroutine.
type Manager struct {
	transport Transport // nil outside notebooks

	mu      sync.Mutex
	models  map[string]*model // open models by comm ID
	conns   map[string]Conn   // other comms opened by cells
	targets []string          // targets registered by cells
	waiting map[*model]bool   // models with unsent changes
}

// standard is the manager of compiled programs. In a notebook the functions that use it are
// replaced by those of Symbols.
var standard = &Manager{}

// NewManager returns a manager whose widgets communicate through t.
func NewManager(t Transport) *Manager {
	if t == nil {
		panic("widget: NewManager: the transport is nil; want a transport to the front end")
	}
	m := &Manager{transport: t}
	m.reset()
	t.Register(controlTarget, func(c Conn, _ Message) Handler {
		return Handler{Message: func(q Message) { m.answer(c, q) }}
	})
	return m
}

func (m *Manager) reset() {
	m.models, m.conns, m.waiting = map[string]*model{}, map[string]Conn{}, map[*model]bool{}
	m.targets = nil
}

// Symbols maps the name of every package function that needs a front end to the method of m that
// an interpreter calls instead.
func (m *Manager) Symbols() map[string]any {
	return map[string]any{
		"Interact":       m.Interact,
		"OpenComm":       m.OpenComm,
		"RegisterTarget": m.RegisterTarget,
		"Redirect":       m.Redirect,
	}
}

// Connect opens v in the front ends if it is a widget. It is called before v is shown.
func (m *Manager) Connect(v any) {
	if w, ok := v.(Widget); ok && m.transport != nil {
		if c := controlOf(w); c != nil {
			c.model.open(m)
		}
	}
}

// Flush sends pending changes of widgets.
func (m *Manager) Flush() {
	m.mu.Lock()
	var list []*model
	for x := range m.waiting {
		list = append(list, x)
	}
	clear(m.waiting)
	m.mu.Unlock()
	for _, x := range list {
		x.send(true)
	}
}

// Close closes all widgets and comms and removes the targets. The manager can be used again.
func (m *Manager) Close() {
	m.mu.Lock()
	models, conns, targets := m.models, m.conns, m.targets
	m.reset()
	m.mu.Unlock()
	for _, x := range models {
		x.close()
	}
	for _, c := range conns {
		c.Close(Message{})
	}
	for _, name := range targets {
		m.transport.Register(name, nil)
	}
}

func (m *Manager) opened(x *model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.models[x.conn.ID()] = x
}

func (m *Manager) closed(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.models, id)
}

func (m *Manager) keep(c Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conns[c.ID()] = c
}

func (m *Manager) late(x *model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting[x] = true
}

// encode returns traits in the protocol's form: a model becomes "IPY_MODEL_" and its ID, and
// bytes move from the state to buffers, located by paths.
func (m *Manager) encode(part traits) (state traits, paths [][]string, buffers [][]byte) {
	state, paths = traits{}, [][]string{}
	for _, name := range slices.Sorted(maps.Keys(part)) {
		switch v := part[name].(type) {
		case []byte:
			paths, buffers = append(paths, []string{name}), append(buffers, v)
			continue
		case *model:
			state[name] = m.reference(v)
			continue
		case []*model:
			list := []string{}
			for _, x := range v {
				list = append(list, m.reference(x))
			}
			state[name] = list
			continue
		}
		state[name] = finite(part[name])
	}
	return state, paths, buffers
}

// reference opens a model if it is not open yet, and returns its reference.
func (m *Manager) reference(x *model) string {
	id, _ := x.open(m)
	return "IPY_MODEL_" + id
}

// answer answers request_states with the states of all widgets, and request_bundles with the text
// and HTML of some. The second is not part of ipywidgets' protocol: programs that save a notebook
// without a front end use it.
func (m *Manager) answer(c Conn, q Message) {
	var want struct {
		Method string   `json:"method"`
		Models []string `json:"models"`
	}
	if json.Unmarshal(q.Data, &want) != nil {
		return
	}
	switch want.Method {
	case "request_states":
		m.sendStates(c)
	case "request_bundles":
		m.sendBundles(c, want.Models)
	}
}

func (m *Manager) sendBundles(c Conn, ids []string) {
	bundles := map[string]any{}
	for _, id := range ids {
		m.mu.Lock()
		x := m.models[id]
		m.mu.Unlock()
		if x != nil {
			bundles[id] = map[string]any{"text/plain": x.text(), "text/html": x.html()}
		}
	}
	if message, err := encode(map[string]any{"method": "update_bundles", "bundles": bundles}, nil); err == nil {
		c.Send(message)
	}
}

func (m *Manager) sendStates(c Conn) {
	m.mu.Lock()
	models := make(map[string]*model, len(m.models))
	for id, x := range m.models {
		models[id] = x
	}
	m.mu.Unlock()
	states, paths, buffers := map[string]any{}, [][]string{}, [][]byte{}
	for id, x := range models {
		state, places, parts := m.encode(x.whole())
		for _, p := range places {
			paths = append(paths, append([]string{id, "state"}, p...))
		}
		buffers = append(buffers, parts...)
		who := x.kind.identity()
		states[id] = map[string]any{
			"model_name": who["_model_name"], "model_module": who["_model_module"],
			"model_module_version": who["_model_module_version"], "state": state,
		}
	}
	if message, err := encode(map[string]any{"method": "update_states", "states": states, "buffer_paths": paths}, buffers); err == nil {
		c.Send(message)
	}
}

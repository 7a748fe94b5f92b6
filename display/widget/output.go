package widget

import (
	"io"
	"strings"
	"sync"
	"time"

	"halfnote/display"
)

// Output is a widget that shows printed and displayed output. Its methods may be called from any
// goroutine.
type Output struct {
	*control
	mu    sync.Mutex
	list  []output
	clear bool // whether the next output clears the area
	later *time.Timer

	// flushing is held while the list is read and sent, so that lists reach the front ends in order.
	flushing sync.Mutex
}

// output is one output in the notebook format.
type output struct {
	Type     string         `json:"output_type"` // "stream" or "display_data"
	Name     string         `json:"name,omitempty"`
	Text     string         `json:"text,omitempty"`
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	id       string
}

// MarshalJSON adds the metadata that the format requires of pictures.
func (o output) MarshalJSON() ([]byte, error) {
	if o.Type == "stream" {
		m, err := encode(map[string]any{"output_type": o.Type, "name": o.Name, "text": o.Text}, nil)
		return m.Data, err
	}
	metadata := o.Metadata
	if metadata == nil {
		metadata = map[string]any{}
	}
	m, err := encode(map[string]any{"output_type": o.Type, "data": o.Data, "metadata": metadata}, nil)
	return m.Data, err
}

// NewOutput returns an empty output area. It is ipywidgets' Output.
func NewOutput(options ...Option) *Output {
	return &Output{control: newControl("Output", options, nil)}
}

// Redirect calls f and sends its printed and displayed output to o, including that of goroutines
// that f starts.
func Redirect(o *Output, f func()) { standard.Redirect(o, f) }

// Redirect calls f and sends its printed and displayed output to o.
func (m *Manager) Redirect(o *Output, f func()) {
	if o == nil || f == nil {
		panic("widget: Redirect: the output or the function is nil; want both")
	}
	if m.transport == nil {
		f()
		return
	}
	defer o.Flush()
	m.transport.Redirect(o, f)
}

// Stdout returns a writer to the area's standard output.
func (o *Output) Stdout() io.Writer { return stream{o, "stdout"} }

// Stderr returns a writer to the area's standard error.
func (o *Output) Stderr() io.Writer { return stream{o, "stderr"} }

type stream struct {
	o    *Output
	name string
}

// maxText is the number of bytes that are kept from the end of a stream. Each change sends the whole
// area to the front ends.
const maxText = 64 << 10

func (s stream) Write(p []byte) (int, error) {
	s.o.change(func() {
		list := &s.o.list
		if n := len(*list); n == 0 || (*list)[n-1].Name != s.name {
			*list = append(*list, output{Type: "stream", Name: s.name})
		}
		last := &(*list)[len(*list)-1]
		last.Text += string(p)
		if cut := len(last.Text) - maxText; cut > 0 {
			text := last.Text[cut:]
			if i := strings.IndexByte(text, '\n'); i >= 0 {
				text = text[i+1:]
			}
			last.Text = "…\n" + text
		}
	}, true)
	return len(p), nil
}

// maxOutputs is the number of outputs that are kept. Older outputs are dropped.
const maxOutputs = 200

// Display implements display.Sink.
func (o *Output) Display(b display.Bundle) {
	o.change(func() {
		o.list = append(o.list, output{Type: "display_data", Data: b.Data, Metadata: b.Metadata, id: b.ID})
		o.list = o.list[max(0, len(o.list)-maxOutputs):]
	}, true)
}

// Update implements display.Sink.
func (o *Output) Update(b display.Bundle) {
	o.change(func() {
		for i := range o.list {
			if o.list[i].id == b.ID && b.ID != "" {
				o.list[i].Data, o.list[i].Metadata = b.Data, b.Metadata
			}
		}
	}, false)
}

// Clear empties the area: at once, or, if wait is set, when the next output arrives.
func (o *Output) Clear(wait bool) {
	o.mu.Lock()
	o.clear = true
	o.mu.Unlock()
	if !wait {
		o.change(func() {}, true)
	}
}

// change changes the list and sends it after a short delay, to batch further changes.
func (o *Output) change(f func(), adds bool) {
	if o.control == nil {
		panic("widget: Output: zero Output; use NewOutput")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if adds && o.clear {
		o.list, o.clear = nil, false
	}
	f()
	if o.later == nil {
		o.later = time.AfterFunc(frame, o.Flush)
	}
}

// Flush sends pending output at once.
func (o *Output) Flush() {
	o.flushing.Lock()
	defer o.flushing.Unlock()
	o.mu.Lock()
	if o.later != nil {
		o.later.Stop()
		o.later = nil
	}
	list := append([]output{}, o.list...)
	o.mu.Unlock()
	o.model.set(traits{"outputs": list})
}

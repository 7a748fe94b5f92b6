package widget

import (
	"encoding/json"
	"sync"
)

// guarded is a value that several goroutines may compare and replace.
type guarded[T comparable] struct {
	mu sync.Mutex
	v  T
}

// swap reports whether v differs from the previous value.
func (g *guarded[T]) swap(v T) (changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	changed = g.v != v
	g.v = v
	return changed
}

// Bool is a widget that is on or off.
type Bool struct{ *control }

// NewCheckbox returns a checkbox. It is ipywidgets' Checkbox.
func NewCheckbox(value bool, options ...Option) *Bool {
	return &Bool{newControl("Checkbox", options, traits{"value": value})}
}

// NewToggleButton returns a button that each click turns on or off. It is ipywidgets' ToggleButton.
func NewToggleButton(value bool, options ...Option) *Bool {
	return &Bool{newControl("ToggleButton", options, traits{"value": value})}
}

// Value reports whether the widget is on.
func (w *Bool) Value() bool { return w.model.get("value").(bool) }

// SetValue turns the widget on or off.
func (w *Bool) SetValue(v bool) { w.model.set(traits{"value": v}) }

// OnChange registers f, which is called with the new value whenever it changes, by the reader or
// by the program.
func (w *Bool) OnChange(f func(bool)) { w.model.observe(changes(w.Value, f)) }

// String is a widget with a text value.
type String struct{ *control }

// NewText returns a text field of one line. It is ipywidgets' Text.
func NewText(value string, options ...Option) *String { return newString("Text", value, options) }

// NewTextarea returns a field of several lines. It is ipywidgets' Textarea.
func NewTextarea(value string, options ...Option) *String {
	return newString("Textarea", value, options)
}

// NewLabel returns a line that the reader cannot change. TeX between dollar signs
// shows as a formula. It is ipywidgets' Label.
func NewLabel(value string, options ...Option) *String { return newString("Label", value, options) }

// NewHTML returns a widget that shows HTML. It is ipywidgets' HTML.
func NewHTML(value string, options ...Option) *String { return newString("HTML", value, options) }

func newString(name, value string, options []Option) *String {
	return &String{newControl(name, options, traits{"value": value})}
}

// Value returns the text.
func (w *String) Value() string { return w.model.get("value").(string) }

// SetValue changes the text.
func (w *String) SetValue(v string) { w.model.set(traits{"value": v}) }

// OnChange registers f, which is called with the new text whenever it changes, by the reader or
// by the program.
func (w *String) OnChange(f func(string)) { w.model.observe(changes(w.Value, f)) }

// Button is a button.
type Button struct {
	*control
	mu      sync.Mutex
	clicked []func()
}

// NewButton returns a button with a label. It is ipywidgets' Button.
func NewButton(description string, options ...Option) *Button {
	b := &Button{control: newControl("Button", options, traits{"description": description})}
	b.model.event = func(content json.RawMessage) {
		var e struct {
			Event string `json:"event"`
		}
		if json.Unmarshal(content, &e) == nil && e.Event == "click" {
			b.Click()
		}
	}
	return b
}

// OnClick registers f, which is called on every click.
func (b *Button) OnClick(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clicked = append(b.clicked, f)
}

// Click acts like a click by the reader.
func (b *Button) Click() {
	b.mu.Lock()
	list := b.clicked[:len(b.clicked):len(b.clicked)]
	b.mu.Unlock()
	for _, f := range list {
		f()
	}
}

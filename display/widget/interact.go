package widget

import (
	"fmt"
	"sync"
)

// Interact calls f, and again whenever one of the controls has changed, and returns a
// box of the controls with the outputs of the last call below. f asks the controls for
// their values. It is ipywidgets' interactive_output.
func Interact(f func(), controls ...Widget) *Box { return standard.Interact(f, controls...) }

// Interact calls f, and again whenever one of the controls has changed, and returns a
// box of the controls with the outputs of the last call below.
func (m *Manager) Interact(f func(), controls ...Widget) *Box {
	if f == nil {
		panic("widget: Interact: the function is nil, expected one to call when a control changes")
	}
	out := NewOutput()
	var calls sync.Mutex // controls change in goroutines of their own
	run := func() {
		calls.Lock()
		defer calls.Unlock()
		out.Clear(true)
		m.Redirect(out, f)
	}
	box := NewVBox(append(append([]Widget{}, controls...), out)...)
	for i, w := range controls {
		if !onChange(w, run) {
			panic(fmt.Sprintf("widget: Interact: control %d is a %T, expected a widget with a value that the reader can change", i, w))
		}
	}
	run()
	return box
}

// onChange has f called when the value of w has changed; ok is false if it has none.
func onChange(w Widget, f func()) (ok bool) {
	switch w := w.(type) {
	case *Bool:
		w.OnChange(func(bool) { f() })
	case *Choice:
		w.OnChange(func(string) { f() })
	case *Float:
		w.OnChange(func(float64) { f() })
	case *Int:
		w.OnChange(func(int) { f() })
	case *String:
		w.OnChange(func(string) { f() })
	default:
		return false
	}
	return true
}

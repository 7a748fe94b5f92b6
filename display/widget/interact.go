package widget

import (
	"fmt"
	"slices"
	"sync"

	"halfnote/display"
)

// Interact calls f, and calls it again whenever one of the controls changes. It returns a box of
// the controls, with the output of the last call below them. f reads the controls itself. It is
// ipywidgets' interactive_output.
func Interact(f func(), controls ...Widget) *Box { return standard.Interact(f, controls...) }

// Interact calls f, and calls it again whenever one of the controls changes. It returns a box of
// the controls, with the output of the last call below them.
func (m *Manager) Interact(f func(), controls ...Widget) *Box {
	if f == nil {
		panic("widget: Interact: the function is nil; want a function to call when a control changes")
	}
	return following("Interact", func(out *Output) {
		out.Clear(true)
		m.Redirect(out, f)
	}, controls)
}

// Show shows the values of f below the controls, and shows them again whenever one of the controls changes. f
// reads the controls itself. Charts follow the reader's light or dark theme. It is ipywidgets' interactive.
func Show(f func() []any, controls ...Widget) *Box {
	if f == nil {
		panic("widget: Show: the function is nil; want a function that returns the values to show")
	}
	return following("Show", func(out *Output) {
		values := f()
		out.Clear(true)
		for _, v := range values {
			if t, ok := v.(display.Themed); ok {
				v = t.InTheme("auto")
			}
			out.Display(display.Of(v))
		}
		out.Flush()
	}, controls)
}

// following returns a box of controls with an output below them, which fill fills at once and whenever
// a control changes. name is the function that the user called.
func following(name string, fill func(*Output), controls []Widget) *Box {
	out := NewOutput()
	var calls sync.Mutex // controls change in their own goroutines
	run := func() {
		calls.Lock()
		defer calls.Unlock()
		fill(out)
	}
	box := NewVBox(append(slices.Clone(controls), out)...)
	for i, w := range controls {
		if !onChange(w, run) {
			panic(fmt.Sprintf("widget: %s: control %d is a %T; want a widget with a value that the reader can change", name, i, w))
		}
	}
	run()
	return box
}

// onChange registers f for changes of w's value; ok is false if w has no value.
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

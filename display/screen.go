package display

import "sync/atomic"

// Screen shows values on whatever output area is the current one, the one of the
// cell that runs. Its methods may be called from any goroutine.
type Screen struct {
	// Before, if set, is called with every value that is about to be shown. It is to
	// be set before the screen is used.
	Before func(v any)

	sink  func() Sink
	theme atomic.Pointer[string]
}

// NewScreen returns a screen that asks sink, at every call, where output goes.
func NewScreen(sink func() Sink) *Screen { return &Screen{sink: sink} }

// standard is the screen of compiled programs. In a notebook the functions that
// use it are replaced by those of Symbols.
var standard = NewScreen(func() Sink { return terminal })

// Symbols maps the name of every package function that shows something to the
// method of s that an interpreter is to call in its place.
func (s *Screen) Symbols() map[string]any {
	return map[string]any{
		"Clear":       s.Clear,
		"Live":        s.Live,
		"NewProgress": s.NewProgress,
		"Show":        s.Show,
	}
}

// Show shows values one below the other, each as [Of] renders it. In a program
// outside a notebook it prints their text.
func Show(values ...any) { standard.Show(values...) }

// Show shows values one below the other, each as [Of] renders it.
func (s *Screen) Show(values ...any) {
	for _, v := range values {
		s.sink().Display(s.Of(v))
	}
}

// Clear removes the outputs of the cell, at once or, with wait, when the next one
// comes, which spares the reader a flicker.
func Clear(wait bool) { standard.Clear(wait) }

// Clear removes the outputs of the cell, at once or, with wait, when the next one
// comes.
func (s *Screen) Clear(wait bool) { s.sink().Clear(wait) }

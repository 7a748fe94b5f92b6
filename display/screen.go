package display

import "sync/atomic"

// Screen shows values in the current output area, that of the running cell. Its methods may be
// called from any goroutine.
type Screen struct {
	// Before, if set, is called with every value before it is shown. It must be set before the
	// screen is used.
	Before func(v any)

	sink  func() Sink
	theme atomic.Pointer[string]
}

// NewScreen returns a screen that calls sink for the output area each time.
func NewScreen(sink func() Sink) *Screen { return &Screen{sink: sink} }

// standard is the screen of compiled programs. In a notebook the functions that use it are
// replaced by those of Symbols.
var standard = NewScreen(func() Sink { return terminal })

// Symbols maps the name of every package function that shows something to the method of s that an
// interpreter calls instead.
func (s *Screen) Symbols() map[string]any {
	return map[string]any{
		"Clear":       s.Clear,
		"Live":        s.Live,
		"NewProgress": s.NewProgress,
		"Show":        s.Show,
		"Track":       s.Track,
	}
}

// Show shows values one below the other, each rendered by [Of]. In a program outside a notebook
// it prints their text.
func Show(values ...any) { standard.Show(values...) }

// Show shows values one below the other, each rendered by [Of].
func (s *Screen) Show(values ...any) {
	for _, v := range values {
		s.sink().Display(s.Of(v))
	}
}

// Clear removes the outputs of the cell: at once, or, if wait is set, when the next output
// arrives, which avoids flicker.
func Clear(wait bool) { standard.Clear(wait) }

// Clear removes the outputs of the cell: at once, or, if wait is set, when the next output
// arrives.
func (s *Screen) Clear(wait bool) { s.sink().Clear(wait) }

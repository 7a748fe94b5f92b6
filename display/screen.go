package display

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Screen shows values in the current output area, that of the running cell. Its methods may be
// called from any goroutine.
type Screen struct {
	// Before, if set, is called with every value before it is shown. It must be set before the
	// screen is used.
	Before func(v any)

	// Present, if set, returns the value to show in place of v, for example a [Bundle] for a value whose
	// type only an interpreter knows. It must be set before the screen is used.
	Present func(v any) any

	sink  func() Sink
	theme atomic.Pointer[string]
	form  atomic.Pointer[string]

	mu     sync.Mutex
	opened []unsettled // oldest first
}

// unsettled is an output whose last state may not be shown yet.
type unsettled interface {
	// settle shows the last state.
	settle()
}

// Settle shows the last state of every output that was changing. An interpreter calls it at the end
// of each cell, also after an error or an interrupt. Outputs that change later are shown as before.
func (s *Screen) Settle() {
	s.mu.Lock()
	list := s.opened
	s.opened = nil
	s.mu.Unlock()
	for _, u := range list {
		u.settle()
	}
}

// open adds an output to those that Settle shows.
func (s *Screen) open(u unsettled) {
	if s == standard { // programs do not call Settle
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, u)
}

// close removes an output from those that Settle shows.
func (s *Screen) close(u unsettled) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = slices.DeleteFunc(s.opened, func(v unsettled) bool { return v == u })
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

package display

import (
	"crypto/rand"
)

// Handle is an output that can be replaced after it was shown, from any cell and any goroutine.
type Handle struct {
	id     string
	sink   Sink
	screen *Screen
}

// Live shows v and returns a handle that can replace it later, for example a loss curve that
// grows while a model trains:
//
//	curve := []chart.Series{{Name: "loss"}}
//	live := display.Live(chart.Loss(curve))
//	for range 400 {
//		curve[0].Values = append(curve[0].Values, step())
//		live.Update(chart.Loss(curve))
//	}
//
// It is IPython.display.display(v, display_id=True).
func Live(v any) *Handle { return standard.Live(v) }

// Live shows v and returns a handle that can replace it later.
func (s *Screen) Live(v any) *Handle {
	h := &Handle{rand.Text(), s.sink(), s}
	h.sink.Display(h.bundle(v))
	return h
}

// Update replaces the displayed value by v. Front ends and servers drop messages that arrive too
// fast; four a second is a good rate.
func (h *Handle) Update(v any) { h.sink.Update(h.bundle(v)) }

func (h *Handle) bundle(v any) Bundle {
	b := h.screen.Of(v)
	b.ID = h.id
	return b
}

// String returns the handle's name.
func (h *Handle) String() string { return "display.Handle " + h.id }

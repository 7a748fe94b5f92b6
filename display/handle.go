package display

import (
	"crypto/rand"
	"sync"
	"time"
)

// Handle is an output that can be replaced after it was shown, from any cell and any goroutine.
type Handle struct {
	id     string
	sink   Sink
	screen *Screen

	mu      sync.Mutex
	state   any           // framed value whose bundle is still to be shown; nil: none
	pending bool          // state has no frame yet
	changed time.Time     // time of the last Update with a framed value
	shown   time.Time     // time of the last frame
	cost    time.Duration // time that the last frame took
	timer   *time.Timer
}

// Framed is a value that takes long to render, such as a chart. A [Handle] shows frames of it while
// it changes, and all of it when it no longer does.
type Framed interface {
	// Frame returns an output that is quick to make and to draw, with one line of text/plain.
	Frame() Bundle
}

// Limits of frames: four a second, and 1 % of the time. A value that has not changed for rest is shown
// in full.
const (
	frame      = 250 * time.Millisecond
	frameShare = .01
	rest       = 3 * time.Second
)

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
// A chart may be updated at any rate. It is drawn at most four times a second, in at most 1 % of the
// time, as a picture; its last state appears in full when the cell ends. It is
// IPython.display.display(v, display_id=True).
func Live(v any) *Handle { return standard.Live(v) }

// Live shows v and returns a handle that can replace it later.
func (s *Screen) Live(v any) *Handle {
	h := &Handle{id: rand.Text(), sink: s.sink(), screen: s}
	v = s.styled(v)
	if f, ok := framed(v); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.changed = time.Now()
		h.draw(f, h.sink.Display)
		h.keep(v)
		return h
	}
	h.sink.Display(h.named(s.Of(v)))
	return h
}

// Update replaces the displayed value by v. Front ends and servers drop messages that arrive too
// fast; four a second is a good rate. A chart may be updated at any rate; see [Live].
func (h *Handle) Update(v any) {
	v = h.screen.styled(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := framed(v)
	if !ok {
		h.drop()
		h.sink.Update(h.named(h.screen.Of(v)))
		return
	}
	h.changed = time.Now()
	if h.changed.Sub(h.shown) >= h.gap() {
		h.draw(f, h.pass)
	} else {
		h.pending = true
	}
	h.keep(v)
}

// framed returns v if it has frames.
func framed(v any) (f Framed, ok bool) {
	if isNil(v) {
		return nil, false
	}
	f, ok = v.(Framed)
	return f, ok
}

// gap returns the shortest time between two frames.
func (h *Handle) gap() time.Duration {
	return max(frame, time.Duration(float64(h.cost)/frameShare))
}

// draw shows a frame. Its caller holds h.mu.
func (h *Handle) draw(f Framed, show func(Bundle)) {
	start := time.Now()
	show(h.named(f.Frame()))
	h.shown, h.pending = time.Now(), false
	h.cost = h.shown.Sub(start)
}

// pass shows a state that another one follows.
func (h *Handle) pass(b Bundle) {
	if p, ok := h.sink.(lineSink); ok {
		p.pass(b)
		return
	}
	h.sink.Update(b)
}

// keep keeps v until it is shown in full. Its caller holds h.mu.
func (h *Handle) keep(v any) {
	if h.state == nil {
		h.screen.open(h)
	}
	h.state = v
	wait := rest
	if h.pending {
		wait = h.gap() - time.Since(h.shown)
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(wait, h.tick)
	} else {
		h.timer.Reset(wait)
	}
}

// tick shows the state that has no frame yet, or in full the state that has not changed for long.
func (h *Handle) tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch f, _ := h.state.(Framed); {
	case f == nil:
	case h.pending:
		h.draw(f, h.pass)
		h.keep(h.state)
	case time.Since(h.changed) >= rest:
		h.finish()
	default:
		h.timer.Reset(rest - time.Since(h.changed))
	}
}

// Settle shows the last state in full at once. In a cell it is not needed: the end of the cell does it.
func (h *Handle) Settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.finish()
}

// settle implements unsettled.
func (h *Handle) settle() { h.Settle() }

// finish shows the state in full. Its caller holds h.mu.
func (h *Handle) finish() {
	if v := h.state; v != nil {
		h.drop()
		h.sink.Update(h.named(h.screen.Of(v)))
		h.end()
	}
}

// drop forgets the state. Its caller holds h.mu.
func (h *Handle) drop() {
	if h.timer != nil {
		h.timer.Stop()
	}
	if h.state != nil {
		h.screen.close(h)
	}
	h.state, h.pending = nil, false
}

// end marks the output as final.
func (h *Handle) end() {
	if p, ok := h.sink.(lineSink); ok {
		p.end(h.id)
	}
}

func (h *Handle) named(b Bundle) Bundle {
	b.ID = h.id
	return b
}

// String returns the handle's name.
func (h *Handle) String() string { return "display.Handle " + h.id }
